// Streams paired tensors of two checkpoints: bits first, then statistics if bits differ.
//
// Role: under tensor_diff; divides the work into ranges and gives them to threads.
#ifndef RHARNESS_COMPARE_WEIGHTS_TENSOR_PAIRS_H_
#define RHARNESS_COMPARE_WEIGHTS_TENSOR_PAIRS_H_

#include <cstddef>
#include <vector>

#include "compare/weights/non_finite.h"
#include "compare/weights/tensor_stats.h"

namespace rharness {

struct TensorPair {
  std::size_t a = 0;  // index in a.tensors(); those of one pair have one dtype and shape
  std::size_t b = 0;
};

// The positions in `pairs` of those whose bits differ, ascending. Reads a tensor until its first
// difference, or little more with several threads. `non_finite`, if not null, receives the counts
// of each pair: for pairs that do not differ they are complete.
Result<std::vector<std::size_t>> FindDiffering(const Checkpoint& a, const Checkpoint& b,
                                               const std::vector<TensorPair>& pairs, int threads,
                                               std::vector<NonFiniteCounts>* non_finite = nullptr);

struct MeasuredPair {
  RangeDifference difference;
  NonFiniteCounts non_finite_a;
  NonFiniteCounts non_finite_b;
};
// The statistics of every pair, in their order; the same for any number of threads.
Result<std::vector<MeasuredPair>> MeasurePairs(const Checkpoint& a, const Checkpoint& b,
                                               const std::vector<TensorPair>& pairs, int threads);

// The same of two tensors at hand.
RangeDifference MeasureBytes(DType dtype, std::span<const std::byte> a,
                             std::span<const std::byte> b, Kernel kernel = BestKernel());

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TENSOR_PAIRS_H_
