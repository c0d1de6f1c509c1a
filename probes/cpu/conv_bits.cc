// Bits of a convolution by unfolded patches and the BLAS.
#include "probes/cpu/convolution.h"

namespace rharness {
namespace {

ProbeResult RunConvBits(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    using C = Convolution;
    const std::vector<float> image = RandomFloats(context.seed, C::kChannels * C::kSide * C::kSide);
    const std::vector<float> filters = RandomFloats(context.seed + 1, C::kOutputs * C::kTerms);
    AddBits(
        context, "fp32 16x12x12 by 32x3x3", [&] { return Convolve(blas, image, filters); }, result);
  });
}

const RegisterProbe kConvBitsProbe({.name = "conv_bits",
                                    .family = "convolution",
                                    .summary = "bits of a convolution by unfolded patches",
                                    .run = RunConvBits});

}  // namespace
}  // namespace rharness
