// A file descriptor that closes itself, and the one way to open a file for reading.
#ifndef RHARNESS_HARNESS_BASE_DESCRIPTOR_H_
#define RHARNESS_HARNESS_BASE_DESCRIPTOR_H_

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <utility>

#include "harness/base/result.h"

namespace rharness {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }
  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct OpenedFile {
  Descriptor descriptor;
  std::uint64_t size_bytes = 0;  // of the file system; 0 for generated files such as /proc
};

// Opens a regular file and never blocks on it: a FIFO, socket, device or folder is refused
// (invalid_input). With `follow_links` false a symbolic link as last component is refused too.
// Errors: those of PathError.
Result<OpenedFile> OpenRegularFile(const std::filesystem::path& path, bool follow_links = true);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_DESCRIPTOR_H_
