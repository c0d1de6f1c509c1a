// The git work tree that a command is run in: where it is, at which commit, how changed.
#ifndef RHARNESS_HARNESS_DRILL_GIT_TREE_H_
#define RHARNESS_HARNESS_DRILL_GIT_TREE_H_

#include <filesystem>
#include <optional>
#include <string>

namespace rharness {

struct GitTree {
  std::filesystem::path root;
  std::string commit;       // empty before the first commit
  bool dirty = false;       // tracked files differ from the commit
  std::string diff_sha256;  // of `git diff HEAD`, of a dirty tree
  std::string complaint;    // what git could not tell, in one line; empty: nothing
};

// Asks git about `folder`. Empty when it lies in no work tree or there is no git. Runs git without
// hooks, external diff programs, locks and prompts.
std::optional<GitTree> DescribeGitTree(const std::filesystem::path& folder);

// Whether git knows this file of the tree. `path`: relative to the tree's root.
bool IsTracked(const GitTree& tree, const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_GIT_TREE_H_
