// Five questions to git, each an argument vector.
#include "harness/drill/git_tree.h"

#include <algorithm>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

constexpr std::uint64_t kDiffLimitBytes = std::uint64_t{256} << 20;

ProcessResult Git(const std::filesystem::path& folder, const std::vector<std::string>& arguments) {
  ProcessSpec spec;
  spec.argv = {
      "git", "-C", folder.string(), "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.environment = PickEnvironment({"PATH", "HOME", "TMPDIR"});
  spec.environment["GIT_OPTIONAL_LOCKS"] = "0";
  spec.environment["GIT_TERMINAL_PROMPT"] = "0";
  spec.environment["LC_ALL"] = "C.UTF-8";
  ProcessLimits limits;
  limits.timeout = std::chrono::minutes(5);
  limits.output_bytes = kDiffLimitBytes;
  return RunProcess(spec, limits);
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

void DescribeChanges(GitTree* tree) {
  const ProcessResult status = Git(
      tree->root, {"status", "--porcelain", "--untracked-files=no", "--ignore-submodules=none"});
  if (!status.outcome.Succeeded()) {
    tree->complaint = "git status: " + FirstLine(status.stderr_text);
    return;
  }
  tree->dirty = !status.stdout_text.empty();
  if (!tree->dirty || tree->commit.empty()) return;
  const ProcessResult diff =
      Git(tree->root, {"diff", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD"});
  if (!diff.outcome.Succeeded()) {
    tree->complaint = "git diff: " + FirstLine(diff.stderr_text);
  } else if (diff.stdout_bytes != diff.stdout_text.size()) {
    tree->complaint = "git diff: the changes are too large to be hashed";
  } else {
    tree->diff_sha256 = Sha256HexOf(diff.stdout_text);
  }
}

}  // namespace

std::optional<GitTree> DescribeGitTree(const std::filesystem::path& folder) {
  const ProcessResult top = Git(folder, {"rev-parse", "--show-toplevel"});
  if (!top.outcome.Succeeded() || top.stdout_text.empty()) return std::nullopt;
  GitTree tree;
  tree.root = FirstLine(top.stdout_text);
  const ProcessResult head = Git(folder, {"rev-parse", "--verify", "--quiet", "HEAD"});
  if (head.outcome.Succeeded()) tree.commit = FirstLine(head.stdout_text);
  DescribeChanges(&tree);
  return tree;
}

bool IsTracked(const GitTree& tree, const std::filesystem::path& path) {
  return Git(tree.root, {"ls-files", "--error-unmatch", "--", ":(top,literal)" + path.string()})
      .outcome.Succeeded();
}

}  // namespace rharness
