// A management library that names one GPU and its driver's version, for records of runs on the
// emulated driver and on the next one.
#include <cstdio>
#include <cstring>

namespace {

#ifdef EMULATED_NEXT_DRIVER
constexpr char kDriver[] = "590.10.01";
constexpr int kCuda = 13010;
#else
constexpr char kDriver[] = "580.65.06";
constexpr int kCuda = 13000;
#endif

int device = 0;

int Say(const char* text, char* out, unsigned length) {
  constexpr int kInsufficientSize = 7;
  if (length <= std::strlen(text)) return kInsufficientSize;
  std::strcpy(out, text);
  return 0;
}

}  // namespace

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* out, unsigned length) { return Say(kDriver, out, length); }
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = kCuda;
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** handle) {
  *handle = &device;
  return 0;
}
int nvmlDeviceGetName(void*, char* out, unsigned length) {
  return Say("Emulated H100", out, length);
}
int nvmlDeviceGetUUID(void*, char* out, unsigned length) {
  return Say("GPU-00000000-0000-0000-0000-000000000001", out, length);
}
int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return 0;
}
}
