// Finding folders that nobody holds.
#include "harness/base/temp_leftovers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/folder_lock.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Between its making and its lock a folder is held by nobody.
constexpr std::time_t kYoungSeconds = 60;

bool IsFirstCall(std::string_view prefix) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> seen;
  const std::scoped_lock lock(mutex);
  return seen.emplace(prefix).second;
}

bool IsOldAndOurs(const fs::path& lock) {
  struct stat info {};
  return ::lstat(lock.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
         info.st_mtime + kYoungSeconds < std::time(nullptr);
}

}  // namespace

void RemoveLeftovers(std::string_view prefix) {
  if (!IsFirstCall(prefix)) return;
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code ignored;
    if (!path.filename().string().starts_with(prefix)) continue;
    if (!fs::is_directory(entry->symlink_status(ignored))) continue;
    if (IsOldAndOurs(path / "lock") && FolderLock::Take(path).ok()) (void)RemoveTree(path);
  }
}

}  // namespace rharness
