// The lanes of a vector kernel: steps with their histogram, and sums with their maxima.
//
// Role: the two halves of vector_kernel.h, under its rule: no inline function that other files
// call.
#ifndef RHARNESS_COMPARE_WEIGHTS_VECTOR_PARTS_H_
#define RHARNESS_COMPARE_WEIGHTS_VECTOR_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compare/weights/block_kernels.h"

namespace rharness {

// Steps between eight pairs of finite patterns, which are Integer lanes, sign-extended.
template <class Lanes, class Integer>
class VectorSteps {
 public:
  using Integers = decltype(Lanes::Spread(Integer{}));

  // Order: negative patterns with their magnitude flipped, so that -0 is -1.
  [[gnu::always_inline]] void Add(Integers x, Integers y, Integers magnitude) {
    const Integers p = Lanes::Xor(x, Lanes::And(Lanes::Negative(x), magnitude));
    const Integers q = Lanes::Xor(y, Lanes::And(Lanes::Negative(y), magnitude));
    const Integers steps = Lanes::Minus(Lanes::Greater(p, q), Lanes::Lesser(p, q));
    max_ = Lanes::GreaterUnsigned(max_, steps);
    alignas(64) std::uint32_t zeros[kLanes];
    Lanes::LeadingZeros(steps, zeros);
    // One table per lane: increments of one counter in close succession would wait for each other.
    for (std::size_t lane = 0; lane < kLanes; ++lane) ++by_zeros_[lane][zeros[lane]];
  }

  [[gnu::always_inline]] void Finish(BlockDifference* block) const {
    Integer max[kLanes];
    Lanes::Store(max_, max);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto steps = static_cast<std::make_unsigned_t<Integer>>(max[lane]);
      if (steps > block->max_ulp) block->max_ulp = steps;
      for (std::size_t zeros = 0; zeros < kBits; ++zeros) {
        block->ulp_histogram[kBits - 1 - zeros] += by_zeros_[lane][zeros];
      }
    }
  }

 private:
  static constexpr std::size_t kLanes = BlockDifference::kLanes;
  static constexpr std::size_t kBits = 8 * sizeof(Integer);

  Integers max_ = Lanes::Spread(Integer{0});
  std::uint32_t by_zeros_[kLanes][kBits + 1] = {};  // the last: no step
};

// Sums and distances of eight pairs of finite values.
template <class Lanes>
class VectorValues {
 public:
  using Doubles = decltype(Lanes::Zeros());

  // `may_overflow`: whether a difference may exceed fp64.
  [[gnu::always_inline]] void Add(Doubles u, Doubles v, bool may_overflow) {
    const Doubles difference = Lanes::Minus(u, v);
    a_squared_ = Lanes::Plus(a_squared_, Lanes::Times(u, u));
    b_squared_ = Lanes::Plus(b_squared_, Lanes::Times(v, v));
    product_ = Lanes::Plus(product_, Lanes::Times(u, v));
    difference_squared_ = Lanes::Plus(difference_squared_, Lanes::Times(difference, difference));
    const Doubles distance = Lanes::Magnitude(difference);
    max_abs_ = Lanes::Larger(distance, max_abs_);
    const Doubles larger = Lanes::Larger(Lanes::Magnitude(u), Lanes::Magnitude(v));
    Doubles relative = Lanes::Over(distance, larger);
    if (may_overflow) [[unlikely]] {
      const Doubles half = Lanes::Spread(0.5);
      const Doubles halved = Lanes::Minus(Lanes::Times(u, half), Lanes::Times(v, half));
      relative = Lanes::WhereInfinite(
          distance, Lanes::Over(Lanes::Magnitude(halved), Lanes::Times(larger, half)), relative);
    }
    max_rel_ = Lanes::Larger(relative, max_rel_);  // 0 / 0 is NaN and ignored
  }

  [[gnu::always_inline]] void Finish(BlockDifference* block) const {
    Lanes::Store(a_squared_, block->a_squared);
    Lanes::Store(b_squared_, block->b_squared);
    Lanes::Store(product_, block->product);
    Lanes::Store(difference_squared_, block->difference_squared);
    double max_abs[BlockDifference::kLanes], max_rel[BlockDifference::kLanes];
    Lanes::Store(max_abs_, max_abs);
    Lanes::Store(max_rel_, max_rel);
    for (std::size_t lane = 0; lane < BlockDifference::kLanes; ++lane) {
      if (max_abs[lane] > block->max_abs) block->max_abs = max_abs[lane];
      if (max_rel[lane] > block->max_rel) block->max_rel = max_rel[lane];
    }
  }

 private:
  Doubles a_squared_ = Lanes::Zeros();
  Doubles b_squared_ = Lanes::Zeros();
  Doubles product_ = Lanes::Zeros();
  Doubles difference_squared_ = Lanes::Zeros();
  Doubles max_abs_ = Lanes::Zeros();
  Doubles max_rel_ = Lanes::Zeros();
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_VECTOR_PARTS_H_
