// A folder held open by a descriptor, and its content reached without any link.
//
// Role: all files of untrusted programs are opened through here: no part of a name below the folder
// may be a symbolic link or "..", and the folder stays the same whatever becomes of its name. Not
// here: who may write to a folder (folder_lock.h).
#ifndef RHARNESS_HARNESS_BASE_HELD_FOLDER_H_
#define RHARNESS_HARNESS_BASE_HELD_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "harness/base/descriptor.h"
#include "harness/base/digest.h"
#include "harness/base/result.h"

namespace rharness {

// How a name is resolved below a folder: by the kernel (openat2 with RESOLVE_BENEATH and
// RESOLVE_NO_SYMLINKS; Linux 5.6), or part by part with O_NOFOLLOW if that call is not available.
// Both refuse the same names.
enum class ResolveBy { kKernel, kParts };

// open(2) of root_fd/relative under these rules; "" and "." are the folder itself. -1 with errno
// set: ELOOP for a link, EXDEV for a name that leaves the folder, else as open(2).
int OpenBelow(int root_fd, const std::filesystem::path& relative, int flags,
              ResolveBy by = ResolveBy::kKernel);

// Movable. All errors name the path: not_found, io, invalid_input (no regular file, a folder where
// a file is expected or the other way round), integrity (a symbolic link, or a name that leaves the
// folder).
class HeldFolder {
 public:
  // Follows links in `path` itself: it is the caller's own.
  static Result<HeldFolder> Open(const std::filesystem::path& path);

  // The path at which it was opened.
  const std::filesystem::path& path() const { return path_; }
  int fd() const { return descriptor_.get(); }
  // This folder, for calls that take paths, whatever its current name: "/proc/self/fd/N".
  std::filesystem::path through() const;
  // Whether its path still names this folder, without a link as last part.
  bool IsInPlace() const;

  Result<HeldFolder> OpenFolder(const std::filesystem::path& relative) const;
  Result<OpenedFile> OpenFile(const std::filesystem::path& relative) const;
  // As ReadFile, HashFile and HashTree for files of these names.
  Result<std::string> ReadFile(const std::filesystem::path& relative,
                               std::uint64_t limit_bytes = std::uint64_t{1} << 30) const;
  Result<FileDigest> HashFile(const std::filesystem::path& relative) const;
  Result<TreeDigest> HashTree(const std::filesystem::path& relative) const;
  // As WriteFileAtomic; the file's folder exists.
  Status WriteFile(const std::filesystem::path& relative, std::string_view content) const;

 private:
  HeldFolder(Descriptor descriptor, std::filesystem::path path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}
  Error OpenError(const std::filesystem::path& relative, int error_number) const;

  Descriptor descriptor_;
  std::filesystem::path path_;
};

// Removes root/relative: a file, a link (itself) or a tree; missing is fine. No part of `relative`
// but the last may be a link. Errors: integrity, io.
Status RemoveTreeBelow(const std::filesystem::path& root, const std::filesystem::path& relative);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_HELD_FOLDER_H_
