// libnvidia-ml.so.1: found, bound, started, asked.
#include "probes/library/nvml.h"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace rharness {
namespace {

// Of nvml.h: results, clock domains, a capability between two devices.
constexpr int kSuccess = 0, kNoPermission = 4, kDriverNotLoaded = 9;
constexpr int kProcessorClock = 1, kMemoryClock = 2;
constexpr int kNvLinkCapability = 2;
// 18 in today's header; a few more do no harm, since a link that is not there is refused.
constexpr unsigned kMostLinks = 36;
constexpr unsigned kMostDevices = 64;

struct Named {
  int value;
  std::string_view name;
};
constexpr std::array<Named, 2> kSwitch = {{{0, "off"}, {1, "on"}}};
constexpr std::array<Named, 4> kComputeModes = {
    {{0, "default"}, {1, "exclusive thread"}, {2, "prohibited"}, {3, "exclusive process"}}};
constexpr std::array<Named, 6> kLevels = {{{0, "one board"},
                                           {10, "one pcie switch"},
                                           {20, "pcie switches"},
                                           {30, "host bridge"},
                                           {40, "numa node"},
                                           {50, "system"}}};
constexpr std::array<Named, 3> kLinkEnds = {{{0, "gpu"}, {1, "cpu"}, {2, "switch"}}};

template <std::size_t kCount>
std::string NameOf(const std::array<Named, kCount>& names, int value) {
  for (const Named& named : names) {
    if (named.value == value) return std::string(named.name);
  }
  return std::to_string(value);
}

// The result of an optional function with one result; empty when it is missing or refuses.
template <class Value, class Function, class... Arguments>
std::optional<Value> Ask(Function* function, Arguments... arguments) {
  Value value{};
  if (function == nullptr || function(arguments..., &value) != kSuccess) return std::nullopt;
  return value;
}

void SetIfKnown(Json* json, std::string_view key, const std::optional<unsigned>& value) {
  if (value) json->Set(key, *value);
}

}  // namespace

Result<std::shared_ptr<Nvml>> Nvml::Open(const std::vector<std::filesystem::path>& paths) {
  std::shared_ptr<Nvml> nvml(new Nvml());
  ASSIGN_OR_RETURN(nvml->library_, Library::Open({"libnvidia-ml.so.1"}, paths));
  const Library& library = *nvml->library_;
  Symbols symbols(library);
  NvmlFunctions& f = nvml->f;
#define RHARNESS_BIND_NVML(name, parameters) symbols.Bind(#name, &f.name);
  RHARNESS_NVML(RHARNESS_BIND_NVML)
#undef RHARNESS_BIND_NVML
  symbols.Bind("nvmlErrorString", &f.nvmlErrorString);
  RETURN_IF_ERROR(symbols.Check());
#define RHARNESS_BIND_NVML(name, parameters) f.name = library.Get<int parameters>(#name);
  RHARNESS_NVML_OPTIONAL(RHARNESS_BIND_NVML)
#undef RHARNESS_BIND_NVML
  RETURN_IF_ERROR(nvml->Start());
  return nvml;
}

Status Nvml::Start() {
  const int started = f.nvmlInit_v2();
  const Status checked = Check(started, "nvmlInit_v2");
  if (started == kDriverNotLoaded) {
    return NotFound(checked.error().message, checked.error().where);
  }
  if (!checked.ok()) return checked;
  started_ = true;
  std::array<char, 128> text{};
  RETURN_IF_ERROR(
      Check(f.nvmlSystemGetNVMLVersion(text.data(), static_cast<unsigned>(text.size() - 1)),
            "nvmlSystemGetNVMLVersion"));
  version_ = text.data();
  return {};
}

Nvml::~Nvml() {
  if (started_) f.nvmlShutdown();
}

Status Nvml::Check(int result, std::string_view call) const {
  if (result == kSuccess) return {};
  const char* text = f.nvmlErrorString(result);
  return InternalError(
      fmt::format("{}: {} ({})", call, text != nullptr ? text : "an unknown error", result),
      library_->soname());
}

Json Nvml::DescribeClocks(NvmlDevice device, int clock) const {
  Json clocks = Json::MakeObject();
  SetIfKnown(&clocks, "application",
             Ask<unsigned>(f.nvmlDeviceGetApplicationsClock, device, clock));
  SetIfKnown(&clocks, "default",
             Ask<unsigned>(f.nvmlDeviceGetDefaultApplicationsClock, device, clock));
  SetIfKnown(&clocks, "most", Ask<unsigned>(f.nvmlDeviceGetMaxClockInfo, device, clock));
  return clocks;
}

Result<Json> Nvml::DescribeSettings(const std::string& pci_bus_id) const {
  NvmlDevice device = nullptr;
  RETURN_IF_ERROR(Check(f.nvmlDeviceGetHandleByPciBusId_v2(pci_bus_id.c_str(), &device),
                        "nvmlDeviceGetHandleByPciBusId_v2"));
  Json settings = Json::MakeObject();
  int pending = 0;
  unsigned pending_mig = 0;
  int ecc = 0;
  if (f.nvmlDeviceGetEccMode != nullptr &&
      f.nvmlDeviceGetEccMode(device, &ecc, &pending) == kSuccess) {
    settings.Set("ecc", NameOf(kSwitch, ecc));
  }
  if (const auto mode = Ask<int>(f.nvmlDeviceGetPersistenceMode, device)) {
    settings.Set("persistence", NameOf(kSwitch, *mode));
  }
  if (const auto mode = Ask<int>(f.nvmlDeviceGetComputeMode, device)) {
    settings.Set("compute_mode", NameOf(kComputeModes, *mode));
  }
  unsigned mig = 0;
  if (f.nvmlDeviceGetMigMode != nullptr &&
      f.nvmlDeviceGetMigMode(device, &mig, &pending_mig) == kSuccess) {
    settings.Set("mig", NameOf(kSwitch, static_cast<int>(mig)));
  }
  settings.Set("clocks_mhz", DescribeClocks(device, kProcessorClock));
  settings.Set("memory_clocks_mhz", DescribeClocks(device, kMemoryClock));
  return settings;
}

Json Nvml::DescribeLinks(NvmlDevice device) const {
  Json gpu = Json::MakeObject();
  SetIfKnown(&gpu, "pcie_generation", Ask<unsigned>(f.nvmlDeviceGetMaxPcieLinkGeneration, device));
  SetIfKnown(&gpu, "pcie_width", Ask<unsigned>(f.nvmlDeviceGetMaxPcieLinkWidth, device));
  unsigned up = 0;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    const auto active = Ask<int>(f.nvmlDeviceGetNvLinkState, device, link);
    if (active != 1 || ++up > 1) continue;
    SetIfKnown(&gpu, "nvlink_version", Ask<unsigned>(f.nvmlDeviceGetNvLinkVersion, device, link));
    const auto end = Ask<int>(f.nvmlDeviceGetNvLinkRemoteDeviceType, device, link);
    if (end) gpu.Set("nvlink_to", NameOf(kLinkEnds, *end));
  }
  return gpu.Set("nvlinks", up);
}

std::string Nvml::DescribePair(NvmlDevice a, NvmlDevice b) const {
  const auto level = Ask<int>(f.nvmlDeviceGetTopologyCommonAncestor, a, b);
  const auto linked = Ask<int>(f.nvmlDeviceGetP2PStatus, a, b, kNvLinkCapability);
  return (level ? NameOf(kLevels, *level) : "not known") + (linked == 0 ? ", nvlink" : "");
}

Result<Json> Nvml::DescribeTopology() const {
  unsigned count = 0;
  RETURN_IF_ERROR(Check(f.nvmlDeviceGetCount_v2(&count), "nvmlDeviceGetCount_v2"));
  if (count > kMostDevices) {
    return InternalError(fmt::format("{} devices; expected at most {}", count, kMostDevices),
                         library_->soname());
  }
  std::vector<NvmlDevice> devices;
  for (unsigned i = 0; i < count; ++i) {
    NvmlDevice device = nullptr;
    const int found = f.nvmlDeviceGetHandleByIndex_v2(i, &device);
    // The index counts all GPUs of the machine, including those hidden from this process.
    if (found == kNoPermission) continue;
    RETURN_IF_ERROR(Check(found, "nvmlDeviceGetHandleByIndex_v2"));
    devices.push_back(device);
  }
  Json gpus = Json::MakeArray();
  Json pairs = Json::MakeObject();
  for (std::size_t a = 0; a < devices.size(); ++a) {
    gpus.Append(DescribeLinks(devices[a]));
    for (std::size_t b = a + 1; b < devices.size(); ++b) {
      pairs.Set(fmt::format("{}-{}", a, b), DescribePair(devices[a], devices[b]));
    }
  }
  return Json().Set("gpus", std::move(gpus)).Set("pairs", std::move(pairs));
}

}  // namespace rharness
