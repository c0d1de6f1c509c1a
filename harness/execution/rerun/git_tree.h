// The git work tree around a command: its place, its commit, its changes.
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
  std::string diff_sha256;  // of `git diff HEAD`, followed by that of each dirty submodule
  std::string complaint;    // git's failure, in one line; empty: none
};

// Queries git about `folder`. Empty when it lies in no work tree or there is no git. Ignores the
// configuration of the repository, the user and the machine (borrowed_repository.h), so that raw
// file contents count: a file with a changed time that filters or line ends make differ from the
// commit is a change.
std::optional<GitTree> DescribeGitTree(const std::filesystem::path& folder);

// Whether git tracks this file of the tree. `path`: relative to the tree's root.
bool IsTracked(const GitTree& tree, const std::filesystem::path& path);
// The tracked ones of these files, by one query; of the first thousand.
std::set<std::string> TrackedAmong(const GitTree& tree, const std::vector<std::string>& paths);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_GIT_TREE_H_
