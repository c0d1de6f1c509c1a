// flock on a file named "lock" in the folder.
#include "harness/base/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "harness/base/files.h"

namespace rharness {

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

FolderLock::FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace rharness
