// cuBLAS reads column by column, and so sees the transpose of a row-major matrix: it is asked for
// product^T = right^T left^T.
#include "scenarios/digits_cnn_cuda/gpu/products.h"

#include "scenarios/digits_cnn_cuda/gpu/cuda_call.h"

namespace rharness::scenarios {

Products::Products(bool tf32) {
  RHARNESS_CUDA_CALL(cublasCreate(&handle_));
  RHARNESS_CUDA_CALL(
      cublasSetMathMode(handle_, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH));
}

Products::~Products() { cublasDestroy(handle_); }

void Products::Multiply(const DeviceMatrix& left, const DeviceMatrix& right, float* product,
                        cudaStream_t stream) {
  const auto rows = static_cast<int>(left.transposed ? left.columns : left.rows);
  const auto inner = static_cast<int>(left.transposed ? left.rows : left.columns);
  const auto columns = static_cast<int>(right.transposed ? right.rows : right.columns);
  const float one = 1;
  const float zero = 0;
  // Setting the stream gives back the handle's own workspace, which is what the program wants.
  RHARNESS_CUDA_CALL(cublasSetStream(handle_, stream));
  RHARNESS_CUDA_CALL(cublasSgemm(handle_, right.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                                 left.transposed ? CUBLAS_OP_T : CUBLAS_OP_N, columns, rows, inner,
                                 &one, right.values, static_cast<int>(right.columns), left.values,
                                 static_cast<int>(left.columns), &zero, product, columns));
}

int Products::Version() const {
  int version = 0;
  RHARNESS_CUDA_CALL(cublasGetVersion(handle_, &version));
  return version;
}

}  // namespace rharness::scenarios
