// The changes of a work tree as a diff: made when a run is recorded, applied to the commit's files
// in a rerun's workspace.
//
// Role: the two ends of Code::kept_diff_sha256. In a rerun a diff is untrusted: git applies it
// below the workspace alone, without any configuration.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_TREE_DIFF_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_TREE_DIFF_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/execution/rerun/checkout.h"
#include "harness/execution/rerun/git_tree.h"

namespace rharness {

// `git diff --binary HEAD`, followed, on request, by each untracked file that git does not ignore.
// Empty text: no change. Errors: unsupported: it cannot be restored or must not be kept (a changed
// submodule, more than `limit_bytes`, more than 1000 files, an apparent secret: the error names the
// place); process, timeout, io.
Result<std::string> MakeTreeDiff(const GitTree& tree, bool with_untracked,
                                 std::uint64_t limit_bytes);

// The diff of files that the commit does not have, `paths` below the tree's root: as MakeTreeDiff
// has those of untracked files, whether git ignores them or not. Errors: as those of MakeTreeDiff.
Result<std::string> MakeDiffOfNew(const GitTree& tree, const std::vector<std::string>& paths,
                                  std::uint64_t limit_bytes);

// The place of an apparent secret in a diff, "config.py, line 12 of the diff"; empty: none. Scans
// added lines: private keys, tokens of well-known services, passwords in URLs, and quoted values of
// names that denote secrets. Skips binary parts. Pure.
std::string FindSecret(std::string_view diff);

// Applies it to the checkout of a commit in `folder`, whose objects lie at `repository`. `checkout`
// then has the changed files. Errors: integrity (it does not fit the commit, or leaves the folder),
// and those of CheckOutCommit.
Status ApplyTreeDiff(const std::string& diff, const std::filesystem::path& repository,
                     const std::filesystem::path& folder, const Places& places,
                     const CheckoutLimits& limits, Checkout* checkout);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_TREE_DIFF_H_
