// An open file descriptor that closes itself.
#ifndef RHARNESS_HARNESS_BASE_DESCRIPTOR_H_
#define RHARNESS_HARNESS_BASE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

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

  int get() const { return fd_; }  // -1: none
  bool valid() const { return fd_ >= 0; }
  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_DESCRIPTOR_H_
