// One GPU: its context, memory, modules and launches, through the driver alone.
//
// Role: the basis of the probes of this folder. Everything goes through the default stream unless a
// stream is given, and an error names the call and carries the driver's text.
#ifndef RHARNESS_PROBES_GPU_DEVICE_H_
#define RHARNESS_PROBES_GPU_DEVICE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "probes/gpu/kernels.h"
#include "probes/library/cuda_driver.h"
#include "probes/probe.h"

namespace rharness {

// Device memory; freed with the object.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(std::shared_ptr<CudaDriver> driver, CUdeviceptr address, std::size_t bytes)
      : driver_(std::move(driver)), address_(address), bytes_(bytes) {}
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  CUdeviceptr address() const { return address_; }
  void* pointer() const { return reinterpret_cast<void*>(address_); }  // for the libraries
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<CudaDriver> driver_;
  CUdeviceptr address_ = 0;
  std::size_t bytes_ = 0;
};

struct LaunchShape {
  unsigned int blocks = 1;
  unsigned int threads = 1;
};

class Device {
 public:
  // The device that context.device names ("cuda:0"; "cuda" is "cuda:0"), its primary context made
  // current. Errors: those of CudaDriver::Open; not_found when there is no device of this number;
  // invalid_input for an invalid name.
  static Result<std::shared_ptr<Device>> Open(const ProbeContext& context);

  // Makes its context this thread's, as Open did: for several devices.
  Status Activate() const;

  const CudaDriver& driver() const { return *driver_; }
  const std::string& name() const { return name_; }
  int compute() const { return compute_; }  // 90 for compute capability 9.0
  int multiprocessors() const { return multiprocessors_; }

  Result<DeviceBuffer> Allocate(std::size_t bytes) const;  // at most 2^33 bytes; zeroed
  Status Write(const DeviceBuffer& to, std::span<const std::byte> bytes) const;
  Result<std::vector<std::byte>> Read(const DeviceBuffer& from, std::size_t bytes) const;
  Status Zero(const DeviceBuffer& buffer) const;
  template <class T>
  Result<DeviceBuffer> Upload(const std::vector<T>& values) const {
    const auto bytes = std::as_bytes(std::span(values));
    ASSIGN_OR_RETURN(DeviceBuffer buffer, Allocate(bytes.size()));
    RETURN_IF_ERROR(Write(buffer, bytes));
    return buffer;
  }

  // The module of a text of PTX or a cubin, never unloaded. Errors: internal with the driver's
  // text.
  Result<CUmodule> Load(const std::string& image) const;
  // Of an embedded kernel file. Errors: unsupported when the device or driver is older than it.
  Result<CUmodule> Load(const KernelImage& image) const;
  Result<CUfunction> Find(CUmodule module, const std::string& name) const;
  // Parameters by address, in the kernel's order. Waits for its end, so that a fault is reported
  // here.
  Status Launch(CUfunction function, LaunchShape shape, std::vector<void*> parameters) const;
  Status Synchronize() const;

 private:
  Device() = default;
  Status Start(int ordinal);

  std::shared_ptr<CudaDriver> driver_;
  CUcontext context_ = nullptr;
  std::string name_;
  int compute_ = 0;
  int multiprocessors_ = 0;
};

// 2 of "cuda:2". Errors: invalid_input.
Result<int> DeviceOrdinal(const std::string& device);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_DEVICE_H_
