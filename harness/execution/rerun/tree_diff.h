// The changes of a work tree as a diff that brings them back: made when a run is recorded, applied
// to the commit's files in a rerun's workspace.
//
// Role: the two ends of Code::kept_diff_sha256. What a diff says is a stranger's in a rerun: git
// applies it below the workspace alone, with nothing of anybody's configuration.
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

// Of `git diff --binary HEAD`, and behind it, where asked for, of each file that git does not know
// and does not ignore. Empty text: nothing is changed. Errors: unsupported: it cannot be brought
// back or is not to be kept (a submodule is changed, more than `limit_bytes`, more than 1000 files,
// what looks like a secret: the error names the place); process, timeout, io.
Result<std::string> MakeTreeDiff(const GitTree& tree, bool with_untracked,
                                 std::uint64_t limit_bytes);

// Where a diff seems to hold a secret, "config.py, line 12 of the diff"; empty: nowhere. Looks at
// lines that are added: private keys, tokens of well-known services, passwords in URLs, and quoted
// values of names that speak of a secret. Binary parts are not looked into. Pure.
std::string FindSecret(std::string_view diff);

// Applies it to the checkout of a commit in `folder`, whose objects lie at `repository`. The files
// of `checkout` are then those with the changes. Errors: integrity (it does not fit the commit, or
// leads out of the folder), and those of CheckOutCommit.
Status ApplyTreeDiff(const std::string& diff, const std::filesystem::path& repository,
                     const std::filesystem::path& folder, const Places& places,
                     const CheckoutLimits& limits, Checkout* checkout);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_TREE_DIFF_H_
