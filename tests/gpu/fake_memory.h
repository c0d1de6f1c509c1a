// Where the memory of the devices of fake_gpus.cc lies, so that a device's number can be read off
// an address.
#ifndef RHARNESS_TESTS_GPU_FAKE_MEMORY_H_
#define RHARNESS_TESTS_GPU_FAKE_MEMORY_H_

#include <cstdint>

namespace rharness {

// Device d's is from kFakeMemory + d * 2^36. The address and the thread sanitizer keep most
// addresses to themselves; from here to the libraries at the top both leave them to the program:
// https://github.com/llvm/llvm-project/blob/main/compiler-rt/lib/tsan/rtl/tsan_platform.h
inline constexpr std::uint64_t kFakeMemory = 0x7e80'0000'0000;
inline constexpr int kFakeMemoryBits = 36;

// Below 0 or of no device for an address of elsewhere.
inline std::int64_t FakeDeviceOf(std::uint64_t address) {
  return (static_cast<std::int64_t>(address) - static_cast<std::int64_t>(kFakeMemory)) >>
         kFakeMemoryBits;
}

inline std::uint64_t FakeMemoryOf(std::uint64_t device) {
  return kFakeMemory + (device << kFakeMemoryBits);
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_FAKE_MEMORY_H_
