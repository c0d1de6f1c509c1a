// The driver's calls behind the clock.
#include "tests/bench/gpu/bench_device.h"

#include <utility>

namespace rharness::bench {

PinnedBuffer::~PinnedBuffer() {
  if (at_ != nullptr) free_(at_);
}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(free_, other.free_);
  std::swap(at_, other.at_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Result<std::unique_ptr<Event>> Event::Create(const CudaDriver& driver) {
  CUevent event = nullptr;
  RETURN_IF_ERROR(driver.Check(driver.f.cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate"));
  return std::unique_ptr<Event>(new Event(driver, event));
}

Status Event::Record() const {
  return driver_.Check(driver_.f.cuEventRecord(event_, nullptr), "cuEventRecord");
}

Result<std::unique_ptr<BenchDevice>> BenchDevice::Open(const ProbeContext& context) {
  std::unique_ptr<BenchDevice> bench(new BenchDevice());
  ASSIGN_OR_RETURN(bench->device_, Device::Open(context));
  Symbols symbols(bench->driver().library());
  BenchDriverFunctions& f = bench->f_;
  RHARNESS_BENCH_DRIVER(RHARNESS_BIND)
  symbols.Bind("cuEventElapsedTime", &f.cuEventElapsedTime);
  RETURN_IF_ERROR(symbols.Check());
  ASSIGN_OR_RETURN(bench->start_, Event::Create(bench->driver()));
  ASSIGN_OR_RETURN(bench->stop_, Event::Create(bench->driver()));
  return bench;
}

Result<std::size_t> BenchDevice::FreeBytes() const {
  std::size_t free = 0, total = 0;
  RETURN_IF_ERROR(driver().Check(f_.cuMemGetInfo(&free, &total), "cuMemGetInfo"));
  return free;
}

Result<PinnedBuffer> BenchDevice::AllocatePinned(std::size_t bytes) const {
  void* at = nullptr;
  RETURN_IF_ERROR(driver().Check(f_.cuMemHostAlloc(&at, bytes, 0), "cuMemHostAlloc"));
  return PinnedBuffer(f_.cuMemFreeHost, at, bytes);
}

Status BenchDevice::Copy(const DeviceBuffer& to, const DeviceBuffer& from) const {
  if (to.bytes() < from.bytes()) Abort("a copy beyond the end of device memory");
  return driver().Check(f_.cuMemcpyDtoDAsync(to.address(), from.address(), from.bytes(), nullptr),
                        "cuMemcpyDtoDAsync");
}

Status BenchDevice::CopyToHost(std::span<std::byte> to, const DeviceBuffer& from,
                               std::size_t offset) const {
  if (offset > from.bytes() || to.size() > from.bytes() - offset) {
    Abort("a copy from beyond the end of device memory");
  }
  return driver().Check(
      f_.cuMemcpyDtoHAsync(to.data(), from.address() + offset, to.size(), nullptr),
      "cuMemcpyDtoHAsync");
}

Status BenchDevice::Enqueue(CUfunction function, LaunchShape shape,
                            std::vector<void*> parameters) const {
  return driver().Check(driver().f.cuLaunchKernel(function, shape.blocks, 1, 1, shape.threads, 1, 1,
                                                  0, nullptr, parameters.data(), nullptr),
                        "cuLaunchKernel");
}

Status BenchDevice::WaitFor(const Event& event) const {
  return driver().Check(f_.cuEventSynchronize(event.get()), "cuEventSynchronize");
}

Result<double> BenchDevice::Time(const std::function<Status()>& work) const {
  RETURN_IF_ERROR(start_->Record());
  RETURN_IF_ERROR(work());
  RETURN_IF_ERROR(stop_->Record());
  RETURN_IF_ERROR(WaitFor(*stop_));
  // An error of a kernel shows here, not in its launch.
  RETURN_IF_ERROR(device_->Synchronize());
  float milliseconds = 0;
  RETURN_IF_ERROR(driver().Check(f_.cuEventElapsedTime(&milliseconds, start_->get(), stop_->get()),
                                 "cuEventElapsedTime"));
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace rharness::bench
