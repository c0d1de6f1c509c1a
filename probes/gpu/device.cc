// The driver's calls behind one GPU.
#include "probes/gpu/device.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace rharness {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 33;

}  // namespace

DeviceBuffer::~DeviceBuffer() {
  if (driver_ != nullptr) driver_->f.cuMemFree(address_);
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Result<int> DeviceOrdinal(const std::string& device) {
  if (device == "cuda") return 0;
  const std::string prefix = "cuda:";
  int ordinal = -1;
  if (device.starts_with(prefix)) {
    const char* end = device.data() + device.size();
    const auto parsed = std::from_chars(device.data() + prefix.size(), end, ordinal);
    if (parsed.ec != std::errc() || parsed.ptr != end) ordinal = -1;
  }
  if (ordinal < 0) return InvalidInput("expected a device such as cuda:0", device);
  return ordinal;
}

Result<std::shared_ptr<Device>> Device::Open(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const int ordinal, DeviceOrdinal(context.device));
  std::shared_ptr<Device> device(new Device());
  ASSIGN_OR_RETURN(device->driver_, CudaDriver::Open(context.library_paths));
  RETURN_IF_ERROR(device->Start(ordinal));
  return device;
}

Status Device::Start(int ordinal) {
  const CudaDriverFunctions& f = driver_->f;
  int count = 0;
  RETURN_IF_ERROR(driver_->Check(f.cuDeviceGetCount(&count), "cuDeviceGetCount"));
  if (ordinal >= count) return NotFound(fmt::format("no device {}; there are {}", ordinal, count));
  CUdevice device = 0;
  RETURN_IF_ERROR(driver_->Check(f.cuDeviceGet(&device, ordinal), "cuDeviceGet"));
  char name[256] = {};
  RETURN_IF_ERROR(
      driver_->Check(f.cuDeviceGetName(name, sizeof(name) - 1, device), "cuDeviceGetName"));
  name_ = name;
  const auto read = [&](CUdevice_attribute attribute, int* value) {
    return driver_->Check(f.cuDeviceGetAttribute(value, attribute, device), "cuDeviceGetAttribute");
  };
  int major = 0, minor = 0;
  RETURN_IF_ERROR(read(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major));
  RETURN_IF_ERROR(read(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor));
  RETURN_IF_ERROR(read(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &multiprocessors_));
  compute_ = 10 * major + minor;
  // The primary context is the one that the libraries' runtime uses.
  RETURN_IF_ERROR(
      driver_->Check(f.cuDevicePrimaryCtxRetain(&context_, device), "cuDevicePrimaryCtxRetain"));
  return Activate();
}

Status Device::Activate() const {
  return driver_->Check(driver_->f.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
}

Result<DeviceBuffer> Device::Allocate(std::size_t bytes) const {
  if (bytes > kMostBytes) {
    return InvalidInput(fmt::format("{} bytes of device memory; at most {}", bytes, kMostBytes));
  }
  CUdeviceptr address = 0;
  const std::size_t size = bytes == 0 ? 1 : bytes;
  RETURN_IF_ERROR(driver_->Check(driver_->f.cuMemAlloc(&address, size), "cuMemAlloc"));
  DeviceBuffer buffer(driver_, address, size);
  RETURN_IF_ERROR(Zero(buffer));
  return buffer;
}

Status Device::Write(const DeviceBuffer& to, std::span<const std::byte> bytes) const {
  if (bytes.size() > to.bytes()) return InternalError("a write beyond the end of device memory");
  if (bytes.empty()) return {};
  return driver_->Check(driver_->f.cuMemcpyHtoD(to.address(), bytes.data(), bytes.size()),
                        "cuMemcpyHtoD");
}

Result<std::vector<std::byte>> Device::Read(const DeviceBuffer& from, std::size_t bytes) const {
  if (bytes > from.bytes()) return InternalError("a read beyond the end of device memory");
  std::vector<std::byte> values(bytes);
  RETURN_IF_ERROR(driver_->Check(driver_->f.cuMemcpyDtoH(values.data(), from.address(), bytes),
                                 "cuMemcpyDtoH"));
  return values;
}

Status Device::Zero(const DeviceBuffer& buffer) const {
  return driver_->Check(driver_->f.cuMemsetD8(buffer.address(), 0, buffer.bytes()), "cuMemsetD8");
}

Result<CUmodule> Device::Load(const std::string& image) const {
  CUmodule module = nullptr;
  std::string log(4096, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  const Status loaded =
      driver_->Check(driver_->f.cuModuleLoadDataEx(&module, image.c_str(), 2, options, values),
                     "cuModuleLoadDataEx");
  if (loaded.ok()) return module;
  log.resize(log.find('\0'));
  return InternalError(loaded.error().message + (log.empty() ? "" : ": " + log),
                       loaded.error().where);
}

Result<CUmodule> Device::Load(const KernelImage& image) const {
  if (!image.Runs(compute_)) {
    return Unsupported(fmt::format("{} needs compute capability {}.{}{}; {} has {}.{}", image.name,
                                   image.compute / 10, image.compute % 10,
                                   image.exact ? " and no other" : "", name_, compute_ / 10,
                                   compute_ % 10));
  }
  if (driver_->version() < image.driver) {
    return Unsupported(fmt::format("{} needs a driver of CUDA {}.{}; this one is of {}.{}",
                                   image.name, image.driver / 1000, image.driver % 1000 / 10,
                                   driver_->version() / 1000, driver_->version() % 1000 / 10));
  }
  return Load(std::string(image.ptx));
}

Result<CUfunction> Device::Find(CUmodule module, const std::string& name) const {
  CUfunction function = nullptr;
  RETURN_IF_ERROR(driver_->Check(driver_->f.cuModuleGetFunction(&function, module, name.c_str()),
                                 "cuModuleGetFunction " + name));
  return function;
}

Status Device::Launch(CUfunction function, LaunchShape shape, std::vector<void*> parameters) const {
  RETURN_IF_ERROR(
      driver_->Check(driver_->f.cuLaunchKernel(function, shape.blocks, 1, 1, shape.threads, 1, 1, 0,
                                               nullptr, parameters.data(), nullptr),
                     "cuLaunchKernel"));
  return Synchronize();
}

Status Device::Synchronize() const {
  return driver_->Check(driver_->f.cuCtxSynchronize(), "cuCtxSynchronize");
}

}  // namespace rharness
