// NVML by dlopen: the library belongs to the driver and is absent on machines without one.
#include "harness/records/manifest/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>

#include "harness/records/manifest/topology.h"

namespace rharness {
namespace {

// The parts of NVML's ABI that are used here.
using Device = void*;
constexpr int kSuccess = 0;
constexpr unsigned kMaxLinks = 18;
struct MemoryInfo {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

struct PciInfo {  // nvmlPciInfo_t of version 3
  char legacy_bus_id[16] = {};
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned device_id = 0;
  unsigned subsystem_id = 0;
  char bus_id[32] = {};
};

class Library {
 public:
  Library() : handle_(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    started_ = handle_ != nullptr && Call<int()>("nvmlInit_v2");
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (started_) Call<int()>("nvmlShutdown");
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  bool started() const { return started_; }

  // False when the symbol is missing or the call does not succeed.
  template <class Signature, class... Arguments>
  bool Call(const char* symbol, Arguments... arguments) const {
    auto* function = reinterpret_cast<Signature*>(::dlsym(handle_, symbol));
    return function != nullptr && function(arguments...) == kSuccess;
  }

 private:
  void* handle_;
  bool started_ = false;
};

template <class... Leading>
std::string Text(const Library& nvml, const char* symbol, Leading... leading) {
  std::array<char, 256> buffer{};
  const unsigned size = buffer.size() - 1;
  if (!nvml.Call<int(Leading..., char*, unsigned)>(symbol, leading..., buffer.data(), size)) {
    return "";
  }
  return buffer.data();
}

bool HasActiveLink(const Library& nvml, Device device) {
  for (unsigned link = 0; link < kMaxLinks; ++link) {
    int state = 0;
    const bool answered =
        nvml.Call<int(Device, unsigned, int*)>("nvmlDeviceGetNvLinkState", device, link, &state);
    if (answered && state == 1) return true;
  }
  return false;
}

// Further properties of a class of GPUs; properties without an answer stay unknown.
void ReadClass(const Library& nvml, Device device, Gpu* gpu) {
  constexpr std::array kModes = {"default", "exclusive_thread", "prohibited", "exclusive_process"};
  unsigned cores = 0;
  if (nvml.Call<int(Device, unsigned*)>("nvmlDeviceGetNumGpuCores", device, &cores)) {
    gpu->cores = static_cast<int>(cores);
  }
  int major = 0;
  int minor = 0;
  if (nvml.Call<int(Device, int*, int*)>("nvmlDeviceGetCudaComputeCapability", device, &major,
                                         &minor)) {
    gpu->compute_capability = fmt::format("{}.{}", major, minor);
  }
  unsigned current = 0;
  unsigned pending = 0;
  if (nvml.Call<int(Device, unsigned*, unsigned*)>("nvmlDeviceGetMigMode", device, &current,
                                                   &pending)) {
    gpu->mig = current == 1 ? "enabled" : "disabled";
  }
  unsigned mode = 0;
  if (nvml.Call<int(Device, unsigned*)>("nvmlDeviceGetComputeMode", device, &mode) &&
      mode < kModes.size()) {
    gpu->compute_mode = kModes[mode];
  }
}

std::string CudaVersion(const Library& nvml) {
  int version = 0;
  if (!nvml.Call<int(int*)>("nvmlSystemGetCudaDriverVersion_v2", &version)) return "";
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

std::string ReadGpus(Hardware* hardware) {
  const Library nvml;
  if (!nvml.started()) return "";
  hardware->gpu_driver = Text(nvml, "nvmlSystemGetDriverVersion");
  unsigned count = 0;
  nvml.Call<int(unsigned*)>("nvmlDeviceGetCount_v2", &count);
  for (unsigned index = 0; index < count; ++index) {
    Device device = nullptr;
    if (!nvml.Call<int(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2", index, &device)) {
      continue;
    }
    Gpu gpu;
    gpu.model = Text(nvml, "nvmlDeviceGetName", device);
    gpu.uuid = Text(nvml, "nvmlDeviceGetUUID", device);
    MemoryInfo memory;
    nvml.Call<int(Device, MemoryInfo*)>("nvmlDeviceGetMemoryInfo", device, &memory);
    gpu.memory_bytes = memory.total;
    PciInfo pci;
    if (nvml.Call<int(Device, PciInfo*)>("nvmlDeviceGetPciInfo_v3", device, &pci)) {
      gpu.bus_id = PciBusId(pci.domain, pci.bus, pci.device, 0);
    }
    ReadClass(nvml, device, &gpu);
    if (HasActiveLink(nvml, device)) hardware->interconnect = "nvlink";
    hardware->gpus.push_back(std::move(gpu));
  }
  if (!hardware->gpus.empty() && hardware->interconnect.empty()) hardware->interconnect = "pcie";
  return CudaVersion(nvml);
}

}  // namespace rharness
