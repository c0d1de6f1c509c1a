// A small convolution as a matrix product over unfolded patches, for conv_bits and conv_tree.
#ifndef RHARNESS_PROBES_CPU_CONVOLUTION_H_
#define RHARNESS_PROBES_CPU_CONVOLUTION_H_

#include <vector>

#include "probes/cpu/blas.h"

namespace rharness {

// 16 channels of 12 x 12, 32 filters of 3 x 3, no padding: 32 outputs of 10 x 10.
struct Convolution {
  static constexpr int kChannels = 16, kSide = 12, kFilter = 3, kOutputs = 32;
  static constexpr int kOut = kSide - kFilter + 1;
  static constexpr int kTerms = kChannels * kFilter * kFilter;  // of an output pixel
  static GemmShape Shape() { return {kOutputs, kOut * kOut, kTerms}; }
};

// kTerms by kOut * kOut, column-major: the patch below each output pixel, channel by channel.
std::vector<float> UnfoldPatches(const std::vector<float>& image);

// Filters are kOutputs by kTerms, column-major; so is the result, by pixels.
std::vector<float> Convolve(const Blas& blas, const std::vector<float>& image,
                            const std::vector<float>& filters);

}  // namespace rharness

#endif  // RHARNESS_PROBES_CPU_CONVOLUTION_H_
