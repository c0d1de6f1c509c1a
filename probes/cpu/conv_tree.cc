// The order in which a convolution adds over channels and filter: one output pixel, masks in the
// filters, an image of ones.
#include "probes/cpu/convolution.h"

namespace rharness {
namespace {

class ConvolutionSum final : public MaskedSum {
 public:
  explicit ConvolutionSum(const Blas& blas) : blas_(blas) {}
  int size() const override { return Convolution::kTerms; }
  int max_batch() const override { return Convolution::kOutputs; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    using C = Convolution;
    std::vector<float> filters(C::kOutputs * C::kTerms), one(C::kTerms);
    for (std::size_t output = 0; output < C::kOutputs; ++output) {
      FillMasked<float>(pairs[std::min(output, pairs.size() - 1)], units, one);
      for (std::size_t term = 0; term < C::kTerms; ++term) {
        filters[output + term * C::kOutputs] = one[term];
      }
    }
    const std::vector<float> image(C::kChannels * C::kSide * C::kSide, 1.0F);
    const std::vector<float> out = Convolve(blas_, image, filters);
    for (std::size_t i = 0; i < pairs.size(); ++i) counts[i] = static_cast<double>(out[i]);
    return {};
  }

 private:
  const Blas& blas_;
};

ProbeResult RunConvTree(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    ConvolutionSum sum(blas);
    AddTree(context, "fp32 16x12x12 by 32x3x3", sum, result);
  });
}

const RegisterProbe kConvTreeProbe({.name = "conv_tree",
                                    .family = "convolution",
                                    .summary = "order of addition of a convolution",
                                    .run = RunConvTree});

}  // namespace
}  // namespace rharness
