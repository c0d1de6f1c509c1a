// A cuBLAS of host memory that knows one product, fp16 to fp32 of A' B, and computes its first
// column, each element from its first term to its last in fp32. One source for it and cuBLASLt.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstdint>

#include "probes/gpu/number_type.h"

namespace {

float HalfAt(const void* matrix, int index) {
  const std::uint64_t bits = static_cast<const std::uint16_t*>(matrix)[index];
  return static_cast<float>(rharness::Decode(rharness::NumberType::kFp16, bits));
}

}  // namespace

extern "C" {
cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  *version = 130100;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t trans_a, cublasOperation_t trans_b,
                            int m, int, int k, const void*, const void* a, cudaDataType a_type,
                            int lda, const void* b, cudaDataType b_type, int, const void*, void* c,
                            cudaDataType c_type, int, cublasComputeType_t compute,
                            cublasGemmAlgo_t) {
  if (trans_a != CUBLAS_OP_T || trans_b != CUBLAS_OP_N || a_type != CUDA_R_16F ||
      b_type != CUDA_R_16F || c_type != CUDA_R_32F || compute != CUBLAS_COMPUTE_32F) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  for (int row = 0; row < m; ++row) {
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += HalfAt(a, row * lda + i) * HalfAt(b, i);
    static_cast<float*>(c)[row] = sum;
  }
  return CUBLAS_STATUS_SUCCESS;
}
std::size_t cublasLtGetVersion() { return 130100; }
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
}
