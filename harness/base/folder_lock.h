// An advisory lock on a folder: one process works in it at a time.
#ifndef RHARNESS_HARNESS_BASE_FOLDER_LOCK_H_
#define RHARNESS_HARNESS_BASE_FOLDER_LOCK_H_

#include <chrono>
#include <filesystem>

#include "harness/base/result.h"

namespace rharness {

// Only this process's user can have written here, and can write: the file or folder is no symbolic
// link, is owned by the effective user, and is not writable by group or others. Errors:
// invalid_input, which names the path and what is wrong with it; not_found, io.
Status RequireOwn(const std::filesystem::path& path);

// Nobody else can put another folder in the place of this one: no folder above it, as far as others
// can get there, lets everybody rename what lies in it (writable by others, and not sticky). The
// path need not be there yet.
// Errors: invalid_input, which names the folder above; io.
Status RequireOwnPlace(const std::filesystem::path& path);

// Held while the object lives, released by the kernel when the process dies however it dies.
// Source: flock(2).
class FolderLock {
 public:
  // Creates the folder if it is missing. Errors: invalid_input when another process holds the lock
  // (not waited for), io.
  static Result<FolderLock> Take(const std::filesystem::path& folder);
  // Take for a folder whose content is believed: one that is missing is made for its owner alone
  // (0700); the folder and the lock must pass RequireOwn, and the folder, where it holds anything,
  // RequireOwnPlace; of an empty one that is a warning.
  static Result<FolderLock> TakeOwn(const std::filesystem::path& folder);
  // Of the folder itself, for those who change a file in it together, also as other users: no file
  // is left in it, and who comes second waits. Creates the folder if it is missing. Where the file
  // system locks no folders (NFS), the lock is Take's. Errors: invalid_input when another process
  // still holds it after `most`; io.
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
