// NVML, NVIDIA's management library: the settings and interconnects of the GPUs.
//
// Role: data that the driver's own functions do not have. Its header is seldom installed, so the
// few functions used are declared here, as the public API has them. Not here: driver, CUDA version,
// name, memory and UUID, which every fingerprint's stack has from harness/records/manifest; and
// nothing that only names one piece of hardware. Source: NVIDIA, NVML API reference (nvml.h);
// symbols by their versioned names.
#ifndef RHARNESS_PROBES_LIBRARY_NVML_H_
#define RHARNESS_PROBES_LIBRARY_NVML_H_

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "probes/library/symbols.h"

// Name, then parameters; all return nvmlReturn_t, an enum from 0.
#define RHARNESS_NVML(X)                                                 \
  X(nvmlInit_v2, (void))                                                 \
  X(nvmlShutdown, (void))                                                \
  X(nvmlSystemGetNVMLVersion, (char* version, unsigned length))          \
  X(nvmlDeviceGetCount_v2, (unsigned* count))                            \
  X(nvmlDeviceGetHandleByIndex_v2, (unsigned index, NvmlDevice* device)) \
  X(nvmlDeviceGetHandleByPciBusId_v2, (const char* bus, NvmlDevice* device))
// Missing in some drivers, or not supported by some devices: nullptr, and its fact is left out.
#define RHARNESS_NVML_OPTIONAL(X)                                                  \
  X(nvmlDeviceGetEccMode, (NvmlDevice, int* current, int* pending))                \
  X(nvmlDeviceGetPersistenceMode, (NvmlDevice, int* mode))                         \
  X(nvmlDeviceGetComputeMode, (NvmlDevice, int* mode))                             \
  X(nvmlDeviceGetMigMode, (NvmlDevice, unsigned* current, unsigned* pending))      \
  X(nvmlDeviceGetApplicationsClock, (NvmlDevice, int clock, unsigned* mhz))        \
  X(nvmlDeviceGetDefaultApplicationsClock, (NvmlDevice, int clock, unsigned* mhz)) \
  X(nvmlDeviceGetMaxClockInfo, (NvmlDevice, int clock, unsigned* mhz))             \
  X(nvmlDeviceGetMaxPcieLinkGeneration, (NvmlDevice, unsigned* generation))        \
  X(nvmlDeviceGetMaxPcieLinkWidth, (NvmlDevice, unsigned* width))                  \
  X(nvmlDeviceGetNvLinkState, (NvmlDevice, unsigned link, int* active))            \
  X(nvmlDeviceGetNvLinkVersion, (NvmlDevice, unsigned link, unsigned* version))    \
  X(nvmlDeviceGetNvLinkRemoteDeviceType, (NvmlDevice, unsigned link, int* type))   \
  X(nvmlDeviceGetTopologyCommonAncestor, (NvmlDevice, NvmlDevice, int* level))     \
  X(nvmlDeviceGetP2PStatus, (NvmlDevice, NvmlDevice, int capability, int* status))

namespace rharness {

using NvmlDevice = struct NvmlDeviceHandle*;

#define RHARNESS_DECLARE_NVML(name, parameters) int(*name) parameters = nullptr;
struct NvmlFunctions {
  RHARNESS_NVML(RHARNESS_DECLARE_NVML)
  RHARNESS_NVML_OPTIONAL(RHARNESS_DECLARE_NVML)
  const char* (*nvmlErrorString)(int result) = nullptr;
};
#undef RHARNESS_DECLARE_NVML

class Nvml {
 public:
  // libnvidia-ml.so.1, started. Errors: not_found (no library, or it finds no driver), unsupported
  // (a function is missing), io, internal (with the library's own text).
  static Result<std::shared_ptr<Nvml>> Open(const std::vector<std::filesystem::path>& paths);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  Status Check(int result, std::string_view call) const;   // internal
  const std::string& version() const { return version_; }  // "13.580.65.06"
  const Library& library() const { return *library_; }

  // The settings of the device at a PCI address ("00000000:1b:00.0"): {"ecc", "persistence",
  // "compute_mode", "mig", "clocks_mhz": {"application", "default", "most"} of its processors,
  // "memory_clocks_mhz"}, as far as library and device know them. Errors: internal, when a query
  // ends in a status that does not say that there is no answer.
  Result<Json> DescribeSettings(const std::string& pci_bus_id) const;

  // The interconnects of the GPUs visible to this process, in the library's order: {"gpus":
  // [{"pcie_generation", "pcie_width", "nvlinks": links that are up, "nvlink_version", "nvlink_to":
  // "gpu" or "switch"}], "pairs": {"0-1": "host bridge, nvlink"}}. Excludes link settings that
  // change while the link is idle.
  Result<Json> DescribeTopology() const;

  NvmlFunctions f;

 private:
  Nvml() = default;
  Status Start();
  Result<Json> DescribeClocks(NvmlDevice device, int clock) const;
  Result<Json> DescribeLinks(NvmlDevice device) const;
  Result<std::string> DescribePair(NvmlDevice a, NvmlDevice b) const;

  std::shared_ptr<Library> library_;
  std::string version_;
  bool started_ = false;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_NVML_H_
