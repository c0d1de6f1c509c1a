// An advisory lock on a folder: one process works in it at a time.
#ifndef RHARNESS_HARNESS_BASE_FOLDER_LOCK_H_
#define RHARNESS_HARNESS_BASE_FOLDER_LOCK_H_

#include <chrono>
#include <filesystem>

#include "harness/base/result.h"

namespace rharness {

// Checks that only this process's user could write here, then and now: the file or folder is no
// symbolic link, is owned by the effective user, and is not writable by group or others. Errors:
// invalid_input, which names the path and its fault; not_found, io.
Status RequireOwn(const std::filesystem::path& path);

// Checks that nobody else can replace this folder: no folder above it lets everybody rename its
// entries (writable by others, and not sticky). The path need not exist. Errors: invalid_input,
// which names the folder above; io.
Status RequireOwnPlace(const std::filesystem::path& path);

// Held while the object lives; the kernel releases it when the process ends in any way.
// Source: flock(2).
class FolderLock {
 public:
  // Creates the folder if it is missing. Errors: invalid_input when another process holds the lock
  // (does not wait), io.
  static Result<FolderLock> Take(const std::filesystem::path& folder);
  // Take for a folder with trusted content: creates a missing one for its owner alone (0700); the
  // folder and the lock must pass RequireOwn, and a folder that is not empty RequireOwnPlace; for
  // an empty one that is a warning.
  static Result<FolderLock> TakeOwn(const std::filesystem::path& folder);
  // Locks the folder itself, for processes that change a file in it together, also as other users:
  // leaves no file in it, and the second one waits. Creates the folder if it is missing. If the
  // file system locks no folders (NFS), the lock is Take's. Errors: invalid_input when another
  // process still holds it after `most`; io.
  static Result<FolderLock> Await(const std::filesystem::path& folder,
                                  std::chrono::milliseconds most = std::chrono::minutes(1));
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_FOLDER_LOCK_H_
