// Products of row-major matrices by cuBLAS, in single precision.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_PRODUCTS_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_PRODUCTS_H_

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

namespace rharness::scenarios {

// A matrix in device memory, row by row without gaps.
struct DeviceMatrix {
  const float* values;
  std::size_t rows;
  std::size_t columns;
  bool transposed = false;  // take its transpose as the factor
};

inline DeviceMatrix Transposed(DeviceMatrix matrix) {
  matrix.transposed = !matrix.transposed;
  return matrix;
}

class Products {
 public:
  // A handle on the current device. TF32 only where `tf32` allows it.
  explicit Products(bool tf32);
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  // product = left * right, on `stream`. The columns of the one are the rows of the other.
  void Multiply(const DeviceMatrix& left, const DeviceMatrix& right, float* product,
                cudaStream_t stream);

  // CUBLAS_VERSION's spelling, such as 130100.
  int Version() const;

 private:
  cublasHandle_t handle_ = nullptr;
};

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_PRODUCTS_H_
