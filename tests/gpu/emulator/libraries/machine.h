// The emulated machine as the libraries beside its driver see it: devices, their memory, streams,
// and the one table of calls that are counted and failed.
//
// Role: between libcuda.so.1 of this folder, which has the machine, and cuBLAS, cuBLASLt, cuDNN,
// NCCL and NVML. Not here: what they compute.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_MACHINE_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_MACHINE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/gpu/emulator/device_memory.h"

namespace rharness {

// A call of the driver's API, before and after it, for CUPTI.
struct DriverCall {
  std::uint32_t id = 0;  // CUPTI's
  bool is_over = false;
  const char* function = nullptr;
  const void* parameters = nullptr;
  const int* result = nullptr;  // of a call that is over
  const char* symbol = nullptr;
};

class EmulatedMachine {
 public:
  virtual ~EmulatedMachine() = default;

  enum class Entry { kReady, kInjected, kDeadDevice };
  // Counts the call. kDeadDevice: an error of the device stays, and only what needs none works.
  virtual Entry EnterLibrary(std::string_view call) = 0;

  // The bytes, all in one allocation; null otherwise.
  virtual MemoryView Find(std::uint64_t address, std::uint64_t bytes) = 0;
  virtual int DeviceOfMemory(std::uint64_t address) = 0;  // -1: no live allocation
  virtual int DeviceOfStream(const void* stream) = 0;     // -1: no stream, or no context
  virtual int CurrentDevice() = 0;                        // -1: this thread has no context
  virtual int devices() const = 0;
  virtual std::string_view device_name() const = 0;
  virtual int compute() const = 0;  // 90 of compute capability 9.0
  // Called by the thread that launches, with none of the driver's locks; null: nobody watches.
  virtual void WatchLaunches(void (*watcher)(const DriverCall&)) = 0;
  // As a kernel that read or wrote where it may not: the error stays.
  virtual void Fault(std::string text) = 0;
};

// The machine of the libcuda.so.1 in this library's own folder, which is loaded if it is not yet.
// Aborts without one: no test is right then.
EmulatedMachine& TheMachine();

// A range of device memory that a library reads or writes, `name` in its faults. Checks bounds,
// alignment, that it lies on `device`, and, of reads, that somebody wrote it: a fault of the device
// otherwise, and null.
const std::byte* ReadFrom(const void* pointer, std::uint64_t bytes, std::uint64_t alignment,
                          int device, std::string_view name);
// Marks it as written.
std::byte* WriteTo(void* pointer, std::uint64_t bytes, std::uint64_t alignment, int device,
                   std::string_view name);
// The same without marking: for what is only scratch.
bool IsOnDevice(const void* pointer, std::uint64_t bytes, int device);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_MACHINE_H_
