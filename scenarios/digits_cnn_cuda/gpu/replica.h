// The network on one GPU: its parameters, and the passes over a part of a batch.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_REPLICA_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_REPLICA_H_

#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/digits_cnn_cuda/digits_cnn.h"
#include "scenarios/digits_cnn_cuda/gpu/convolution.h"
#include "scenarios/digits_cnn_cuda/gpu/device_buffer.h"
#include "scenarios/digits_cnn_cuda/gpu/kernels.h"
#include "scenarios/digits_cnn_cuda/gpu/products.h"

namespace rharness::scenarios {

// Every method makes the replica's device the current one. Work is queued on the replica's streams;
// only what returns values waits for it.
class Replica {
 public:
  // `capacity`: the most images at a time, more than 0.
  Replica(int device, const CnnSetup& setup, std::size_t capacity);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // Queues the gradient of the summed loss of `part` over `batch_images`, the images of the whole
  // step, into gradient(). An empty part has the gradient zero.
  void Differentiate(const Batch& part, std::size_t batch_images);
  // Queues the step along gradient().
  void Step(const SgdStep& step);
  // Queues the forward pass alone.
  void Infer(const Batch& part);
  // Waits for all that was queued; the score of the last part.
  Score Wait();
  std::vector<float> Parameters();

  float* gradient() { return gradient_.data(); }
  cudaStream_t stream() const { return stream_; }
  std::size_t capacity() const { return capacity_; }
  // "cublas", "cudnn", and the algorithms of "cudnn_conv1" and "cudnn_conv2".
  std::map<std::string, std::string> Software();

 private:
  // Arrays of one image after the other, in the order of the forward pass; all after their ReLU.
  // A slope is the derivative of the loss by the array before its ReLU.
  struct Activations {
    Activations(const CnnShape& shape, std::size_t capacity);
    DeviceBuffer<float> images, conv1, conv2, pooled, hidden, logits;
    DeviceBuffer<float> conv1_slope, conv2_slope, pooled_slope, hidden_slope;
    DeviceBuffer<std::uint8_t> labels;
    DeviceBuffer<float> scores;      // [2, images]: losses, right answers
    DeviceBuffer<float> score_sums;  // [2]
  };

  void Select() const;
  void Forward(const Batch& part, std::size_t batch_images);
  void Backward(std::size_t images);
  void BackwardLinear(std::size_t images);
  void BackwardConvolutions(std::size_t images);
  void Sum(const Planes& planes, const float* values, float* sums);
  // What is queued on `to` next waits for all that is on `from` now.
  void Order(cudaStream_t from, cudaStream_t to);
  const float* Parameter(CnnTensor tensor) const;
  float* Gradient(CnnTensor tensor);

  int device_;
  CnnShape shape_;
  CnnLayout layout_;
  bool tree_reduction_;
  std::size_t capacity_;
  std::size_t images_ = 0;         // of the part that scores are of
  cudaStream_t stream_ = nullptr;  // all work but that of side_
  cudaStream_t side_ = nullptr;    // weight gradients of the linear layers; may be stream_
  cudaEvent_t passed_ = nullptr;
  cudnnHandle_t cudnn_ = nullptr;
  std::unique_ptr<Products> products_;
  std::unique_ptr<Convolution> conv1_;
  std::unique_ptr<Convolution> conv2_;
  std::unique_ptr<Activations> act_;
  DeviceBuffer<float> parameters_;
  DeviceBuffer<float> gradient_;
  DeviceBuffer<float> velocity_;
};

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_REPLICA_H_
