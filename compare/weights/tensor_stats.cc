// Feeds blocks to the kernels of their dtype and folds the results.
#include "compare/weights/tensor_stats.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "harness/base/result.h"

namespace rharness {
namespace {

// The unit that equal bits skip if only differing elements count: whole elements of every dtype.
constexpr std::size_t kChunkBytes = 3072;
constexpr std::size_t kPatternPairs = std::size_t{256} * 256;

double LaneSum(const double (&lanes)[BlockDifference::kLanes]) {
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

// The indices of many pairs first, which takes a few vector instructions.
void CountPairs(std::span<const std::byte> a, std::span<const std::byte> b, std::uint32_t* counts) {
  constexpr std::size_t kStep = 64;
  std::uint16_t pairs[kStep];
  std::size_t i = 0;
  for (; i + kStep <= a.size(); i += kStep) {
    const std::byte *const x = a.data() + i, *const y = b.data() + i;
    for (std::size_t j = 0; j < kStep; ++j) {
      pairs[j] = static_cast<std::uint16_t>(std::to_integer<unsigned>(x[j]) << 8 |
                                            std::to_integer<unsigned>(y[j]));
    }
    for (std::size_t j = 0; j < kStep; ++j) ++counts[pairs[j]];
  }
  for (; i < a.size(); ++i) {
    ++counts[std::to_integer<std::size_t>(a[i]) << 8 | std::to_integer<std::size_t>(b[i])];
  }
}

// The first byte that differs; the size when none does.
std::size_t FirstDifferingByte(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::size_t chunk = 0;
  while (chunk + kChunkBytes < a.size() &&
         std::memcmp(a.data() + chunk, b.data() + chunk, kChunkBytes) == 0) {
    chunk += kChunkBytes;
  }
  const auto at = std::mismatch(a.begin() + static_cast<std::ptrdiff_t>(chunk), a.end(),
                                b.begin() + static_cast<std::ptrdiff_t>(chunk));
  return static_cast<std::size_t>(at.first - a.begin());
}

}  // namespace

void TensorStats::Merge(const TensorStats& other) {
  differing += other.differing;
  first_index = std::min(first_index, other.first_index);
  max_abs = std::max(max_abs, other.max_abs);
  max_rel = std::max(max_rel, other.max_rel);
  max_ulp = std::max(max_ulp, other.max_ulp);
  for (std::size_t i = 0; i < ulp_histogram.size(); ++i) ulp_histogram[i] += other.ulp_histogram[i];
  non_finite_changes += other.non_finite_changes;
  nan_changes += other.nan_changes;
  zero_sign_changes += other.zero_sign_changes;
}

void TensorSums::Add(const TensorSums& other) {
  a_squared += other.a_squared;
  b_squared += other.b_squared;
  difference_squared += other.difference_squared;
  product += other.product;
}

void RangeMeter::Start(DType dtype, std::uint64_t first_element) {
  kernels_ = KernelsFor(dtype, kernel_);
  bits_ = static_cast<std::size_t>(BitsOf(dtype));
  next_element_ = first_element;
  range_ = {};
  if (kernels_.add_counts != nullptr) counts_.resize(kPatternPairs);
}

void RangeMeter::Add(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() != b.size()) Abort("difference of blocks of different size");
  NoteFirst(a, b);
  if (kernels_.add_counts != nullptr) {
    CountPairs(a, b, counts_.data());
  } else if (kernels_.has_values) {
    AddElements(a, b);
  } else {
    AddUnequalChunks(a, b);
  }
  next_element_ += a.size() * 8 / bits_;
}

RangeDifference RangeMeter::Finish() {
  if (kernels_.add_counts != nullptr) {
    BlockDifference block;
    kernels_.add_counts(counts_.data(), &block);
    Take(block);
    std::ranges::fill(counts_, 0u);
  }
  return range_;
}

void RangeMeter::NoteFirst(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (range_.stats.first_index != TensorStats{}.first_index) return;
  const std::size_t byte = FirstDifferingByte(a, b);
  if (byte == a.size()) return;
  const auto changed = std::to_integer<unsigned>(a[byte] ^ b[byte]);
  const std::size_t bit = 8 * byte + static_cast<std::size_t>(std::countr_zero(changed));
  range_.stats.first_index = next_element_ + bit / bits_;
}

void RangeMeter::AddElements(std::span<const std::byte> a, std::span<const std::byte> b) {
  BlockDifference block;
  const std::size_t elements = a.size() * 8 / bits_;
  std::size_t done = 0;
  if (kernels_.add_vectors != nullptr) {
    done = kernels_.add_vectors(a.data(), b.data(), elements, &block);
  }
  kernels_.add_pairs(a.data(), b.data(), done, elements, &block);
  Take(block);
}

void RangeMeter::AddUnequalChunks(std::span<const std::byte> a, std::span<const std::byte> b) {
  BlockDifference block;
  for (std::size_t at = 0; at < a.size(); at += kChunkBytes) {
    const std::size_t size = std::min(kChunkBytes, a.size() - at);
    if (std::memcmp(a.data() + at, b.data() + at, size) == 0) continue;
    kernels_.add_pairs(a.data() + at, b.data() + at, 0, size * 8 / bits_, &block);
  }
  Take(block);
}

void RangeMeter::Take(const BlockDifference& block) {
  TensorStats& stats = range_.stats;
  stats.differing += block.differing;
  stats.max_abs = std::max(stats.max_abs, block.max_abs);
  stats.max_rel = std::max(stats.max_rel, block.max_rel);
  stats.max_ulp = std::max(stats.max_ulp, block.max_ulp);
  for (std::size_t i = 0; i < stats.ulp_histogram.size(); ++i) {
    stats.ulp_histogram[i] += block.ulp_histogram[i];
  }
  stats.non_finite_changes += block.non_finite_changes;
  stats.nan_changes += block.nan_changes;
  stats.zero_sign_changes += block.zero_sign_changes;
  range_.sums.Add({LaneSum(block.a_squared), LaneSum(block.b_squared),
                   LaneSum(block.difference_squared), LaneSum(block.product)});
}

bool HasValues(DType dtype) { return KernelsFor(dtype, Kernel::kScalar).has_values; }

}  // namespace rharness
