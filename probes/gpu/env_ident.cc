// Probe env_ident_cuda: which libraries a GPU stack is made of, how the device is set, how GPUs are
// joined, and which variables bear on arithmetic. What only names one piece of hardware (UUID,
// serial number, PCI address) is not in it: it belongs to a fingerprint's context.
#include <fmt/format.h>
#include <unistd.h>

#include "probes/gpu/probe_tools.h"
#include "probes/gpu/stack_libraries.h"
#include "probes/library/nvml.h"
#include "probes/library/version_text.h"

namespace rharness {
namespace {

// Of driver_types.h: numbers of the runtime's attributes.
constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76;

// Attributes of the driver that kernels are chosen by.
struct Attribute {
  CUdevice_attribute id;
  std::string_view name;
};
constexpr Attribute kAttributes[] = {
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, "l2_cache_bytes"},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, "shared_memory_bytes"},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, "memory_bus_bits"},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, "ecc_enabled"},
};

Result<CUdevice> HandleOf(const Device& device, int ordinal) {
  CUdevice handle = 0;
  RETURN_IF_ERROR(
      device.driver().Check(device.driver().f.cuDeviceGet(&handle, ordinal), "cuDeviceGet"));
  return handle;
}

Result<int> Read(const Device& device, CUdevice handle, CUdevice_attribute attribute) {
  int value = 0;
  RETURN_IF_ERROR(device.driver().Check(
      device.driver().f.cuDeviceGetAttribute(&value, attribute, handle), "cuDeviceGetAttribute"));
  return value;
}

Result<Json> DescribeDevice(const Device& device, CUdevice handle) {
  Json json = Json::MakeObject();
  json.Set("name", device.name())
      .Set("compute_capability", fmt::format("{}.{}", device.compute() / 10, device.compute() % 10))
      .Set("multiprocessors", device.multiprocessors())
      .Set("cuda_driver", CudaVersionText(device.driver().version()));
  for (const Attribute& attribute : kAttributes) {
    ASSIGN_OR_RETURN(const int value, Read(device, handle, attribute.id));
    json.Set(attribute.name, value);
  }
  std::size_t bytes = 0;
  auto* total =
      device.driver().library().Get<CUresult(std::size_t*, CUdevice)>("cuDeviceTotalMem_v2");
  if (total != nullptr) {
    RETURN_IF_ERROR(device.driver().Check(total(&bytes, handle), "cuDeviceTotalMem"));
    json.Set("memory_bytes", bytes);
  }
  return json;
}

// The name by which the management library knows the device.
Result<std::string> PciBusId(const Device& device, CUdevice handle) {
  ASSIGN_OR_RETURN(const int domain, Read(device, handle, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID));
  ASSIGN_OR_RETURN(const int bus, Read(device, handle, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID));
  ASSIGN_OR_RETURN(const int slot, Read(device, handle, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
  return fmt::format("{:08x}:{:02x}:{:02x}.0", domain, bus, slot);
}

// The runtime may be of a newer CUDA than the driver serves, and then sees no device.
void AddRuntimeView(const ProbeContext& context, int ordinal, ProbeResult* result) {
  const auto found = result->choices.find("CUDA runtime");
  if (found == result->choices.end()) return;
  const auto library =
      Library::Open({found->second.Find("soname")->AsString()}, context.library_paths);
  if (!library.ok()) return;
  auto* get = (*library)->Get<int(int*, int, int)>("cudaDeviceGetAttribute");
  auto* text = (*library)->Get<const char*(int)>("cudaGetErrorString");
  if (get == nullptr || text == nullptr) return;
  int major = 0, minor = 0;
  int failed = get(&major, kCapabilityMajor, ordinal);
  if (failed == 0) failed = get(&minor, kCapabilityMinor, ordinal);
  found->second.Set("compute_capability",
                    failed == 0 ? fmt::format("{}.{}", major, minor) : std::string(text(failed)));
}

void AddManagement(const ProbeContext& context, const std::string& bus, StackLibraries* libraries,
                   ProbeResult* result) {
  const auto nvml = Nvml::Open(context.library_paths);
  if (!nvml.ok() && nvml.error().code == ErrorCode::kNotFound) {
    result->notes.push_back("settings and topology are not known: " + nvml.error().ToString());
    return;
  }
  if (!nvml.ok()) {
    libraries->broken.push_back("NVML: " + nvml.error().ToString());
    return;
  }
  AddLibrary("NVML", (*nvml)->library(), (*nvml)->version(), libraries);
  const auto add = [&](const std::string& name, const Result<Json>& described) {
    if (!described.ok()) RecordFailure(name, described.error(), result);
    if (described.ok()) result->choices[name] = *described;
  };
  add("settings", (*nvml)->DescribeSettings(bus));
  add("topology", (*nvml)->DescribeTopology());
}

Result<ProbeResult> MeasureEnvIdent(const ProbeContext& context) {
  // Before a library changes or reads them.
  Json variables = NumericVariables(environ);
  ASSIGN_OR_RETURN(const auto device, Device::Open(context));
  ASSIGN_OR_RETURN(const int ordinal, DeviceOrdinal(context.device));
  ASSIGN_OR_RETURN(const CUdevice handle, HandleOf(*device, ordinal));
  ProbeResult result;
  result.choices["environment"] = std::move(variables);
  ASSIGN_OR_RETURN(result.choices["device"], DescribeDevice(*device, handle));
  StackLibraries libraries = FindStackLibraries(context.library_paths);
  AddLibrary("CUDA driver", device->driver().library(), CudaVersionText(device->driver().version()),
             &libraries);
  ASSIGN_OR_RETURN(const std::string bus, PciBusId(*device, handle));
  AddManagement(context, bus, &libraries, &result);
  result.choices.insert(libraries.named.begin(), libraries.named.end());
  AddRuntimeView(context, ordinal, &result);
  result.libraries = std::move(libraries.described);
  for (const std::string& broken : libraries.broken) {
    result.status = ProbeStatus::kFailed;
    result.message += (result.message.empty() ? "" : "; ") + broken;
  }
  return result;
}

ProbeResult RunEnvIdent(const ProbeContext& context) {
  return Finish(MeasureEnvIdent(context), Shows::kChoices);
}

const RegisterProbe kEnvIdentProbe(
    {.name = "env_ident_cuda",
     .family = "identity",
     .summary = "libraries, device, its settings, topology, variables",
     .device = ProbeDevice::kGpu,
     .run = RunEnvIdent,
     .limit = std::chrono::seconds(300)});

}  // namespace
}  // namespace rharness
