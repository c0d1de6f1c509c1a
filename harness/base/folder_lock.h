// An advisory lock on a folder: one process works in it at a time.
#ifndef RHARNESS_HARNESS_BASE_FOLDER_LOCK_H_
#define RHARNESS_HARNESS_BASE_FOLDER_LOCK_H_

#include <filesystem>

#include "harness/base/result.h"

namespace rharness {

// Held while the object lives, released by the kernel when the process dies however it dies.
// Source: flock(2).
class FolderLock {
 public:
  // Creates the folder if it is missing. Errors: invalid_input when another process holds the lock
  // (not waited for), io.
  static Result<FolderLock> Take(const std::filesystem::path& folder);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_FOLDER_LOCK_H_
