// A convolution of cuDNN as values: its shape, its tensors, data that distinguish orders of
// addition, masks, and the exact result for small integers.
//
// Role: the questions of the convolution probes, without a device. cudnn_run.h runs them.
#ifndef RHARNESS_PROBES_GPU_CONVOLUTION_H_
#define RHARNESS_PROBES_GPU_CONVOLUTION_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "probes/gpu/number_type.h"
#include "probes/library/cudnn_graph.h"
#include "probes/order/reveal.h"

namespace rharness {

// x: n by c by side by side, w: k by c by filter by filter, y: n by k by out by out; stride 1.
struct ConvolutionShape {
  int n = 1, c = 1, k = 1, side = 1, filter = 1, padding = 0;
  NumberType type = NumberType::kFp32;  // of all three tensors; sums are fp32
  TensorLayout layout = TensorLayout::kNhwc;

  int out() const { return side + 2 * padding - filter + 1; }
  int terms() const { return c * filter * filter; }  // of one element of y
  std::string Name() const;                          // "fp16 nhwc 8x64x14x14 by 64x3x3 pad 1"
};

// The shape of the probes of bits: 4x64x14x14 by 64x3x3. With IntegerData no sum of any pass leaves
// [-256, 256], which bf16 holds exactly.
ConvolutionShape BitsShape(NumberType type, TensorLayout layout);

enum class ConvolutionTensor { kX, kW, kY };  // their ids in a graph are 1, 2, 3
std::vector<std::int64_t> DimsOf(const ConvolutionShape& shape, ConvolutionTensor tensor);
std::size_t ElementsOf(const ConvolutionShape& shape, ConvolutionTensor tensor);
// The one that a pass computes; it reads the other two.
ConvolutionTensor ResultOf(ConvolutionPass pass);

// tf32 is fp32 to cuDNN. Only types that it has convolutions of.
cudnnDataType_t CudnnTypeOfNumber(NumberType type);
CudnnConvolution ToCudnn(const ConvolutionShape& shape, ConvolutionPass pass);

// Three tensors as numbers, in memory order; the one that a pass computes is not read.
struct ConvolutionData {
  std::vector<float> x, w, y;
  std::vector<float>& at(ConvolutionTensor tensor);
  const std::vector<float>& at(ConvolutionTensor tensor) const;
};

// Numbers of both signs over eight binades, with full significands: their products' sums round at
// nearly every addition, so that another order gives other bits. The same on every machine.
ConvolutionData RoundingData(const ConvolutionShape& shape, std::uint64_t seed);
// -1, 0 and 1: as long as no sum leaves the type's exact integers, every order gives the same.
ConvolutionData IntegerData(const ConvolutionShape& shape, std::uint64_t seed);

// The pass's result in memory order, in double: exact for integers. Cost: n k out^2 terms steps.
std::vector<double> ExactConvolution(const ConvolutionShape& shape, ConvolutionPass pass,
                                     const ConvolutionData& data);

// Many sums of one shape at once, for questions with masks in x; the pass's other input is all one.
// Forward with one pixel of output (out() == 1): question q in image q, over channel, row, column.
// Backward to a filter of one pixel (filter 1, padding 0): question q in channel q, over image,
// row, column. Summands are numbered in this order, whatever the layout. No other pass has such
// sums.
int MaskedTerms(const ConvolutionShape& shape, ConvolutionPass pass);
int MaskedQuestions(const ConvolutionShape& shape, ConvolutionPass pass);  // at most, at once
// Sums without a question add units alone. At most MaskedQuestions pairs.
ConvolutionData MaskedConvolution(const ConvolutionShape& shape, ConvolutionPass pass,
                                  const MaskScheme& scheme, std::span<const MaskPair> pairs,
                                  UnitRange units);
// The place of question q's sum in the result, in elements.
std::size_t MaskedResultAt(const ConvolutionShape& shape, ConvolutionPass pass,
                           std::size_t question);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_CONVOLUTION_H_
