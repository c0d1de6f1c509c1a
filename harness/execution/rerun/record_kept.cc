// Sources are read before the command starts, and written by the manifest's writer; artifacts are
// copied after its end.
#include "harness/execution/rerun/record_kept.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/execution/rerun/tree_diff.h"
#include "harness/records/manifest/lock_files.h"

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

Status KeepCopy(const fs::path& file, const fs::path& home, const std::string& sha256) {
  RETURN_IF_ERROR(MakeDirectories(home.parent_path()));
  std::error_code error;
  fs::copy_file(file, home, fs::copy_options::skip_existing, error);  // of two artifacts, perhaps
  if (error) return IoError("cannot keep a copy: " + error.message(), home.string());
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(home));
  if (digest.sha256 == sha256) return {};
  return IoError("the copy differs from the file that was hashed", home.string());
}

Status KeepArtifact(const RecordRequest& request, const fs::path& folder, Artifact* artifact) {
  std::error_code error;
  const fs::path place = fs::absolute(request.keep / request.run_id, error);
  const fs::path path = artifact->path;
  const fs::path home = place / path.relative_path();
  RETURN_IF_ERROR(KeepCopy(folder / path, home, artifact->sha256));
  for (const ArtifactPart& part : artifact->parts) {
    RETURN_IF_ERROR(KeepCopy(folder / path.parent_path() / part.path,
                             home.parent_path() / part.path, part.sha256));
  }
  artifact->location = PlaceOf(fs::weakly_canonical(home, error), request.root);
  return {};
}

}  // namespace

std::string PlaceOf(const fs::path& path, const fs::path& root) {
  const fs::path normal = path.lexically_normal();
  if (root.empty()) return normal.string();
  std::error_code error;
  const fs::path real_root = fs::canonical(root, error);
  const fs::path below = normal.lexically_relative(real_root);
  if (error || below.empty() || *below.begin() == "..") return normal.string();
  return below.string();
}

void KeepSources(const RecordRequest& request, const std::optional<GitTree>& tree,
                 const fs::path& base, Recording* out) {
  if (tree) KeepDiff(request, *tree, out);
  KeepLockFiles(request, base, out);
}

Status KeepNewSources(const RecordRequest& request, const fs::path& folder,
                      const std::vector<std::string>& paths, Recording* out) {
  const bool has_changes = out->code.dirty;
  const auto kept = out->to_keep.find(out->code.kept_diff_sha256);
  if (request.kept.empty() || !request.keep_diff || (has_changes && kept == out->to_keep.end())) {
    return Unsupported("the changes of the work tree are not kept");
  }
  const std::optional<GitTree> tree = DescribeGitTree(folder);
  if (!tree) return NotFound("no work tree", folder.string());
  std::string diff = has_changes ? kept->second : "";
  std::vector<std::string> missing;  // --untracked may have taken some
  std::ranges::copy_if(paths, std::back_inserter(missing), [&](const std::string& path) {
    return diff.find("\n+++ b/" + path + "\n") == diff.npos;
  });
  ASSIGN_OR_RETURN(const std::string more, MakeDiffOfNew(*tree, missing, kKeptFileBytes));
  diff += more;
  if (has_changes) out->to_keep.erase(kept);
  out->code.dirty = true;
  out->code.diff_sha256 = out->code.kept_diff_sha256 = Sha256HexOf(diff);
  out->to_keep[out->code.kept_diff_sha256] = std::move(diff);
  out->kept = PlaceOf(request.kept, request.root);
  return {};
}

void KeepArtifacts(const RecordRequest& request, const fs::path& folder, Recording* out) {
  if (request.keep.empty()) return;
  for (Artifact& artifact : out->artifacts) {
    if (artifact.role == kItemsRole) continue;  // kept beside the manifest
    const Status kept = KeepArtifact(request, folder, &artifact);
    if (kept.ok()) continue;
    out->missing_outputs.push_back(
        fmt::format("output '{}' was not kept: {}", artifact.path, kept.error().ToString()));
  }
}

}  // namespace rharness
