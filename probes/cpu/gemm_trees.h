// Shared by the probes of BLAS matrix products, one per precision.
#ifndef RHARNESS_PROBES_CPU_GEMM_TREES_H_
#define RHARNESS_PROBES_CPU_GEMM_TREES_H_

#include "probes/cpu/blas.h"

namespace rharness {

// The order in which the BLAS adds products of several shapes over their inner dimension.
template <class T>
ProbeResult RevealGemmTrees(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    // Square, edges of tiles, one row or column, and few outputs over a long inner dimension.
    const GemmShape shapes[] = {{64, 64, 64},    {64, 64, 1000}, {100, 33, 300},
                                {256, 256, 500}, {64, 1, 1000},  {8, 8, 4096}};
    for (const GemmShape& shape : shapes) {
      AddProduct(context, shape.Name(), GemmProduct<T>(blas, shape, false), result);
    }
    // The old value of the output is the first summand.
    const GemmShape shape{64, 64, 500};
    AddProduct(context, shape.Name() + " + C", GemmProduct<T>(blas, shape, true), result);
  });
}

}  // namespace rharness

#endif  // RHARNESS_PROBES_CPU_GEMM_TREES_H_
