// A convolutional layer by cuDNN: 3x3 filters, padded, over maps of kSide x kSide.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_CONVOLUTION_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_CONVOLUTION_H_

#include <cudnn.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "scenarios/digits_cnn_cuda/gpu/device_buffer.h"

namespace rharness::scenarios {

struct ConvolutionSettings {
  bool deterministic;  // only algorithms that cuDNN calls deterministic
  bool autotune;       // the fastest measured, for each number of images anew
  bool tf32;
};

class Convolution {
 public:
  // On the current device; calls go to the handle's stream.
  Convolution(cudnnHandle_t handle, std::size_t inputs, std::size_t outputs,
              const ConvolutionSettings& settings);
  ~Convolution();
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;

  // y [images, outputs, kSide, kSide] of x [images, inputs, kSide, kSide]; filter [outputs, inputs,
  // 3, 3]. images > 0.
  void Forward(std::size_t images, const float* x, const float* filter, float* y);
  // From the slope of y to the gradient of the filter.
  void FilterGradient(std::size_t images, const float* x, const float* y_slope, float* gradient);
  // From the slope of y to that of x.
  void InputSlope(std::size_t images, const float* filter, const float* y_slope, float* x_slope);

  // The algorithms taken so far, such as "32: fwd 1 filter 1 data 1, 30: fwd 1", by their numbers
  // in cudnn_ops.h, for each number of images.
  std::string Algorithms() const;

 private:
  // Descriptors and algorithms for one number of images; an algorithm is chosen at its first use.
  struct Plan {
    explicit Plan(std::size_t images, std::size_t inputs, std::size_t outputs);
    ~Plan();
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    cudnnTensorDescriptor_t x = nullptr;
    cudnnTensorDescriptor_t y = nullptr;
    std::optional<cudnnConvolutionFwdAlgo_t> forward;
    std::optional<cudnnConvolutionBwdFilterAlgo_t> filter;
    std::optional<cudnnConvolutionBwdDataAlgo_t> data;
  };

  Plan& PlanFor(std::size_t images);
  // Room for an algorithm; the layer's calls share it, one after the other on one stream.
  void Reserve(std::size_t bytes);

  cudnnHandle_t handle_;
  std::size_t inputs_;
  std::size_t outputs_;
  ConvolutionSettings settings_;
  cudnnFilterDescriptor_t filter_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
  std::map<std::size_t, std::unique_ptr<Plan>> plans_;
  DeviceBuffer<std::byte> workspace_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_CONVOLUTION_H_
