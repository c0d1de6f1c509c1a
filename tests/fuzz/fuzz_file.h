// A fuzzer's input as a file, and what every checkpoint that opens must fulfil.
//
// Role: shared by the targets that read whole files. The file lies in memory.
#ifndef RHARNESS_TESTS_FUZZ_FUZZ_FILE_H_
#define RHARNESS_TESTS_FUZZ_FUZZ_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "harness/base/result.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {

// Path of a file with this content, until the next call.
inline std::string FuzzFile(std::string_view content) {
  static const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  Require(fd >= 0 && ::ftruncate(fd, 0) == 0);
  Require(::pwrite(fd, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
  return "/proc/self/fd/" + std::to_string(fd);
}

// An error says what is wrong and where.
inline void CheckError(const Error& error, const std::string& path) {
  Require(error.where.starts_with(path) && !error.message.empty());
}

// Names are sorted and unique, sizes fit dtype and shape, and reading in two ways gives the same.
inline void CheckCheckpoint(const Checkpoint& checkpoint, const std::string& path) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 16;
  const std::vector<TensorInfo>& tensors = checkpoint.tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorInfo& info = tensors[i];
    Require(i == 0 || tensors[i - 1].name < info.name);
    Require(info.size_bytes == info.elements * static_cast<std::uint64_t>(BitsOf(info.dtype)) / 8);
    if (i >= 8) continue;
    std::vector<std::byte> whole(std::min(info.size_bytes, kMostBytes));
    const Status status = checkpoint.Read(i, 0, whole);
    if (!status.ok()) {
      CheckError(status.error(), path);
      continue;
    }
    std::vector<std::byte> half(whole.size() - whole.size() / 2);
    Require(checkpoint.Read(i, whole.size() / 2, half).ok());
    Require(std::ranges::equal(half, std::span(whole).subspan(whole.size() / 2)));
  }
}

inline void OpenAndCheck(std::string_view content) {
  const std::string path = FuzzFile(content);
  const auto checkpoint = OpenCheckpoint(path);
  if (checkpoint.ok()) {
    CheckCheckpoint(**checkpoint, path);
  } else {
    CheckError(checkpoint.error(), path);
  }
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_FUZZ_FUZZ_FILE_H_
