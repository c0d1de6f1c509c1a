// Calls into CUDA's libraries that must succeed: a training program has nothing to do but to say
// what failed and end.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_CUDA_CALL_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_CUDA_CALL_H_

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace rharness::scenarios {

// What a status means; empty for success.
inline std::string Failure(cudaError_t status) {
  if (status == cudaSuccess) return "";
  return fmt::format("{}: {}", cudaGetErrorName(status), cudaGetErrorString(status));
}

inline std::string Failure(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "" : cublasGetStatusString(status);
}

inline std::string Failure(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS ? "" : cudnnGetErrorString(status);
}

// Ends the program with status 1 and "error: CALL: FAILURE" on stderr unless `failure` is empty.
// Destructors do not run: the device may be past use, and the driver frees what a process held.
inline void EndOnFailure(const char* call, const std::string& failure) {
  if (failure.empty()) return;
  fmt::print(stderr, "error: {}: {}\n", call, failure);
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace rharness::scenarios

#define RHARNESS_CUDA_CALL(call) \
  ::rharness::scenarios::EndOnFailure(#call, ::rharness::scenarios::Failure(call))

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_CUDA_CALL_H_
