// Content-addressed files with the mode of a private note.
#include "harness/execution/rerun/kept_files.h"

#include <fmt/format.h>

#include <system_error>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/data_cache.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

}  // namespace

Status WriteKept(const fs::path& folder, const KeptFiles& files) {
  for (const auto& [sha256, content] : files) {
    const fs::path path = PathInCache(folder, sha256);
    std::error_code error;
    if (path.empty()) return InternalError("a kept file has no SHA-256");
    const auto there = HashFile(path);
    if (there.ok() && there->sha256 == sha256) continue;
    RETURN_IF_ERROR(WriteFileAtomic(path, content));
    fs::permissions(path, fs::perms::owner_read, error);
    if (error) return PathError("cannot be made private", error.value(), path);
  }
  return {};
}

Result<fs::path> LocateKept(const Manifest& manifest, const std::string& sha256,
                            const Places& places) {
  const fs::path name = PathInCache({}, sha256);
  if (manifest.kept.empty() || name.empty()) {
    return NotFound("the record keeps nothing beside it", "run " + manifest.run_id);
  }
  return Locate(places, (fs::path(manifest.kept) / name).string());
}

Result<std::string> ReadKept(const Manifest& manifest, const std::string& sha256,
                             const Places& places) {
  ASSIGN_OR_RETURN(const fs::path path, LocateKept(manifest, sha256, places));
  ASSIGN_OR_RETURN(std::string content, ReadFile(path, kKeptFileBytes));
  const std::string found = Sha256HexOf(content);
  if (found == sha256) return content;
  return IntegrityError(fmt::format("has sha256 {}, expected that of its name", found),
                        path.string());
}

}  // namespace rharness
