// Our own kernels, as calls that launch them. All pointers are device memory of the current device;
// arrays are row-major. A launch that is refused ends the program.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_KERNELS_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_KERNELS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace rharness::scenarios {

// The shape [images, channels, area] of an array.
struct Planes {
  std::size_t images;
  std::size_t channels;
  std::size_t area;
};

// values = max(0, values + bias), a bias for each channel.
void LaunchBiasRelu(const Planes& planes, const float* bias, float* values, cudaStream_t stream);

// slope = 0 where values, which a ReLU gave, are not positive.
void LaunchReluSlope(std::size_t count, const float* values, float* slope, cudaStream_t stream);

// output [planes, side/2, side/2]: the largest of each 2x2 of input [planes, side, side].
void LaunchMaxPool(std::size_t planes, std::size_t side, const float* input, float* output,
                   cudaStream_t stream);

// The slope of what came before the ReLU that gave `input` and the pooling of it. Writes all of
// input_slope.
void LaunchMaxPoolReluSlope(std::size_t planes, std::size_t side, const float* input,
                            const float* output_slope, float* input_slope, cudaStream_t stream);

struct SoftmaxArguments {
  std::size_t images;
  std::size_t classes;
  float scale;                 // of the slopes: one over the images of a step
  const float* bias;           // [classes], added to the logits
  const std::uint8_t* labels;  // [images], below classes
  float* logits;               // [images, classes]; becomes scale * (softmax - one_hot)
  float* scores;               // [2, images]: cross-entropies, then 1 for each right answer
};
void LaunchSoftmaxLoss(const SoftmaxArguments& arguments, cudaStream_t stream);

// sums [channels]: of each channel over images and area. By tree: a block a channel, in an order
// that depends on the shape alone. By atomics: in whatever order the threads arrive.
void LaunchSumTree(const Planes& planes, const float* values, float* sums, cudaStream_t stream);
void LaunchSumAtomic(const Planes& planes, const float* values, float* sums, cudaStream_t stream);

struct SgdArguments {
  std::size_t count;
  float learning_rate;
  float momentum;
  const float* gradient;
  float* velocity;    // velocity = momentum * velocity + gradient
  float* parameters;  // parameters -= learning_rate * velocity
};
void LaunchSgd(const SgdArguments& arguments, cudaStream_t stream);

// Threads of a block, and so leaves of the tree of LaunchSumTree.
inline constexpr std::size_t kBlockThreads = 256;

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_KERNELS_H_
