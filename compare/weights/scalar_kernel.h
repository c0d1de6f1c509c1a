// The contribution of one pair, in plain C++: the definition that every vector kernel agrees with.
//
// Role: under block_kernels, for every format, the ends of blocks, and machines without vectors.
#ifndef RHARNESS_COMPARE_WEIGHTS_SCALAR_KERNEL_H_
#define RHARNESS_COMPARE_WEIGHTS_SCALAR_KERNEL_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "compare/weights/block_kernels.h"
#include "compare/weights/element_formats.h"

namespace rharness {

// A pair of patterns, with their values if finite on both sides.
template <class Format>
struct ElementPair {
  typename Format::Bits x, y;

  bool Differs() const { return x != y; }
  bool IsFinite() const { return Format::IsFinite(x) && Format::IsFinite(y); }
  bool IsNan(typename Format::Bits bits) const {
    return !Format::IsFinite(bits) && Format::KindOf(bits) == NonFinite::kNan;
  }
  bool ChangesNan() const { return IsNan(x) != IsNan(y); }
  bool ChangesKind() const {
    if (IsFinite()) return false;
    return Format::IsFinite(x) != Format::IsFinite(y) || Format::KindOf(x) != Format::KindOf(y);
  }
  bool ChangesZeroSign() const {
    if constexpr (requires { Format::kHasMinusZero; }) {
      constexpr auto kMinusZero =
          static_cast<typename Format::Bits>(typename Format::Bits{1} << (8 * sizeof(x) - 1));
      return x != y && (x | y) == kMinusZero;
    }
    return false;
  }
  std::uint64_t Steps() const {
    const std::uint64_t p = Format::OrderOf(x), q = Format::OrderOf(y);
    // Without a branch on the larger one, which is close to random.
    const std::uint64_t all_if_below = std::uint64_t{0} - static_cast<std::uint64_t>(p < q);
    return ((p - q) ^ all_if_below) - all_if_below;
  }
  double Distance() const {
    if constexpr (requires { Format::kOrderIsValue; }) return static_cast<double>(Steps());
    return std::abs(Format::ValueOf(x) - Format::ValueOf(y));
  }
};

// |u - v| / max(|u|, |v|); by halves if the difference overflows. NaN for two zeros.
inline double RelativeDistance(double distance, double u, double v) {
  const double larger = std::max(std::abs(u), std::abs(v));
  if (std::isinf(distance)) [[unlikely]] {
    return std::abs(u * 0.5 - v * 0.5) / (larger * 0.5);
  }
  return distance / larger;
}

// Sums, maxima and the histogram of a pair that is finite on both sides and occurs `times` times.
template <class Format>
[[gnu::always_inline]] inline void AddFinitePair(const ElementPair<Format>& pair, double u,
                                                 double v, std::uint32_t times, std::size_t lane,
                                                 BlockDifference* block) {
  const double distance = pair.Distance();
  const auto weight = static_cast<double>(times);
  block->a_squared[lane] += weight * (u * u);
  block->b_squared[lane] += weight * (v * v);
  block->product[lane] += weight * (u * v);
  block->difference_squared[lane] += weight * (distance * distance);
  if (!pair.Differs()) return;
  const std::uint64_t steps = pair.Steps();
  block->max_ulp = std::max(block->max_ulp, steps);
  block->ulp_histogram[std::bit_width(steps) - 1] += times;
  block->max_abs = std::max(block->max_abs, distance);
  block->max_rel = std::max(block->max_rel, RelativeDistance(distance, u, v));
}

// A pair with all that is counted.
template <class Format>
[[gnu::always_inline]] inline void AddPair(const ElementPair<Format>& pair, double u, double v,
                                           std::uint32_t times, std::size_t lane,
                                           BlockDifference* block) {
  if (pair.Differs()) {
    block->differing += times;
    if (pair.ChangesZeroSign()) block->zero_sign_changes += times;
  }
  if (pair.IsFinite()) [[likely]] {
    AddFinitePair(pair, u, v, times, lane, block);
  } else {
    if (pair.ChangesKind()) block->non_finite_changes += times;
    if (pair.ChangesNan()) block->nan_changes += times;
  }
}

template <class Format>
ElementPair<Format> LoadPair(const std::byte* a, const std::byte* b, std::size_t index) {
  ElementPair<Format> pair;
  std::memcpy(&pair.x, a + index * sizeof(pair.x), sizeof(pair.x));
  std::memcpy(&pair.y, b + index * sizeof(pair.y), sizeof(pair.y));
  return pair;
}

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_SCALAR_KERNEL_H_
