// Running difference statistics over blocks of two tensors.
//
// Role: what tensor_diff adds up, block after block and thread after thread. Pure.
#ifndef RHARNESS_COMPARE_WEIGHTS_TENSOR_STATS_H_
#define RHARNESS_COMPARE_WEIGHTS_TENSOR_STATS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "compare/weights/checkpoint.h"

namespace rharness {

// As in TensorDifference. Merging is associative and commutative.
struct TensorStats {
  std::uint64_t differing = 0;
  std::uint64_t first_index = std::numeric_limits<std::uint64_t>::max();  // none yet
  double max_abs = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t max_ulp = 0;
  std::uint64_t non_finite_changes = 0;

  void Merge(const TensorStats& other);
};

// Adds the pairs of two blocks of one size, a whole number of elements; the first has the flat
// index `first_element`. Blocks that are equal cost a memcmp.
void AddDifferences(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b,
                    std::uint64_t first_element, TensorStats* stats);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TENSOR_STATS_H_
