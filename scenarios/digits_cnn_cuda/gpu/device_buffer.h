// Memory of the current device, freed with its owner.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_DEVICE_BUFFER_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_DEVICE_BUFFER_H_

#include <cstddef>
#include <utility>

#include "scenarios/digits_cnn_cuda/gpu/cuda_call.h"

namespace rharness::scenarios {

template <typename T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  // `count` values, all bytes zero; that memory is there, and zero, when this returns.
  explicit DeviceBuffer(std::size_t count) {
    void* memory = nullptr;
    const std::size_t bytes = (count == 0 ? 1 : count) * sizeof(T);
    RHARNESS_CUDA_CALL(cudaMalloc(&memory, bytes));
    RHARNESS_CUDA_CALL(cudaMemset(memory, 0, bytes));
    RHARNESS_CUDA_CALL(cudaDeviceSynchronize());
    data_ = static_cast<T*>(memory);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~DeviceBuffer() { cudaFree(data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_DEVICE_BUFFER_H_
