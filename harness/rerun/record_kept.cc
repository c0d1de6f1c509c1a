// Reads what is kept before the command starts; who writes the manifest writes it.
#include "harness/rerun/record_kept.h"

#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/manifest/lock_files.h"
#include "harness/rerun/tree_diff.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

void KeepDiff(const RecordRequest& request, const GitTree& tree, Recording* out) {
  if (request.kept.empty() || !request.keep_diff || tree.commit.empty()) return;
  if (!tree.dirty && !request.keep_untracked) return;
  auto diff = MakeTreeDiff(tree, request.keep_untracked, kKeptFileBytes);
  if (!diff.ok()) {
    out->remarks.push_back("the changes of the work tree are not kept: " + diff.error().ToString());
    return;
  }
  if (diff->empty()) return;
  out->code.dirty = true;
  out->code.kept_diff_sha256 = Sha256HexOf(*diff);
  if (out->code.diff_sha256.empty()) out->code.diff_sha256 = out->code.kept_diff_sha256;
  out->to_keep[out->code.kept_diff_sha256] = std::move(*diff);
}

void KeepLockFiles(const RecordRequest& request, const fs::path& base, Recording* out) {
  out->lock_files = FindLockFiles(base, out->working_directory);
  if (request.kept.empty()) return;
  for (const auto& [path, sha256] : out->lock_files) {
    auto content = ReadFile(base / path, kKeptFileBytes);
    if (content.ok() && Sha256HexOf(*content) == sha256) out->to_keep[sha256] = std::move(*content);
  }
}

}  // namespace

void KeepSources(const RecordRequest& request, const std::optional<GitTree>& tree,
                 const fs::path& base, Recording* out) {
  if (tree) KeepDiff(request, *tree, out);
  KeepLockFiles(request, base, out);
}

}  // namespace rharness
