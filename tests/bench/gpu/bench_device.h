// A device with a clock: events, asynchronous copies and page-locked memory.
//
// Role: what the probes' Device does without. Everything runs on the default stream.
#ifndef RHARNESS_TESTS_BENCH_GPU_BENCH_DEVICE_H_
#define RHARNESS_TESTS_BENCH_GPU_BENCH_DEVICE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "probes/gpu/device.h"

#define RHARNESS_BENCH_DRIVER(X) \
  X(cuEventSynchronize)          \
  X(cuMemcpyDtoDAsync)           \
  X(cuMemcpyDtoHAsync)           \
  X(cuMemHostAlloc)              \
  X(cuMemFreeHost)               \
  X(cuMemGetInfo)

namespace rharness::bench {

struct BenchDriverFunctions {
  RHARNESS_BENCH_DRIVER(RHARNESS_DECLARE)
  // Bound by its plain name: newer headers rename it to one that drivers before 12.8 lack.
  CUresult (*cuEventElapsedTime)(float*, CUevent, CUevent) = nullptr;
};

// Host memory that the device copies to without a detour; freed with the object.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(CUresult (*free)(void*), void* at, std::size_t bytes)
      : free_(free), at_(static_cast<std::byte*>(at)), bytes_(bytes) {}
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer&& other) noexcept { *this = std::move(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  std::span<std::byte> bytes() const { return {at_, bytes_}; }

 private:
  CUresult (*free_)(void*) = nullptr;
  std::byte* at_ = nullptr;
  std::size_t bytes_ = 0;
};

// One point of the default stream. Destroyed with the object; not copied.
class Event {
 public:
  static Result<std::unique_ptr<Event>> Create(const CudaDriver& driver);
  ~Event() { driver_.f.cuEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  Status Record() const;
  CUevent get() const { return event_; }

 private:
  Event(const CudaDriver& driver, CUevent event) : driver_(driver), event_(event) {}
  const CudaDriver& driver_;
  CUevent event_;
};

class BenchDevice {
 public:
  // Errors: those of Device::Open; unsupported when the driver lacks a function.
  static Result<std::unique_ptr<BenchDevice>> Open(const ProbeContext& context);

  const Device& device() const { return *device_; }
  const CudaDriver& driver() const { return device_->driver(); }

  // Free bytes of device memory.
  Result<std::size_t> FreeBytes() const;
  Result<PinnedBuffer> AllocatePinned(std::size_t bytes) const;
  // Enqueue only. Sizes must be within both sides (aborts otherwise).
  Status Copy(const DeviceBuffer& to, const DeviceBuffer& from) const;
  Status CopyToHost(std::span<std::byte> to, const DeviceBuffer& from, std::size_t offset) const;
  Status Enqueue(CUfunction function, LaunchShape shape, std::vector<void*> parameters) const;

  // Callable from a thread that has called Device::Activate.
  Status WaitFor(const Event& event) const;

  // Seconds of device time that what `work` enqueues takes, from event to event, after it has
  // ended.
  Result<double> Time(const std::function<Status()>& work) const;

 private:
  BenchDevice() = default;

  std::shared_ptr<Device> device_;
  BenchDriverFunctions f_;
  std::unique_ptr<Event> start_, stop_;
};

}  // namespace rharness::bench

#endif  // RHARNESS_TESTS_BENCH_GPU_BENCH_DEVICE_H_
