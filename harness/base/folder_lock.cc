// flock on a file named "lock" in the folder.
#include "harness/base/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/log.h"

namespace rharness {

Status RequireOwn(const std::filesystem::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return NotFound("no such file or folder", path.string());
    return IoErrorFromErrno("cannot stat", errno, path.string());
  }
  if (S_ISLNK(info.st_mode)) {
    return InvalidInput("is a symbolic link; expected a file or folder of your own", path.string());
  }
  if (info.st_uid != ::geteuid()) {
    return InvalidInput(fmt::format("belongs to user {}; expected one of your own (user {}), "
                                    "because its content is trusted",
                                    info.st_uid, ::geteuid()),
                        path.string());
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return InvalidInput(
        fmt::format("can be written to by others (mode {:04o}); expected one that only you can "
                    "write to (chmod go-w), because its content is trusted",
                    info.st_mode & 07777U),
        path.string());
  }
  return {};
}

Status RequireOwnPlace(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path real =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  if (error) return IoErrorFromErrno("cannot resolve", error.value(), path.string());
  std::filesystem::path open;
  for (std::filesystem::path above = real; above.has_relative_path();) {
    above = above.parent_path();
    struct stat info {};
    if (::stat(above.c_str(), &info) != 0) {
      if (errno == ENOENT) continue;
      return IoErrorFromErrno("cannot stat", errno, above.string());
    }
    const bool enter = (info.st_mode & S_IXOTH) != 0;
    // A folder closed to others hides everything below it.
    if (!enter) open.clear();
    if (enter && (info.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH) open = above;
  }
  if (open.empty()) return {};
  return InvalidInput(
      fmt::format("everybody can rename its files; expected a folder that only you can write to "
                  "(chmod o-w) above {}, because the content of that one is trusted",
                  path.string()),
      open.string());
}

Result<FolderLock> FolderLock::Take(const std::filesystem::path& folder) {
  RETURN_IF_ERROR(MakeDirectories(folder));
  const std::filesystem::path path = folder / "lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return IoErrorFromErrno("cannot open", errno, path.string());
  FolderLock lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return IoErrorFromErrno("cannot lock", errno, path.string());
    return InvalidInput("another process is working in this folder", folder.string());
  }
  return lock;
}

Result<FolderLock> FolderLock::TakeOwn(const std::filesystem::path& folder) {
  // Nothing is believed of a folder that is made now, and many machines have no other user.
  std::error_code error;
  const bool holds_something =
      std::filesystem::exists(folder, error) && !std::filesystem::is_empty(folder, error);
  const Status place = RequireOwnPlace(folder);
  if (!place.ok() && (holds_something || place.error().code != ErrorCode::kInvalidInput)) {
    return place.error();
  }
  if (!place.ok()) LogWarning(place.error().ToString());
  if (folder.has_parent_path()) RETURN_IF_ERROR(MakeDirectories(folder.parent_path()));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return IoErrorFromErrno("cannot create folder", errno, folder.string());
  }
  RETURN_IF_ERROR(RequireOwn(folder));
  ASSIGN_OR_RETURN(FolderLock lock, Take(folder));
  RETURN_IF_ERROR(RequireOwn(folder / "lock"));
  return lock;
}

namespace {

// Until it is held, or `until`. A signature may hold the lock for a while.
int LockUntil(int fd, std::chrono::steady_clock::time_point until) {
  constexpr std::chrono::milliseconds kPause(5);
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return errno;
    if (std::chrono::steady_clock::now() >= until) return EWOULDBLOCK;
    std::this_thread::sleep_for(kPause);
  }
  return 0;
}

}  // namespace

Result<FolderLock> FolderLock::Await(const std::filesystem::path& folder,
                                     std::chrono::milliseconds most) {
  const auto until = std::chrono::steady_clock::now() + most;
  const std::filesystem::path place = folder.empty() ? std::filesystem::path(".") : folder;
  RETURN_IF_ERROR(MakeDirectories(place));
  const int fd = ::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return IoErrorFromErrno("cannot open", errno, place.string());
  FolderLock lock(fd);
  int failed = LockUntil(fd, until);
  if (failed == EBADF || failed == EOPNOTSUPP || failed == EINVAL) {
    const std::filesystem::path path = place / "lock";
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (file < 0) return IoErrorFromErrno("cannot open", errno, path.string());
    lock = FolderLock(file);
    failed = LockUntil(file, until);
  }
  if (failed == 0) return lock;
  if (failed != EWOULDBLOCK) return IoErrorFromErrno("cannot lock", failed, place.string());
  return InvalidInput("another process is working in this folder", place.string());
}

FolderLock::FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace rharness
