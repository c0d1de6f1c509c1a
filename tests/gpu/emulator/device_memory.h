// The memory of the emulated device: allocations with bounds, and which of their bytes were ever
// written.
//
// Role: below launches and the driver. An address is a number of the device, never one of the host,
// and none is used twice, so that what was freed is out of bounds for good.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_DEVICE_MEMORY_H_
#define RHARNESS_TESTS_GPU_EMULATOR_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>

#include "tests/gpu/emulator/memory_touch.h"

namespace rharness {

// Where generic addresses of a thread's and a block's own memory begin, and where allocations do:
// beyond 32 bits, so that an address cut to 32 is out of bounds.
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 41;
inline constexpr std::uint64_t kGlobalWindow = std::uint64_t{1} << 42;

// Bytes and, beside each, whether it was written; null when out of bounds.
struct MemoryView {
  std::byte* data = nullptr;
  unsigned char* written = nullptr;
};

class DeviceMemory {
 public:
  explicit DeviceMemory(std::uint64_t total_bytes) : total_(total_bytes) {}

  // 0 when there is no room; aligned to 256 bytes as cuMemAlloc promises, with a gap behind.
  std::uint64_t Allocate(std::uint64_t bytes);
  bool Free(std::uint64_t address);  // false if nothing begins there
  // The bytes, all in one allocation.
  MemoryView Find(std::uint64_t address, std::uint64_t bytes);
  // Who touched bytes that Find has found.
  std::span<Touched> TouchesOf(std::uint64_t address, std::uint64_t bytes) {
    return last_->touched.Of(address - last_->begin, bytes);
  }
  std::uint32_t NextLaunch() { return ++launches_; }  // its number, from 1

  // Memory of the host's as an allocation at its own address, all of it written. It must outlive
  // this object, and lie beyond kGlobalWindow.
  void Adopt(std::byte* data, std::uint64_t bytes);

  std::uint64_t total() const { return total_; }
  std::uint64_t used() const { return used_; }

 private:
  struct Release {
    void operator()(void* pointer) const { std::free(pointer); }
  };
  struct Allocation {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::byte* data = nullptr;
    std::unique_ptr<std::byte, Release> own;
    std::unique_ptr<unsigned char, Release> written;
    TouchedMemory touched;
  };
  std::map<std::uint64_t, Allocation> allocations_;
  Allocation* last_ = nullptr;  // accesses come in rows
  std::uint64_t next_ = kGlobalWindow;
  std::uint64_t total_ = 0, used_ = 0;
  std::uint32_t launches_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_DEVICE_MEMORY_H_
