// A driver whose one device is the host's memory, for tests of what goes on above it: memory is
// allocated, written and read; modules load, and no kernel is in them.
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kNotFound = 500;
constexpr int kMajor = 75, kMinor = 76, kMultiprocessors = 16;  // numbers of attributes

void* At(std::uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

extern "C" {
int cuInit(unsigned int) { return 0; }
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuGetErrorName(int error, const char** text) {
  *text = error == kNotFound ? "CUDA_ERROR_NOT_FOUND" : "CUDA_ERROR_UNKNOWN";
  return 0;
}
int cuGetErrorString(int error, const char** text) {
  *text = error == kNotFound ? "named symbol not found" : "unknown error";
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int) {
  *device = 0;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "a device of host memory", static_cast<std::size_t>(size));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == kMajor             ? 9
           : attribute == kMinor           ? 0
           : attribute == kMultiprocessors ? 4
                                           : 1;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = nullptr;
  return 0;
}
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxSynchronize() { return 0; }
int cuModuleLoadDataEx(void** module, const void*, unsigned int, void*, void**) {
  *module = nullptr;
  return 0;
}
int cuModuleGetFunction(void**, void*, const char*) { return kNotFound; }
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  *address = reinterpret_cast<std::uint64_t>(std::malloc(bytes));
  return *address == 0 ? 2 : 0;
}
int cuMemFree_v2(std::uint64_t address) {
  std::free(At(address));
  return 0;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  std::memcpy(At(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  std::memcpy(to, At(from), bytes);
  return 0;
}
int cuMemsetD8_v2(std::uint64_t to, unsigned char value, std::size_t bytes) {
  std::memset(At(to), value, bytes);
  return 0;
}
#define FAKE(name) \
  int name() { return 999; }
FAKE(cuModuleUnload)
FAKE(cuLinkCreate_v2)
FAKE(cuLinkAddData_v2)
FAKE(cuLinkComplete)
FAKE(cuLinkDestroy)
FAKE(cuStreamCreate)
FAKE(cuStreamDestroy_v2)
FAKE(cuStreamSynchronize)
FAKE(cuEventCreate)
FAKE(cuEventDestroy_v2)
FAKE(cuEventRecord)
FAKE(cuStreamWaitEvent)
FAKE(cuLaunchKernel)
}
