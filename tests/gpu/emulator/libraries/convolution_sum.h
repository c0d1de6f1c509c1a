// Convolutions of cuDNN as sums of products in a stated order.
//
// Role: what the graph engines (cudnn_engines.h) and the older functions (cudnn_legacy.cc) compute.
// Summands are numbered by channel, row, column of the filter forward, by filter, row, column
// backward to the data, and by image, row, column backward to the filter, whatever the layout.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CONVOLUTION_SUM_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CONVOLUTION_SUM_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "tests/gpu/emulator/libraries/elements.h"
#include "tests/gpu/emulator/libraries/sums.h"

namespace rharness {

struct ConvolutionOperand {
  Element element = Element::kF32;
  std::array<std::int64_t, 4> dims{}, strides{};
  std::uint64_t Bytes() const;  // from the first element to the last
};

enum class PassKind { kForward, kBackwardData, kBackwardFilter };
struct ConvolutionCall {
  std::string_view name;
  int device = 0;
  PassKind pass = PassKind::kForward;
  SumOrder order;
  int places = 0;  // of tensor cores; 0: none
  std::int64_t padding = 0;
  ConvolutionOperand x, w, y;
  void* x_at = nullptr;
  void* w_at = nullptr;
  void* y_at = nullptr;
};

// Stride and dilation 1, of one size in both dimensions: y has the size that x and w give it.
bool ShapesFit(const ConvolutionOperand& x, const ConvolutionOperand& w,
               const ConvolutionOperand& y, std::int64_t padding);

// False after a fault of the device.
bool RunConvolution(const ConvolutionCall& call);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CONVOLUTION_SUM_H_
