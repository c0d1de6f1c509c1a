// A driver whose device memory is the host's, and a cuBLAS that races: without a workspace of the
// stream or a setting in CUBLAS_WORKSPACE_CONFIG, every fourth product of a handle is another.
// Computes nothing else. One source for all three libraries.
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {

struct Handle {
  bool has_setting = false;
  bool has_workspace = false;
  int products = 0;
};

}  // namespace

extern "C" {
int cuInit(unsigned int) { return 0; }
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuGetErrorName(int, const char**) { return 0; }
int cuGetErrorString(int, const char**) { return 0; }
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
int cuDeviceGetAttribute(int* value, int, int) {
  *value = 9;
  return 0;
}
int cuDevicePrimaryCtxRetain(void**, int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxSynchronize() { return 0; }
int cuMemAlloc_v2(void** address, std::size_t bytes) {
  *address = std::malloc(bytes);
  return 0;
}
int cuMemFree_v2(void* address) {
  std::free(address);
  return 0;
}
int cuMemcpyHtoD_v2(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return 0;
}
int cuMemsetD8_v2(void* to, unsigned char value, std::size_t bytes) {
  std::memset(to, value, bytes);
  return 0;
}
int cuStreamCreate(void** stream, unsigned int) {
  *stream = std::malloc(1);
  return 0;
}
int cuStreamDestroy_v2(void* stream) {
  std::free(stream);
  return 0;
}
int cublasCreate_v2(void** handle) {
  *handle = new Handle{.has_setting = std::getenv("CUBLAS_WORKSPACE_CONFIG") != nullptr};
  return 0;
}
int cublasDestroy_v2(void* handle) {
  delete static_cast<Handle*>(handle);
  return 0;
}
int cublasGetVersion_v2(void*, int* version) {
  *version = 130100;
  return 0;
}
// Gives up the workspace, as the real one does.
int cublasSetStream_v2(void* handle, void*) {
  static_cast<Handle*>(handle)->has_workspace = false;
  return 0;
}
int cublasSetWorkspace_v2(void* handle, void*, std::size_t) {
  static_cast<Handle*>(handle)->has_workspace = true;
  return 0;
}
int cublasGemmEx(void* handle, int, int, int, int, int, const void*, const void*, int, int,
                 const void*, int, int, const void*, void* c, int, int, int, int) {
  Handle& one = *static_cast<Handle*>(handle);
  const bool raced = ++one.products % 4 == 0 && !one.has_setting && !one.has_workspace;
  *static_cast<float*>(c) = raced ? 2.0F : 1.0F;
  return 0;
}
std::size_t cublasLtGetVersion() { return 130100; }
int cublasLtCreate(void** handle) {
  *handle = nullptr;
  return 0;
}
#define FAKE(name) \
  int name() { return 999; }
FAKE(cuModuleLoadDataEx)
FAKE(cuModuleUnload)
FAKE(cuModuleGetFunction)
FAKE(cuLinkCreate_v2)
FAKE(cuLinkAddData_v2)
FAKE(cuLinkComplete)
FAKE(cuLinkDestroy)
FAKE(cuStreamSynchronize)
FAKE(cuEventCreate)
FAKE(cuEventDestroy_v2)
FAKE(cuEventRecord)
FAKE(cuStreamWaitEvent)
FAKE(cuLaunchKernel)
FAKE(cublasGetStatusName)
FAKE(cublasGetStatusString)
FAKE(cublasSetMathMode)
FAKE(cublasSetAtomicsMode)
FAKE(cublasSsymv_v2)
FAKE(cublasLtGetStatusName)
FAKE(cublasLtGetStatusString)
FAKE(cublasLtDestroy)
FAKE(cublasLtMatmulDescCreate)
FAKE(cublasLtMatmulDescDestroy)
FAKE(cublasLtMatmulDescSetAttribute)
FAKE(cublasLtMatrixLayoutCreate)
FAKE(cublasLtMatrixLayoutDestroy)
FAKE(cublasLtMatmulPreferenceCreate)
FAKE(cublasLtMatmulPreferenceDestroy)
FAKE(cublasLtMatmulPreferenceSetAttribute)
FAKE(cublasLtMatmulAlgoGetHeuristic)
FAKE(cublasLtMatmulAlgoConfigGetAttribute)
FAKE(cublasLtMatmulAlgoConfigSetAttribute)
FAKE(cublasLtMatmulAlgoCapGetAttribute)
FAKE(cublasLtMatmulAlgoInit)
FAKE(cublasLtMatmulAlgoCheck)
FAKE(cublasLtMatmul)
}
