// The order in which a convolution adds over channels and filter: that of its product of unfolded
// patches, with masks in the filters.
#include "probes/cpu/convolution.h"

namespace rharness {
namespace {

ProbeResult RunConvTree(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    AddProduct(context, "fp32 16x12x12 by 32x3x3",
               GemmProduct<float>(blas, Convolution::Shape(), false), result);
  });
}

const RegisterProbe kConvTreeProbe({.name = "conv_tree",
                                    .family = "convolution",
                                    .summary = "order of addition of a convolution",
                                    .run = RunConvTree});

}  // namespace
}  // namespace rharness
