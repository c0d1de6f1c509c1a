// The git work tree that a command is run in: where it is, at which commit, how changed.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_GIT_TREE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_GIT_TREE_H_

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rharness {

struct GitTree {
  std::filesystem::path root;
  std::string commit;       // empty before the first commit
  bool dirty = false;       // tracked files, also of submodules, differ from the commit
  std::string diff_sha256;  // of `git diff HEAD` and, behind it, that of each dirty submodule
  std::string complaint;    // what git could not tell, in one line; empty: nothing
};

// Asks git about `folder`. Empty when it lies in no work tree or there is no git. Nothing of the
// configuration of the repository, the user or the machine counts (borrowed_repository.h), so that
// the files count as they lie there: a file whose time changed and that a filter or line ends make
// another than the one in the commit is a change.
std::optional<GitTree> DescribeGitTree(const std::filesystem::path& folder);

// Whether git knows this file of the tree. `path`: relative to the tree's root.
bool IsTracked(const GitTree& tree, const std::filesystem::path& path);
// Those of these files that git knows, asked at once; of the first thousand.
std::set<std::string> TrackedAmong(const GitTree& tree, const std::vector<std::string>& paths);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_GIT_TREE_H_
