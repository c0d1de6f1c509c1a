// A stand-in for NVIDIA's management library: two GPUs, one NVLink up.
#include <cstdio>
#include <cstring>

extern "C" {

struct FakeMemory {
  unsigned long long total, free, used;
};

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* out, unsigned size) {
  std::snprintf(out, size, "580.65.06");
  return 0;
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int devices[2] = {0, 1};
  *device = &devices[index];
  return 0;
}
int nvmlDeviceGetName(void*, char* out, unsigned size) {
  std::snprintf(out, size, "NVIDIA H200");
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* out, unsigned size) {
  std::snprintf(out, size, "GPU-%d", *static_cast<int*>(device));
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, FakeMemory* memory) {
  *memory = {150754820096ULL, 1, 2};
  return 0;
}
int nvmlDeviceGetNumGpuCores(void*, unsigned* cores) {
  *cores = 16896;
  return 0;
}
int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return 0;
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  if (*static_cast<int*>(device) == 1) return 3;  // not supported
  *current = 0;
  *pending = 1;
  return 0;
}
struct FakePci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};
int nvmlDeviceGetPciInfo_v3(void* device, FakePci* pci) {
  *pci = {};
  pci->bus = *static_cast<int*>(device) == 0 ? 0x17 : 0xe1;
  return 0;
}
int nvmlDeviceGetComputeMode(void*, unsigned* mode) {
  *mode = 3;
  return 0;
}
int nvmlDeviceGetNvLinkState(void* device, unsigned link, int* state) {
  if (link > 3) return 2;
  *state = *static_cast<int*>(device) == 1 && link == 3 ? 1 : 0;
  return 0;
}
}
