// A driver of no device, for tests of the wrapper: every function is there (but one, in the
// incomplete kind), cuInit fails as the kind says, and nothing else is meant to be called.
namespace {

#if defined(FAKE_no_device)
constexpr int kInit = 100;
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
FAKE(cuDriverGetVersion)
FAKE(cuDeviceGetCount)
FAKE(cuDeviceGet)
FAKE(cuDeviceGetName)
FAKE(cuDeviceGetAttribute)
FAKE(cuDevicePrimaryCtxRetain)
FAKE(cuCtxSetCurrent)
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
