// libnvidia-ml: the functions that probes/library/nvml.h binds, for the described devices.
//
// Results: NVML API reference, "Return Values" of each function. A board of NVLink to a switch as
// NVIDIA's DGX H100 has it; of an A100 the links are of version 3. MIG is off, ECC on.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/gpu/emulator/libraries/machine.h"

namespace {

using rharness::EmulatedMachine;
using rharness::TheMachine;

enum Nvml { kSuccess = 0, kUninitialized = 1, kInvalidArgument = 2, kNotSupported = 3 };
constexpr int kNotFound = 6, kInsufficientSize = 7, kUnknown = 999;
constexpr int kFirstBus = 0x1b;  // as the driver says it
constexpr unsigned kNewLinks = 18, kOldLinks = 12;

int starts = 0;
const char devices[64] = {};  // handles are their addresses

int Enter(std::string_view call, bool needs_start = true) {
  const bool fails = TheMachine().EnterLibrary(call) == EmulatedMachine::Entry::kInjected;
  if (fails) return kUnknown;
  return needs_start && starts == 0 ? kUninitialized : kSuccess;
}

int OrdinalOf(const void* device) {
  const auto* at = static_cast<const char*>(device);
  const bool known = at >= devices && at < devices + TheMachine().devices();
  return known ? static_cast<int>(at - devices) : -1;
}

template <class Value>
int Set(const void* device, Value* out, Value value) {
  if (OrdinalOf(device) < 0 || out == nullptr) return kInvalidArgument;
  *out = value;
  return kSuccess;
}

bool IsHopper() { return TheMachine().compute() >= 90; }
unsigned Links() { return IsHopper() ? kNewLinks : kOldLinks; }

// Graphics 0, processors 1, memory 2.
int Clock(const void* device, int clock, unsigned* mhz, bool most) {
  if (clock < 0 || clock > 3) return kInvalidArgument;
  if (clock == 2) return Set(device, mhz, IsHopper() ? 2619U : 1593U);
  return Set(device, mhz, most ? (IsHopper() ? 1980U : 1410U) : (IsHopper() ? 1980U : 1275U));
}

}  // namespace

#define ENTER(name) \
  if (const int entered = Enter(#name)) return entered

extern "C" {
int nvmlInit_v2() {
  if (const int entered = Enter("nvmlInit_v2", false)) return entered;
  ++starts;
  return kSuccess;
}
int nvmlShutdown() {
  ENTER(nvmlShutdown);
  --starts;
  return kSuccess;
}
const char* nvmlErrorString(int result) {
  const auto entry = TheMachine().EnterLibrary("nvmlErrorString");
  if (entry == EmulatedMachine::Entry::kInjected) return nullptr;
  return result == kUnknown ? "Unknown Error" : "an error of the emulated NVML";
}
int nvmlSystemGetNVMLVersion(char* out, unsigned length) {
  ENTER(nvmlSystemGetNVMLVersion);
  constexpr std::string_view kVersion = "13.580.65.06";
  if (out == nullptr) return kInvalidArgument;
  if (length <= kVersion.size()) return kInsufficientSize;
  std::memcpy(out, kVersion.data(), kVersion.size());
  out[kVersion.size()] = '\0';
  return kSuccess;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  ENTER(nvmlDeviceGetCount_v2);
  if (count == nullptr) return kInvalidArgument;
  *count = static_cast<unsigned>(TheMachine().devices());
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, const void** device) {
  ENTER(nvmlDeviceGetHandleByIndex_v2);
  if (device == nullptr || index >= static_cast<unsigned>(TheMachine().devices())) {
    return kInvalidArgument;
  }
  *device = devices + index;
  return kSuccess;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, const void** device) {
  ENTER(nvmlDeviceGetHandleByPciBusId_v2);
  unsigned domain = 0, number = 0, slot = 0;
  if (bus == nullptr || device == nullptr ||
      std::sscanf(bus, "%x:%x:%x", &domain, &number, &slot) != 3) {
    return kInvalidArgument;
  }
  const int ordinal = static_cast<int>(number) - kFirstBus;
  if (domain != 0 || slot != 0 || ordinal < 0 || ordinal >= TheMachine().devices()) {
    return kNotFound;
  }
  *device = devices + ordinal;
  return kSuccess;
}
int nvmlDeviceGetEccMode(const void* device, int* current, int* pending) {
  ENTER(nvmlDeviceGetEccMode);
  if (pending == nullptr) return kInvalidArgument;
  *pending = 1;
  return Set(device, current, 1);
}
int nvmlDeviceGetPersistenceMode(const void* device, int* mode) {
  ENTER(nvmlDeviceGetPersistenceMode);
  return Set(device, mode, 1);
}
int nvmlDeviceGetComputeMode(const void* device, int* mode) {
  ENTER(nvmlDeviceGetComputeMode);
  return Set(device, mode, 0);
}
int nvmlDeviceGetMigMode(const void* device, unsigned* current, unsigned* pending) {
  ENTER(nvmlDeviceGetMigMode);
  if (pending == nullptr) return kInvalidArgument;
  *pending = 0;
  return Set(device, current, 0U);
}
int nvmlDeviceGetApplicationsClock(const void* device, int clock, unsigned* mhz) {
  ENTER(nvmlDeviceGetApplicationsClock);
  return Clock(device, clock, mhz, false);
}
int nvmlDeviceGetDefaultApplicationsClock(const void* device, int clock, unsigned* mhz) {
  ENTER(nvmlDeviceGetDefaultApplicationsClock);
  return Clock(device, clock, mhz, false);
}
int nvmlDeviceGetMaxClockInfo(const void* device, int clock, unsigned* mhz) {
  ENTER(nvmlDeviceGetMaxClockInfo);
  return Clock(device, clock, mhz, true);
}
int nvmlDeviceGetMaxPcieLinkGeneration(const void* device, unsigned* generation) {
  ENTER(nvmlDeviceGetMaxPcieLinkGeneration);
  return Set(device, generation, IsHopper() ? 5U : 4U);
}
int nvmlDeviceGetMaxPcieLinkWidth(const void* device, unsigned* width) {
  ENTER(nvmlDeviceGetMaxPcieLinkWidth);
  return Set(device, width, 16U);
}
int nvmlDeviceGetNvLinkState(const void* device, unsigned link, int* active) {
  ENTER(nvmlDeviceGetNvLinkState);
  return link < Links() ? Set(device, active, 1) : static_cast<int>(kInvalidArgument);
}
int nvmlDeviceGetNvLinkVersion(const void* device, unsigned link, unsigned* version) {
  ENTER(nvmlDeviceGetNvLinkVersion);
  if (link >= Links()) return kInvalidArgument;
  return Set(device, version, IsHopper() ? 4U : 3U);
}
int nvmlDeviceGetNvLinkRemoteDeviceType(const void* device, unsigned link, int* type) {
  ENTER(nvmlDeviceGetNvLinkRemoteDeviceType);
  return link < Links() ? Set(device, type, 2) : static_cast<int>(kInvalidArgument);
}
int nvmlDeviceGetTopologyCommonAncestor(const void* a, const void* b, int* level) {
  ENTER(nvmlDeviceGetTopologyCommonAncestor);
  return OrdinalOf(a) < 0 ? static_cast<int>(kInvalidArgument) : Set(b, level, 40);
}
int nvmlDeviceGetP2PStatus(const void* a, const void* b, int capability, int* status) {
  ENTER(nvmlDeviceGetP2PStatus);
  if (OrdinalOf(a) < 0 || capability < 0 || capability > 4) return kInvalidArgument;
  return Set(b, status, 0);
}
}
