// A driver of no device, for tests of the wrapper: every function is there (but one, in the
// incomplete kind), cuInit fails as the kind says, and nothing else is meant to be called. The old
// kind starts, tells CUDA 12.4 and one device of compute capability 9.0, and computes nothing.
namespace {

#if defined(FAKE_no_device)
constexpr int kInit = 100;
#elif defined(FAKE_old)
constexpr int kInit = 0;
#else
constexpr int kInit = 999;
#endif

}  // namespace

extern "C" {
int cuInit(unsigned int) { return kInit; }
int cuGetErrorName(int error, const char** text) {
  *text = error == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN";
  return 0;
}
int cuGetErrorString(int error, const char** text) {
  *text = error == 100 ? "no CUDA-capable device is detected" : "unknown error";
  return 0;
}
#define FAKE(name) \
  int name() { return 999; }
#if defined(FAKE_old)
int cuDriverGetVersion(int* version) {
  *version = 12040;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char* name, int, int) {
  name[0] = 'F';
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : 0;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
  return 0;
}
int cuDevicePrimaryCtxRetain(void**, int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }
#else
FAKE(cuDriverGetVersion)
FAKE(cuDeviceGetCount)
FAKE(cuDeviceGet)
FAKE(cuDeviceGetName)
FAKE(cuDeviceGetAttribute)
FAKE(cuDevicePrimaryCtxRetain)
FAKE(cuCtxSetCurrent)
#endif
FAKE(cuCtxSynchronize)
FAKE(cuModuleLoadDataEx)
FAKE(cuModuleUnload)
FAKE(cuModuleGetFunction)
FAKE(cuLinkCreate_v2)
FAKE(cuLinkAddData_v2)
FAKE(cuLinkComplete)
FAKE(cuLinkDestroy)
FAKE(cuMemAlloc_v2)
FAKE(cuMemFree_v2)
FAKE(cuMemcpyHtoD_v2)
FAKE(cuMemcpyDtoH_v2)
FAKE(cuMemsetD8_v2)
FAKE(cuStreamCreate)
FAKE(cuStreamDestroy_v2)
FAKE(cuStreamSynchronize)
FAKE(cuEventCreate)
FAKE(cuEventDestroy_v2)
FAKE(cuEventRecord)
FAKE(cuStreamWaitEvent)
#if !defined(FAKE_incomplete)
FAKE(cuLaunchKernel)
#endif
}
