// What a grid's result says in the terms of compare/weights, and whether that is what the host
// says.
//
// Role: after the kernels, on the host. Pure.
#ifndef RHARNESS_TESTS_BENCH_GPU_COMPARISON_RESULT_H_
#define RHARNESS_TESTS_BENCH_GPU_COMPARISON_RESULT_H_

#include <cstdint>
#include <string>

#include "compare/weights/tensor_diff.h"
#include "tests/bench/gpu/block_fold.h"

namespace rharness::bench {

// In compare/weights' terms: NaN maxima where no differing pair is finite, norms, cosine.
TensorDifference Describe(const PairResult& result, DType dtype, std::uint64_t elements);

// Empty when all that both must give is equal: counts, index, maxima and histogram exactly, norms
// and cosine to 1e-10, since sums are added in another order. Else one sentence.
std::string Disagreement(const TensorDifference& found, const TensorDifference& expected);
std::string Disagreement(const BitStatistics& found, const TensorDifference& expected);

}  // namespace rharness::bench

#endif  // RHARNESS_TESTS_BENCH_GPU_COMPARISON_RESULT_H_
