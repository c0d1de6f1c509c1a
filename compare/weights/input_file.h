// A regular file opened for reading at offsets, whose owner may be somebody else.
//
// Role: the only system calls of this folder. Not here: any knowledge of a format.
#ifndef RHARNESS_COMPARE_WEIGHTS_INPUT_FILE_H_
#define RHARNESS_COMPARE_WEIGHTS_INPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "harness/base/result.h"

namespace rharness {

class InputFile {
 public:
  // Follows symbolic links; never blocks on a pipe. Errors: not_found, io, invalid_input (no
  // regular file), unsupported (a folder).
  static Result<InputFile> Open(const std::filesystem::path& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  // The size when the file was opened.
  std::uint64_t size_bytes() const { return size_bytes_; }
  const std::string& name() const { return name_; }
  // Fills `out` from `offset`. Safe from several threads. Errors: io; integrity when the file ends
  // before, with the byte offset.
  Status ReadAt(std::uint64_t offset, std::span<std::byte> out) const;
  // integrity when size or modification time are not those at opening. A change within the file
  // system's time resolution (4 ms on many kernels) that keeps the size is not seen.
  Status CheckUnchanged() const;

 private:
  InputFile(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  int fd_ = -1;
  std::string name_;
  std::uint64_t size_bytes_ = 0;
  std::int64_t modified_seconds_ = 0;
  std::int64_t modified_nanoseconds_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_INPUT_FILE_H_
