// A few questions to git, each an argument vector.
#include "harness/execution/rerun/git_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "harness/base/borrowed_repository.h"
#include "harness/base/digest.h"
#include "harness/execution/rerun/git_objects.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Whether the environment forbids a search for a repository in `folder` or above it. Source:
// git(1), GIT_CEILING_DIRECTORIES.
bool IsCeiling(const fs::path& folder) {
  const char* set = std::getenv("GIT_CEILING_DIRECTORIES");
  std::string_view rest = set == nullptr ? std::string_view() : set;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    std::error_code error;
    if (fs::path(one).is_absolute() && fs::weakly_canonical(one, error) == folder) return true;
  }
  return false;
}

// The nearest folder, upwards, that is a work tree.
std::optional<fs::path> FindRoot(const fs::path& folder) {
  std::error_code error;
  fs::path root = fs::canonical(folder, error);
  if (error) return std::nullopt;
  for (;; root = root.parent_path()) {
    if (fs::exists(root / ".git", error) && FindGitFolders(root).ok()) return root;
    if (root == root.parent_path() || IsCeiling(root.parent_path())) return std::nullopt;
  }
}

// The paths of an index's submodules: lines "MODE NAME STAGE<tab>PATH<nul>".
std::vector<std::string> SubmodulesIn(std::string_view listing) {
  std::vector<std::string> paths;
  while (!listing.empty()) {
    const std::string_view line = listing.substr(0, listing.find('\0'));
    listing.remove_prefix(std::min(listing.size(), line.size() + 1));
    const std::size_t tab = line.find('\t');
    if (line.starts_with("160000 ") && tab != line.npos) paths.emplace_back(line.substr(tab + 1));
  }
  return paths;
}

// The changes of a work tree against its commit, as text; empty: none. Git would look into
// submodules by running itself there, with their configuration: here each is queried as a
// repository of its own.
Result<std::string> ChangesOf(const BorrowedRepository& git, const fs::path& root, int depth) {
  ASSIGN_OR_RETURN(std::string changes, git.Ask({"status", "--porcelain", "--untracked-files=no",
                                                 "--ignore-submodules=dirty"}));
  if (!changes.empty() &&
      git.Run({"rev-parse", "--verify", "--quiet", "HEAD"}).outcome.Succeeded()) {
    ASSIGN_OR_RETURN(changes, git.Ask({"diff", "--no-color", "--no-ext-diff", "--no-textconv",
                                       "--ignore-submodules=dirty", "HEAD"}));
  }
  ASSIGN_OR_RETURN(const std::string listing, git.Ask({"ls-files", "--stage", "-z"}));
  for (const std::string& path : SubmodulesIn(listing)) {
    std::error_code error;
    if (depth == kDeepestSubmodule || !fs::exists(root / path / ".git", error)) continue;
    ASSIGN_OR_RETURN(const BorrowedRepository part, BorrowedRepository::OfWorkTree(root / path));
    ASSIGN_OR_RETURN(const std::string below, ChangesOf(part, root / path, depth + 1));
    if (!below.empty()) changes += fmt::format("submodule {}\n{}", path, below);
  }
  return changes;
}

}  // namespace

std::optional<GitTree> DescribeGitTree(const fs::path& folder) {
  const std::optional<fs::path> root = FindRoot(folder);
  if (!root) return std::nullopt;
  const auto git = BorrowedRepository::OfWorkTree(*root);
  if (!git.ok() && git.error().code == ErrorCode::kProcess) return std::nullopt;
  GitTree tree{.root = *root, .commit = {}, .diff_sha256 = {}, .complaint = {}};
  if (!git.ok()) {
    tree.complaint = git.error().ToString();
    return tree;
  }
  const ProcessResult head = git->Run({"rev-parse", "--verify", "--quiet", "HEAD"});
  if (head.outcome.Succeeded()) {
    tree.commit = head.stdout_text.substr(0, head.stdout_text.find('\n'));
  }
  const auto changes = ChangesOf(*git, *root, 0);
  if (!changes.ok()) {
    tree.complaint = changes.error().ToString();
    return tree;
  }
  tree.dirty = !changes->empty();
  if (tree.dirty && !tree.commit.empty()) tree.diff_sha256 = Sha256HexOf(*changes);
  return tree;
}

bool IsTracked(const GitTree& tree, const fs::path& path) {
  const auto git = BorrowedRepository::OfWorkTree(tree.root);
  return git.ok() &&
         git->Run({"ls-files", "--error-unmatch", "--", ":(top,literal)" + path.string()})
             .outcome.Succeeded();
}

std::set<std::string> TrackedAmong(const GitTree& tree, const std::vector<std::string>& paths) {
  constexpr std::size_t kMost = 1000;
  std::vector<std::string> arguments = {"ls-files", "-z", "--"};
  for (std::size_t i = 0; i < std::min(paths.size(), kMost); ++i) {
    arguments.push_back(":(top,literal)" + paths[i]);
  }
  std::set<std::string> tracked;
  const auto git = BorrowedRepository::OfWorkTree(tree.root);
  if (!git.ok()) return tracked;
  const ProcessResult listed = git->Run(arguments);
  std::string_view rest = listed.stdout_text;
  while (!rest.empty()) {
    const std::string_view path = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), path.size() + 1));
    tracked.emplace(path);
  }
  return tracked;
}

}  // namespace rharness
