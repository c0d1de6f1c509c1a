// The CUDA driver, libcuda.so.1: typed functions and the text of its errors.
//
// Role: the ground of every probe that needs a device. Not here: contexts and buffers (gpu/device).
#ifndef RHARNESS_PROBES_LIBRARY_CUDA_DRIVER_H_
#define RHARNESS_PROBES_LIBRARY_CUDA_DRIVER_H_

#include <cuda.h>

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "probes/library/symbols.h"

#define RHARNESS_CUDA_DRIVER(X) \
  X(cuInit)                     \
  X(cuDriverGetVersion)         \
  X(cuGetErrorName)             \
  X(cuGetErrorString)           \
  X(cuDeviceGetCount)           \
  X(cuDeviceGet)                \
  X(cuDeviceGetName)            \
  X(cuDeviceGetAttribute)       \
  X(cuDevicePrimaryCtxRetain)   \
  X(cuCtxSetCurrent)            \
  X(cuCtxSynchronize)           \
  X(cuModuleLoadDataEx)         \
  X(cuModuleUnload)             \
  X(cuModuleGetFunction)        \
  X(cuLinkCreate)               \
  X(cuLinkAddData)              \
  X(cuLinkComplete)             \
  X(cuLinkDestroy)              \
  X(cuMemAlloc)                 \
  X(cuMemFree)                  \
  X(cuMemcpyHtoD)               \
  X(cuMemcpyDtoH)               \
  X(cuMemsetD8)                 \
  X(cuStreamCreate)             \
  X(cuStreamDestroy)            \
  X(cuStreamSynchronize)        \
  X(cuEventCreate)              \
  X(cuEventDestroy)             \
  X(cuEventRecord)              \
  X(cuStreamWaitEvent)          \
  X(cuLaunchKernel)

namespace rharness {

struct CudaDriverFunctions {
  RHARNESS_CUDA_DRIVER(RHARNESS_DECLARE)
};

class CudaDriver {
 public:
  // Loads and initialises. Errors: not_found (no driver, no device, or the toolkit's stub in its
  // place: nothing to probe), unsupported (a function is missing), io, internal (with the driver's
  // own text).
  static Result<std::shared_ptr<CudaDriver>> Open(const std::vector<std::filesystem::path>& paths);

  // internal: "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory".
  Status Check(CUresult result, std::string_view call) const;

  int version() const { return version_; }  // 13000 is CUDA 13.0: what the driver supports
  const Library& library() const { return *library_; }

  CudaDriverFunctions f;

 private:
  CudaDriver() = default;
  Status Start();

  std::shared_ptr<Library> library_;
  int version_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_CUDA_DRIVER_H_
