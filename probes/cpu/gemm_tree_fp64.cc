// The order in which the BLAS adds a matrix product over its inner dimension, in double precision.
#include <fmt/format.h>

#include "probes/cpu/blas.h"

namespace rharness {
namespace {

ProbeResult Run(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    // Square, edges of tiles, one row or column, and few outputs over a long inner dimension.
    const GemmShape shapes[] = {{64, 64, 64},    {64, 64, 1000}, {100, 33, 300},
                                {256, 256, 500}, {64, 1, 1000},  {8, 8, 4096}};
    for (const GemmShape& shape : shapes) {
      GemmSum<double> sum(blas, shape, false);
      AddTree(context, shape.Name(), sum, result);
    }
    // The old value of the output is the first summand.
    const GemmShape shape{64, 64, 500};
    GemmSum<double> sum(blas, shape, true);
    AddTree(context, shape.Name() + " + C", sum, result);
  });
}

const RegisterProbe registered({.name = "gemm_tree_fp64",
                                .family = "gemm",
                                .summary = "order of addition of fp64 matrix products",
                                .run = Run,
                                .limit = std::chrono::seconds(600)});

}  // namespace
}  // namespace rharness
