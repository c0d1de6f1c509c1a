// A management library of two GPUs behind a switch of links, and one that is somebody else's.
// Kinds: without a function, without a driver, of another version than the driver; and a working
// one.
#include <cstdio>
#include <cstring>

namespace {

#if defined(FAKE_no_device)
constexpr int kInit = 9;
#elif defined(FAKE_broken)
constexpr int kInit = 18;
#else
constexpr int kInit = 0;
#endif

constexpr int kNotSupported = 3;
int devices[2] = {0, 1};

int Set(unsigned* out, unsigned value) {
  *out = value;
  return 0;
}

}  // namespace

extern "C" {
int nvmlInit_v2() { return kInit; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int result) {
  return result == 9 ? "Driver Not Loaded" : "Driver/library version mismatch";
}
#if !defined(FAKE_incomplete)
int nvmlSystemGetNVMLVersion(char* out, unsigned length) {
  std::snprintf(out, length, "13.580.65.06");
  return 0;
}
#endif
int nvmlDeviceGetCount_v2(unsigned* count) { return Set(count, 3); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index == 2) return 4;
  *device = &devices[index];
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  if (std::strcmp(bus, "00000000:1b:00.0") != 0) return 6;
  *device = &devices[0];
  return 0;
}
int nvmlDeviceGetEccMode(void*, int* current, int* pending) {
  *current = 1;
  *pending = 0;
  return 0;
}
int nvmlDeviceGetPersistenceMode(void*, int* mode) {
  *mode = 1;
  return 0;
}
int nvmlDeviceGetComputeMode(void*, int* mode) {
  *mode = 3;
  return 0;
}
int nvmlDeviceGetMigMode(void*, unsigned*, unsigned*) { return kNotSupported; }
int nvmlDeviceGetApplicationsClock(void*, int clock, unsigned* mhz) {
  return clock == 1 ? Set(mhz, 1500) : kNotSupported;
}
int nvmlDeviceGetMaxClockInfo(void*, int clock, unsigned* mhz) {
  return Set(mhz, clock == 1 ? 1980 : 3201);
}
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* generation) { return Set(generation, 5); }
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* width) { return Set(width, 16); }
int nvmlDeviceGetNvLinkState(void* device, unsigned link, int* active) {
  if (link >= 18) return 2;
  *active = device == &devices[1] || link < 16 ? 1 : 0;
  return 0;
}
int nvmlDeviceGetNvLinkVersion(void*, unsigned, unsigned* version) { return Set(version, 4); }
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int* type) {
  *type = 2;
  return 0;
}
int nvmlDeviceGetTopologyCommonAncestor(void*, void*, int* level) {
  *level = 40;
  return 0;
}
int nvmlDeviceGetP2PStatus(void*, void*, int capability, int* status) {
  *status = capability == 2 ? 0 : 5;
  return 0;
}
}
