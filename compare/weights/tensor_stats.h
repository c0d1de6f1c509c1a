// Difference statistics of one range of two tensors, and their sums over ranges.
//
// Role: between tensor_pairs, which reads blocks and divides the work, and block_kernels, which has
// the loops. Pure.
#ifndef RHARNESS_COMPARE_WEIGHTS_TENSOR_STATS_H_
#define RHARNESS_COMPARE_WEIGHTS_TENSOR_STATS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "compare/weights/block_kernels.h"
#include "compare/weights/checkpoint.h"
#include "compare/weights/tensor_diff.h"

namespace rharness {

// A tensor is measured in ranges of 64 blocks, from its start on. The division is part of the
// result: sums are added block by block within a range, then range by range.
inline constexpr std::uint64_t kRangeBytes = 64 * std::uint64_t{kReadBlockBytes};

// As in TensorDifference, but maxima are 0 if there is no pair to measure. Merging is associative
// and commutative.
struct TensorStats {
  std::uint64_t differing = 0;
  std::uint64_t first_index = std::numeric_limits<std::uint64_t>::max();  // none yet
  double max_abs = 0.0;
  double max_rel = 0.0;
  std::uint64_t max_ulp = 0;  // 0 exactly when no differing pair is finite on both sides
  UlpHistogram ulp_histogram{};
  std::uint64_t non_finite_changes = 0;
  std::uint64_t nan_changes = 0;
  std::uint64_t zero_sign_changes = 0;

  void Merge(const TensorStats& other);
};

// Sums in fp64; the order of Add counts.
struct TensorSums {
  double a_squared = 0.0;
  double b_squared = 0.0;
  double difference_squared = 0.0;
  double product = 0.0;

  void Add(const TensorSums& other);
};

struct RangeDifference {
  TensorStats stats;
  TensorSums sums;
};

// Measures ranges, one after the other: Start, Add for each block, Finish. For 8-bit types it
// counts the 65,536 pairs of patterns of a range, and measures each at the end.
class RangeMeter {
 public:
  explicit RangeMeter(Kernel kernel = BestKernel()) : kernel_(kernel) {}  // must be supported

  void Start(DType dtype, std::uint64_t first_element);
  // All blocks of a range but the last have kReadBlockBytes; a whole number of elements.
  void Add(std::span<const std::byte> a, std::span<const std::byte> b);
  RangeDifference Finish();

 private:
  void NoteFirst(std::span<const std::byte> a, std::span<const std::byte> b);
  void AddElements(std::span<const std::byte> a, std::span<const std::byte> b);
  void AddUnequalChunks(std::span<const std::byte> a, std::span<const std::byte> b);
  void Take(const BlockDifference& block);

  Kernel kernel_;
  DTypeKernels kernels_;
  std::size_t bits_ = 0;               // of an element
  std::uint64_t next_element_ = 0;     // flat index of the next block's first
  std::vector<std::uint32_t> counts_;  // of pairs of 8-bit patterns; allocated on first use
  RangeDifference range_;
};

// Whether elements of the type have values here, and so distances and norms.
bool HasValues(DType dtype);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TENSOR_STATS_H_
