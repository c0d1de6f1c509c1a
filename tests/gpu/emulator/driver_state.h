// What the emulated driver keeps: devices, modules, the error that stays.
//
// Role: between driver.cc, which has the functions of libcuda.so.1, and the emulator.
//
// Variables: EMULATED_DEVICE, "H100" (the default) or "A100"; EMULATED_DEVICES, how many, 1 if it
// is not set; EMULATED_BYTES, the memory that they have together, 1 GiB if it is not set;
// EMULATED_ORDER, the order of launches, a new one each if it is not set; EMULATED_FAIL,
// "cuMemAlloc:3" for the third call alone, "cuMemAlloc:3+" for it and all after it, of the driver
// or of a library (libraries/), several by commas; EMULATED_CALLS, a file that gets the name of
// every call. CUDA_INJECTION64_PATH: as NVIDIA's driver has it, a library whose InitializeInjection
// cuInit calls once.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_DRIVER_STATE_H_
#define RHARNESS_TESTS_GPU_EMULATOR_DRIVER_STATE_H_

#include <cuda.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "tests/gpu/emulator/launch.h"
#include "tests/gpu/emulator/libraries/machine.h"

namespace rharness {

// Two drivers are built: the next one is of a later version, and its compiler folds warps in
// another order (fold_order.h).
#ifdef EMULATED_NEXT_DRIVER
inline constexpr bool kNextDriver = true;
#else
inline constexpr bool kNextDriver = false;
#endif

struct EmulatedDevice {
  std::string_view name;
  int compute = 90;
  int multiprocessors = 132;
  std::size_t memory_bytes = 0;  // that it says it has
  std::map<CUdevice_attribute, int> attributes;
};
// By EMULATED_DEVICE.
const EmulatedDevice& TheEmulatedDevice();

struct EmulatedFunction;
struct EmulatedModule {
  PtxProgram program;
  std::uint64_t globals = 0;
  std::map<std::string, std::unique_ptr<EmulatedFunction>, std::less<>> functions;
};
struct EmulatedFunction {
  const EmulatedModule* module = nullptr;
  const PtxFunction* kernel = nullptr;
};

class DriverState final : public EmulatedMachine {
 public:
  static DriverState& Get();

  // What a call gives before it does anything: an injected failure, or the error that stays.
  CUresult Enter(std::string_view call);

  // For the other libraries.
  Entry EnterLibrary(std::string_view call) override;
  MemoryView Find(std::uint64_t address, std::uint64_t bytes) override;
  int DeviceOfMemory(std::uint64_t address) override;
  int DeviceOfStream(const void* stream) override;
  int CurrentDevice() override;
  int devices() const override;
  std::string_view device_name() const override { return TheEmulatedDevice().name; }
  int compute() const override { return TheEmulatedDevice().compute; }
  void Fault(std::string text) override;
  void WatchLaunches(void (*watcher)(const DriverCall&)) override { watcher_ = watcher; }

  void Tell(const DriverCall& call) const {
    if (watcher_ != nullptr) watcher_(call);
  }

  DeviceMemory& memory() { return memory_; }
  // On the current device; 0 when there is no room.
  std::uint64_t Allocate(std::uint64_t bytes);
  CUstream MakeStream();
  bool DropStream(CUstream stream);  // false if there is none
  // Errors: those of ParsePtx; io when the device has no room.
  Result<EmulatedModule*> Load(std::string_view ptx);
  bool Unload(CUmodule module);
  EmulatedFunction* Find(CUmodule module, std::string_view name);  // null if there is none
  // Runs it; a fault stays, and the launch itself succeeds as an asynchronous one does.
  CUresult Launch(CUfunction function, const LaunchExtent& blocks, const LaunchExtent& threads,
                  unsigned dynamic_shared_bytes, void** parameters);
  std::string_view fault() const { return fault_; }

 private:
  DriverState();

  std::atomic<void (*)(const DriverCall&)> watcher_ = nullptr;
  DeviceMemory memory_;
  std::map<const void*, std::unique_ptr<EmulatedModule>> modules_;
  std::map<std::string, unsigned, std::less<>> calls_;
  std::map<std::uint64_t, int> device_of_;               // by allocation
  std::map<const void*, std::unique_ptr<int>> streams_;  // each has its device
  unsigned launches_ = 0;
  CUresult error_ = CUDA_SUCCESS;
  std::string fault_;
};

// The ordinal of this thread's context; -1 without one.
int& CurrentOrdinal();

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_DRIVER_STATE_H_
