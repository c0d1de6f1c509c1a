// CUB's own dispatch, compiled by the toolkit's compiler. The only file with its headers; what they
// throw ends here.
#include <cuda_runtime_api.h>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <exception>

#include "probes/gpu/cub_launch.h"

namespace rharness {
namespace {

Status Check(cudaError_t result, std::string_view call) {
  if (result == cudaSuccess) return {};
  // The error stays with the runtime until it is fetched, and would be the next call's.
  cudaGetLastError();
  return InternalError(
      std::string(call) + ": " + cudaGetErrorName(result) + ": " + cudaGetErrorString(result),
      "CUDA runtime");
}

std::string VersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// Device memory that CUB works in; freed with the object.
class Scratch {
 public:
  Scratch() = default;
  ~Scratch() { cudaFree(pointer_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  Status Allocate(std::size_t bytes) {
    return Check(cudaMalloc(&pointer_, bytes == 0 ? 1 : bytes), "cudaMalloc");
  }
  void* pointer() const { return pointer_; }

 private:
  void* pointer_ = nullptr;
};

// CUB asks how much memory it needs when it is given none. One piece serves all rows: on one stream
// they follow one another.
template <class T>
Status SumInOrderOfDevice(const CubRows<T>& rows, T* out) {
  std::size_t bytes = 0;
  RETURN_IF_ERROR(Check(cub::DeviceReduce::Sum(nullptr, bytes, rows.rows, out, rows.n),
                        "cub::DeviceReduce::Sum"));
  Scratch scratch;
  RETURN_IF_ERROR(scratch.Allocate(bytes));
  for (int i = 0; i < rows.count; ++i) {
    const T* row = rows.rows + static_cast<std::size_t>(i) * rows.stride;
    RETURN_IF_ERROR(Check(cub::DeviceReduce::Sum(scratch.pointer(), bytes, row, out + i, rows.n),
                          "cub::DeviceReduce::Sum"));
  }
  return Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize after cub::DeviceReduce::Sum");
}

#if CCCL_VERSION >= 3001000
template <class T, class Guarantee>
Status SumAsRequired(const CubRows<T>& rows, T* out, Guarantee guarantee) {
  for (int i = 0; i < rows.count; ++i) {
    const T* row = rows.rows + static_cast<std::size_t>(i) * rows.stride;
    RETURN_IF_ERROR(
        Check(cub::DeviceReduce::Sum(row, out + i, rows.n, ::cuda::execution::require(guarantee)),
              "cub::DeviceReduce::Sum"));
  }
  return Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize after cub::DeviceReduce::Sum");
}
#endif

template <class T>
Status Sum(CubOrder order, const CubRows<T>& rows, T* out) {
  if (order == CubOrder::kRunToRun) return SumInOrderOfDevice(rows, out);
#if CCCL_VERSION >= 3001000
  namespace determinism = ::cuda::execution::determinism;
  // CUB takes its memory itself here, and throws when there is none.
  try {
    if (order == CubOrder::kGpuToGpu) return SumAsRequired(rows, out, determinism::gpu_to_gpu);
    return SumAsRequired(rows, out, determinism::not_guaranteed);
  } catch (const std::exception& error) {
    return InternalError(error.what(), "cub::DeviceReduce::Sum");
  }
#else
  return Unsupported(std::string(CubOrderName(order)) + " is not in CCCL " + CcclVersion());
#endif
}

}  // namespace

bool CubOffers(CubOrder order) { return order == CubOrder::kRunToRun || CCCL_VERSION >= 3001000; }

std::string CcclVersion() {
  return std::to_string(CCCL_MAJOR_VERSION) + "." + std::to_string(CCCL_MINOR_VERSION) + "." +
         std::to_string(CCCL_PATCH_VERSION);
}

int CubRuntimeVersion() { return CUDART_VERSION; }

Status StartCub(int ordinal, int driver_version) {
  const Status started = Check(cudaSetDevice(ordinal), "cudaSetDevice");
  if (started.ok()) return {};
  if (driver_version / 1000 >= CUDART_VERSION / 1000) return started.error();
  return Unsupported("CUB runs on the CUDA runtime " + VersionText(CUDART_VERSION) +
                         ", which needs a driver of CUDA " + std::to_string(CUDART_VERSION / 1000) +
                         ".0 or newer; this one is of " + VersionText(driver_version) + ": " +
                         started.error().message,
                     started.error().where);
}

Status CubSum(CubOrder order, const CubRows<float>& rows, float* out) {
  return Sum(order, rows, out);
}

Status CubSum(CubOrder order, const CubRows<double>& rows, double* out) {
  return Sum(order, rows, out);
}

Status CubInclusiveSum(const float* in, float* out, int n) {
  std::size_t bytes = 0;
  RETURN_IF_ERROR(Check(cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n),
                        "cub::DeviceScan::InclusiveSum"));
  Scratch scratch;
  RETURN_IF_ERROR(scratch.Allocate(bytes));
  RETURN_IF_ERROR(Check(cub::DeviceScan::InclusiveSum(scratch.pointer(), bytes, in, out, n),
                        "cub::DeviceScan::InclusiveSum"));
  return Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize after cub::DeviceScan");
}

}  // namespace rharness
