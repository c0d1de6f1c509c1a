// libnvidia-ml.so.1: found, bound, started, asked.
#include "probes/library/nvml.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "probes/library/version_text.h"

namespace rharness {
namespace {

// Of nvml.h: results, clock domains, a capability between two devices.
constexpr int kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kNoPermission = 4,
              kDriverNotLoaded = 9, kFunctionNotFound = 13;
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

// This driver, or this device, does not have what was asked. Of a link also that there is none of
// its number. Source: NVML API reference, the "Returns" of each function.
bool MeansAbsent(int result) {
  return result == kNotSupported || result == kNoPermission || result == kFunctionNotFound ||
         result == kInvalidArgument;
}

// The result of an optional function with one result; empty when there is none. Errors: internal.
template <class Value, class Function, class... Arguments>
Result<std::optional<Value>> Ask(const Nvml& nvml, std::string_view name, Function* function,
                                 Arguments... arguments) {
  Value value{};
  if (function == nullptr) return std::optional<Value>();
  const int result = function(arguments..., &value);
  if (MeansAbsent(result)) return std::optional<Value>();
  RETURN_IF_ERROR(nvml.Check(result, name));
  return std::optional<Value>(value);
}
#define RHARNESS_ASK(Value, function, ...) \
  Ask<Value>(*this, #function, f.function __VA_OPT__(, ) __VA_ARGS__)

Status SetIfKnown(Json* json, std::string_view key, const Result<std::optional<unsigned>>& value) {
  if (!value.ok()) return value.error();
  if (*value) json->Set(key, **value);
  return {};
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
  return InternalError(fmt::format("{}: {} ({})", call, OrUnknown(text), result),
                       library_->soname());
}

Result<Json> Nvml::DescribeClocks(NvmlDevice device, int clock) const {
  Json clocks = Json::MakeObject();
  RETURN_IF_ERROR(
      SetIfKnown(&clocks, "application",
                 RHARNESS_ASK(unsigned, nvmlDeviceGetApplicationsClock, device, clock)));
  RETURN_IF_ERROR(
      SetIfKnown(&clocks, "default",
                 RHARNESS_ASK(unsigned, nvmlDeviceGetDefaultApplicationsClock, device, clock)));
  RETURN_IF_ERROR(SetIfKnown(&clocks, "most",
                             RHARNESS_ASK(unsigned, nvmlDeviceGetMaxClockInfo, device, clock)));
  return clocks;
}

Result<Json> Nvml::DescribeSettings(const std::string& pci_bus_id) const {
  NvmlDevice device = nullptr;
  RETURN_IF_ERROR(Check(f.nvmlDeviceGetHandleByPciBusId_v2(pci_bus_id.c_str(), &device),
                        "nvmlDeviceGetHandleByPciBusId_v2"));
  Json settings = Json::MakeObject();
  // The second result is what the next restart brings.
  const auto set_switch = [&](const char* key, std::string_view name, auto* function,
                              auto pending) -> Status {
    auto current = pending;
    if (function == nullptr) return {};
    const int result = function(device, &current, &pending);
    if (MeansAbsent(result)) return {};
    RETURN_IF_ERROR(Check(result, name));
    settings.Set(key, NameOf(kSwitch, static_cast<int>(current)));
    return {};
  };
  RETURN_IF_ERROR(set_switch("ecc", "nvmlDeviceGetEccMode", f.nvmlDeviceGetEccMode, int{0}));
  ASSIGN_OR_RETURN(const auto persistence, RHARNESS_ASK(int, nvmlDeviceGetPersistenceMode, device));
  if (persistence) settings.Set("persistence", NameOf(kSwitch, *persistence));
  ASSIGN_OR_RETURN(const auto compute, RHARNESS_ASK(int, nvmlDeviceGetComputeMode, device));
  if (compute) settings.Set("compute_mode", NameOf(kComputeModes, *compute));
  RETURN_IF_ERROR(set_switch("mig", "nvmlDeviceGetMigMode", f.nvmlDeviceGetMigMode, 0U));
  ASSIGN_OR_RETURN(Json clocks, DescribeClocks(device, kProcessorClock));
  settings.Set("clocks_mhz", std::move(clocks));
  ASSIGN_OR_RETURN(Json memory_clocks, DescribeClocks(device, kMemoryClock));
  settings.Set("memory_clocks_mhz", std::move(memory_clocks));
  return settings;
}

Result<Json> Nvml::DescribeLinks(NvmlDevice device) const {
  Json gpu = Json::MakeObject();
  RETURN_IF_ERROR(SetIfKnown(&gpu, "pcie_generation",
                             RHARNESS_ASK(unsigned, nvmlDeviceGetMaxPcieLinkGeneration, device)));
  RETURN_IF_ERROR(SetIfKnown(&gpu, "pcie_width",
                             RHARNESS_ASK(unsigned, nvmlDeviceGetMaxPcieLinkWidth, device)));
  unsigned up = 0;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    ASSIGN_OR_RETURN(const auto active, RHARNESS_ASK(int, nvmlDeviceGetNvLinkState, device, link));
    if (active != 1 || ++up > 1) continue;
    RETURN_IF_ERROR(SetIfKnown(&gpu, "nvlink_version",
                               RHARNESS_ASK(unsigned, nvmlDeviceGetNvLinkVersion, device, link)));
    ASSIGN_OR_RETURN(const auto end,
                     RHARNESS_ASK(int, nvmlDeviceGetNvLinkRemoteDeviceType, device, link));
    if (end) gpu.Set("nvlink_to", NameOf(kLinkEnds, *end));
  }
  return gpu.Set("nvlinks", up);
}

Result<std::string> Nvml::DescribePair(NvmlDevice a, NvmlDevice b) const {
  ASSIGN_OR_RETURN(const auto level, RHARNESS_ASK(int, nvmlDeviceGetTopologyCommonAncestor, a, b));
  ASSIGN_OR_RETURN(const auto linked,
                   RHARNESS_ASK(int, nvmlDeviceGetP2PStatus, a, b, kNvLinkCapability));
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
    ASSIGN_OR_RETURN(Json links, DescribeLinks(devices[a]));
    gpus.Append(std::move(links));
    for (std::size_t b = a + 1; b < devices.size(); ++b) {
      ASSIGN_OR_RETURN(std::string pair, DescribePair(devices[a], devices[b]));
      pairs.Set(fmt::format("{}-{}", a, b), std::move(pair));
    }
  }
  return Json().Set("gpus", std::move(gpus)).Set("pairs", std::move(pairs));
}

}  // namespace rharness
