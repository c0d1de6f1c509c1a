// What one thread of each of our kernels does. Host code can call it, too, thread after thread, so
// that the arithmetic and the indices are tested without a GPU.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_KERNEL_BODIES_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_KERNEL_BODIES_H_

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "scenarios/digits_cnn_cuda/gpu/kernels.h"

#ifdef __CUDACC__
#define RHARNESS_KERNEL_BODY __host__ __device__ inline
#else
#define RHARNESS_KERNEL_BODY inline
#endif

namespace rharness::scenarios::body {

// Value `i` of `values`.
RHARNESS_KERNEL_BODY void BiasRelu(const Planes& planes, const float* bias, std::size_t i,
                                   float* values) {
  const float value = values[i] + bias[i / planes.area % planes.channels];
  values[i] = value > 0 ? value : 0.0f;
}

RHARNESS_KERNEL_BODY void ReluSlope(const float* values, std::size_t i, float* slope) {
  if (!(values[i] > 0)) slope[i] = 0;
}

// The first of the largest of the 2x2 values that pooled value `i` is made of.
RHARNESS_KERNEL_BODY std::size_t Peak(const float* input, std::size_t side, std::size_t i) {
  const std::size_t pooled_side = side / 2;
  const std::size_t cell = i % (pooled_side * pooled_side);
  const std::size_t corner = i / (pooled_side * pooled_side) * side * side +
                             cell / pooled_side * 2 * side + cell % pooled_side * 2;
  const std::size_t others[3] = {corner + 1, corner + side, corner + side + 1};
  std::size_t peak = corner;
  for (const std::size_t other : others) {
    if (input[other] > input[peak]) peak = other;
  }
  return peak;
}

RHARNESS_KERNEL_BODY void MaxPool(const float* input, std::size_t side, std::size_t i,
                                  float* output) {
  output[i] = input[Peak(input, side, i)];
}

// Writes all four slopes below pooled value `i`, which no other thread touches. `input` is what a
// ReLU gave, and the slope is that of what came before the ReLU.
RHARNESS_KERNEL_BODY void MaxPoolReluSlope(const float* input, const float* output_slope,
                                           std::size_t side, std::size_t i, float* input_slope) {
  const std::size_t pooled_side = side / 2;
  const std::size_t cell = i % (pooled_side * pooled_side);
  const std::size_t corner = i / (pooled_side * pooled_side) * side * side +
                             cell / pooled_side * 2 * side + cell % pooled_side * 2;
  const std::size_t peak = Peak(input, side, i);
  input_slope[corner] = 0;
  input_slope[corner + 1] = 0;
  input_slope[corner + side] = 0;
  input_slope[corner + side + 1] = 0;
  if (input[peak] > 0) input_slope[peak] = output_slope[i];
}

// Image `i`: its loss, whether its first largest logit is that of its label, and `scale` times the
// slope of its loss, which takes the place of its logits.
RHARNESS_KERNEL_BODY void SoftmaxLoss(const SoftmaxArguments& a, std::size_t i) {
  float* row = a.logits + i * a.classes;
  std::size_t best = 0;
  for (std::size_t c = 0; c < a.classes; ++c) {
    row[c] += a.bias[c];
    if (row[c] > row[best]) best = c;
  }
  const std::size_t label = a.labels[i];
  const float peak = row[best];
  const float label_logit = row[label] - peak;
  float sum = 0;
  for (std::size_t c = 0; c < a.classes; ++c) {
    row[c] = expf(row[c] - peak);
    sum += row[c];
  }
  for (std::size_t c = 0; c < a.classes; ++c) {
    row[c] = (row[c] / sum - (c == label ? 1.0f : 0.0f)) * a.scale;
  }
  a.scores[i] = logf(sum) - label_logit;
  a.scores[a.images + i] = best == label ? 1.0f : 0.0f;
}

// Where value `i` of a channel's images * area values lies.
RHARNESS_KERNEL_BODY std::size_t ChannelIndex(const Planes& planes, std::size_t channel,
                                              std::size_t i) {
  return (i / planes.area * planes.channels + channel) * planes.area + i % planes.area;
}

// The sum of every `threads`-th value of a channel, from `thread` on.
RHARNESS_KERNEL_BODY float PartialSum(const Planes& planes, const float* values,
                                      std::size_t channel, std::size_t thread,
                                      std::size_t threads) {
  float sum = 0;
  for (std::size_t i = thread; i < planes.images * planes.area; i += threads) {
    sum += values[ChannelIndex(planes, channel, i)];
  }
  return sum;
}

RHARNESS_KERNEL_BODY void Sgd(const SgdArguments& a, std::size_t i) {
  a.velocity[i] = a.momentum * a.velocity[i] + a.gradient[i];
  a.parameters[i] -= a.learning_rate * a.velocity[i];
}

}  // namespace rharness::scenarios::body

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_KERNEL_BODIES_H_
