// Names in the cache, and the check of new entries.
#include "harness/execution/rerun/data_cache.h"

#include <fmt/format.h>

#include <system_error>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/found_data.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

void MakeReadOnly(const fs::path& path) {
  constexpr fs::perms kWrite =
      fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code ignored;
      if (entry->is_regular_file(ignored)) {
        fs::permissions(entry->path(), kWrite, fs::perm_options::remove, ignored);
      }
    }
    return;
  }
  fs::permissions(path, kWrite, fs::perm_options::remove, error);
}

Status Take(const fs::path& cache, std::string_view sha256, const fs::path& from,
            const Result<TreeDigest>& digest) {
  if (!digest.ok()) return digest.error();
  const fs::path to = PathInCache(cache, sha256);
  if (to.empty() || digest->sha256 != sha256) {
    RETURN_IF_ERROR(RemoveTree(from));
    return IntegrityError(fmt::format("has sha256 {}, expected {}", digest->sha256, sha256),
                          from.string());
  }
  std::error_code error;
  if (fs::exists(to, error)) return RemoveTree(from);
  RETURN_IF_ERROR(MakeDirectories(to.parent_path()));
  MakeReadOnly(from);
  fs::rename(from, to, error);
  if (!error) return {};
  if (fs::exists(to)) return RemoveTree(from);  // somebody else was faster
  return PathError("cannot be moved into the cache", error.value(), to);
}

}  // namespace

fs::path PathInCache(const fs::path& cache, std::string_view sha256) {
  if (!IsSha256Hex(sha256)) return {};
  return cache / "sha256" / sha256.substr(0, 2) / sha256;
}

Status MoveIntoCache(const fs::path& cache, std::string_view sha256, const fs::path& from) {
  return Take(cache, sha256, from, HashTree(from));
}

Status MoveIntoCache(const fs::path& cache, const DataItem& item, const fs::path& from) {
  return Take(cache, item.sha256, from, HashData(from, item));
}

}  // namespace rharness
