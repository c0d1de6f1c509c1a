// Remembered content hashes; see workspace.h.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "harness/base/digest.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/workspace.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kRacySeconds = 2;

}  // namespace

std::string FileIdentity(const fs::path& path, const struct stat& info) {
  return fmt::format("{}|{}|{}|{}|{}.{}|{}.{}", path.string(), info.st_dev, info.st_ino,
                     info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec,
                     info.st_ctim.tv_nsec);
}

Result<ContentCache::Content> ContentCache::Hash(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return NotFound("no such file or folder", path.string());
    return PathError("cannot stat", errno, path);
  }
  const std::string identity = FileIdentity(path, info);
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = known_.find(identity); found != known_.end()) return found->second;
  }
  const auto now = std::chrono::system_clock::to_time_t(SystemClock().Now());
  ASSIGN_OR_RETURN(TreeDigest digest, HashTree(path));
  Content content{digest.sha256, digest.size_bytes, std::move(digest.empty_folders)};
  struct stat after {};
  const bool unchanged = ::stat(path.c_str(), &after) == 0 && FileIdentity(path, after) == identity;
  if (S_ISREG(info.st_mode) && unchanged && info.st_ctim.tv_sec + kRacySeconds < now) {
    const std::scoped_lock lock(mutex_);
    known_[identity] = content;
  }
  return content;
}

}  // namespace rharness
