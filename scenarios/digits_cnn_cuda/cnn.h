// The convolutional network: its shapes, its parameters and what a step must move at least. The one
// place that says so, for the CPU's path and the GPU's alike; no arithmetic of the network is here.
//
//   image [1, 8, 8] -> conv 3x3 -> ReLU -> conv 3x3 -> ReLU -> max pool 2x2 -> linear -> ReLU
//   -> linear -> softmax cross-entropy
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_CNN_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_CNN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scenarios/common/network.h"

namespace rharness::scenarios {

inline constexpr std::size_t kSide = 8;  // rows and columns of an image, and of every feature map
inline constexpr std::size_t kArea = kSide * kSide;
inline constexpr std::size_t kKernel = 3;  // rows and columns of a filter; padding keeps kSide
inline constexpr std::size_t kPad = 1;
inline constexpr std::size_t kPooledSide = kSide / 2;
inline constexpr std::size_t kPooledArea = kPooledSide * kPooledSide;
static_assert(kArea == kPixels);

struct CnnShape {
  std::size_t channels =
      16;  // feature maps after the first convolution; twice as many after the second
  std::size_t hidden = 64;  // units between the two linear layers

  std::size_t channels1() const { return channels; }
  std::size_t channels2() const { return 2 * channels; }
  std::size_t features() const { return channels2() * kPooledArea; }
};

// The parameters, in the order of their names: that of the flat buffer, of the draw and of the
// checkpoint.
enum CnnTensor : std::size_t {
  kConv1Bias,    // [channels1]
  kConv1Weight,  // [channels1, 1, 3, 3]
  kConv2Bias,    // [channels2]
  kConv2Weight,  // [channels2, channels1, 3, 3]
  kFc1Bias,      // [hidden]
  kFc1Weight,    // [hidden, features]; a feature map after the other, row by row
  kFc2Bias,      // [kClasses]
  kFc2Weight,    // [kClasses, hidden]
  kCnnTensors,
};

struct TensorSpec {
  std::string_view name;
  std::vector<std::size_t> shape;
  std::size_t inputs;  // terms of the sum that the layer makes of each output
  std::size_t offset;  // of its first value in the flat buffer
  std::size_t size;    // values
};

// Where each parameter lies in one flat buffer of `total` values, without gaps.
struct CnnLayout {
  std::array<TensorSpec, kCnnTensors> tensors;
  std::size_t total = 0;
};

CnnLayout LayoutOf(const CnnShape& shape);

// Uniform over +-1/sqrt(inputs), drawn tensor by tensor from the init stream of `seed`.
std::vector<float> InitialCnn(const CnnLayout& layout, std::uint64_t seed);

// The tensors of a checkpoint; `flat` holds layout.total values.
std::vector<Tensor> TensorsOf(const CnnLayout& layout, const std::vector<float>& flat);

// Part `index` of `parts` of a batch, cut so that the parts differ by one image at most, the larger
// ones first. A part may be empty.
Batch PartOf(const Batch& batch, std::size_t parts, std::size_t index);

// Bytes that one step over `images` must move between a device's memory and its cores when every
// array is read and written once by whoever needs it and nothing stays in a cache: a floor under
// the time of a step, at the memory's bandwidth.
double StepBytesFloor(const CnnShape& shape, std::size_t images);

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_CNN_H_
