// The one vector loop behind every vector kernel, eight elements at a time.
//
// Role: included by the files that define the lanes of an instruction set and are compiled for it
// alone. It must call no inline function that other files call, standard ones included: the linker
// keeps one copy of those, and a copy with instructions that a machine lacks would end the program
// elsewhere. Everything here depends on Lanes, a type known in one file only.
//
// Lanes offers, for integers of 32 or 64 bits and for fp64, eight at a time:
//   Load(Format, bytes), sign-extended; Values(Format, integers), exact; Spread(number)
//   And, Or, Xor, Minus, Lesser, Greater, GreaterUnsigned, Negative (all bits set where negative)
//   EqualMask, GreaterMask: one bit a lane, lane 0 lowest
//   LeadingZeros(integers, counts); Store; Restore, of what Store stored
//   Zeros, Plus, Minus, Times, Over, Magnitude; Larger(x, y), which is y where x is NaN
//   WhereInfinite(x, then, otherwise)
#ifndef RHARNESS_COMPARE_WEIGHTS_VECTOR_KERNEL_H_
#define RHARNESS_COMPARE_WEIGHTS_VECTOR_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compare/weights/block_kernels.h"

namespace rharness {

// IEEE formats whose patterns are held in lanes of signed integers, sign-extended.
template <class Lanes, class Format>
class VectorKernel {
 public:
  static std::size_t Add(const std::byte* a, const std::byte* b, std::size_t elements,
                         BlockDifference* block) {
    VectorKernel kernel(block);
    const std::size_t whole = elements - elements % kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes) {
      kernel.AddEight(Lanes::Load(Format{}, a + i * sizeof(typename Format::Bits)),
                      Lanes::Load(Format{}, b + i * sizeof(typename Format::Bits)));
    }
    kernel.Finish();
    return whole;
  }

 private:
  using Integer = std::conditional_t<sizeof(typename Format::Bits) == 8, std::int64_t,
                                     std::int32_t>;  // a lane
  using Unsigned = std::make_unsigned_t<Integer>;
  using Integers = decltype(Lanes::Spread(Integer{}));
  using Doubles = decltype(Lanes::Zeros());
  static constexpr std::size_t kLanes = BlockDifference::kLanes;
  static constexpr unsigned kAllLanes = (1u << kLanes) - 1;
  static constexpr std::size_t kBits = 8 * sizeof(Integer);
  static constexpr Integer kMagnitude = Format::kMagnitude;
  static constexpr Integer kInfinity = Format::kInfinity;
  static constexpr Integer kMinusZero = ~kMagnitude;
  // From 2^1023 on the difference of two fp64 may overflow.
  static constexpr Integer kMayOverflow = kInfinity - (kInfinity & -kInfinity);

  explicit VectorKernel(BlockDifference* block) : block_(block) {}

  [[gnu::always_inline]] void AddEight(Integers x, Integers y) {
    const unsigned equal = Lanes::EqualMask(x, y);
    differing_ += static_cast<unsigned>(__builtin_popcount(~equal & kAllLanes));
    const unsigned minus_zero = Lanes::EqualMask(Lanes::Or(x, y), Lanes::Spread(kMinusZero));
    zero_sign_changes_ += static_cast<unsigned>(__builtin_popcount(minus_zero & ~equal));
    const Integers magnitude = Lanes::Spread(kMagnitude);
    const Integers top = Lanes::Greater(Lanes::And(x, magnitude), Lanes::And(y, magnitude));
    if (Lanes::GreaterMask(Lanes::Spread(kInfinity), top) != kAllLanes) [[unlikely]] {
      const Pairs finite = WithoutNonFinite(x, y, block_);
      x = finite.x;
      y = finite.y;
    }
    AddSteps(x, y);
    AddValues(x, y, top);
  }

  // Order: negative patterns with their magnitude flipped, so that -0 is -1.
  [[gnu::always_inline]] void AddSteps(Integers x, Integers y) {
    const Integers magnitude = Lanes::Spread(kMagnitude);
    const Integers p = Lanes::Xor(x, Lanes::And(Lanes::Negative(x), magnitude));
    const Integers q = Lanes::Xor(y, Lanes::And(Lanes::Negative(y), magnitude));
    const Integers steps = Lanes::Minus(Lanes::Greater(p, q), Lanes::Lesser(p, q));
    max_steps_ = Lanes::GreaterUnsigned(max_steps_, steps);
    alignas(64) std::uint32_t zeros[kLanes];
    Lanes::LeadingZeros(steps, zeros);
    // A table a lane: increments of one counter in close succession would wait for each other.
    for (std::size_t lane = 0; lane < kLanes; ++lane) ++by_zeros_[lane][zeros[lane]];
  }

  [[gnu::always_inline]] void AddValues(Integers x, Integers y, Integers top) {
    const Doubles u = Lanes::Values(Format{}, x), v = Lanes::Values(Format{}, y);
    const Doubles difference = Lanes::Minus(u, v);
    a_squared_ = Lanes::Plus(a_squared_, Lanes::Times(u, u));
    b_squared_ = Lanes::Plus(b_squared_, Lanes::Times(v, v));
    product_ = Lanes::Plus(product_, Lanes::Times(u, v));
    difference_squared_ = Lanes::Plus(difference_squared_, Lanes::Times(difference, difference));
    const Doubles distance = Lanes::Magnitude(difference);
    max_abs_ = Lanes::Larger(distance, max_abs_);
    const Doubles larger = Lanes::Larger(Lanes::Magnitude(u), Lanes::Magnitude(v));
    Doubles relative = Lanes::Over(distance, larger);
    if constexpr (sizeof(Integer) == 8) {
      if (Lanes::GreaterMask(Lanes::Spread(kMayOverflow), top) != kAllLanes) [[unlikely]] {
        const Doubles half = Lanes::Spread(0.5);
        const Doubles halved = Lanes::Minus(Lanes::Times(u, half), Lanes::Times(v, half));
        relative = Lanes::WhereInfinite(
            distance, Lanes::Over(Lanes::Magnitude(halved), Lanes::Times(larger, half)), relative);
      }
    }
    max_rel_ = Lanes::Larger(relative, max_rel_);  // 0 / 0 is NaN and passed over
  }

  static int KindOf(Integer bits) {  // 0: finite
    const Integer magnitude = bits & kMagnitude;
    if (magnitude < kInfinity) return 0;
    if (magnitude > kInfinity) return kNan;
    return bits < 0 ? 2 : 3;
  }

  struct Pairs {
    Integers x, y;
  };
  // Counts them; they go on as pairs of zeros, which add nothing. Takes no address of the kernel,
  // whose members can then stay in registers.
  [[gnu::noinline]] static Pairs WithoutNonFinite(Integers x, Integers y, BlockDifference* block) {
    alignas(64) Integer xs[kLanes], ys[kLanes];
    Lanes::Store(x, xs);
    Lanes::Store(y, ys);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const int kind_x = KindOf(xs[lane]), kind_y = KindOf(ys[lane]);
      if (kind_x != kind_y) ++block->non_finite_changes;
      if ((kind_x == kNan) != (kind_y == kNan)) ++block->nan_changes;
      if (kind_x != 0 || kind_y != 0) xs[lane] = ys[lane] = 0;
    }
    return {Lanes::Restore(xs), Lanes::Restore(ys)};
  }

  [[gnu::always_inline]] void Finish() {
    block_->differing += differing_;
    block_->zero_sign_changes += zero_sign_changes_;
    Lanes::Store(a_squared_, block_->a_squared);
    Lanes::Store(b_squared_, block_->b_squared);
    Lanes::Store(product_, block_->product);
    Lanes::Store(difference_squared_, block_->difference_squared);
    double max_abs[kLanes], max_rel[kLanes];
    Integer max_steps[kLanes];
    Lanes::Store(max_abs_, max_abs);
    Lanes::Store(max_rel_, max_rel);
    Lanes::Store(max_steps_, max_steps);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto steps = static_cast<Unsigned>(max_steps[lane]);
      if (max_abs[lane] > block_->max_abs) block_->max_abs = max_abs[lane];
      if (max_rel[lane] > block_->max_rel) block_->max_rel = max_rel[lane];
      if (steps > block_->max_ulp) block_->max_ulp = steps;
      for (std::size_t zeros = 0; zeros < kBits; ++zeros) {
        block_->ulp_histogram[kBits - 1 - zeros] += by_zeros_[lane][zeros];
      }
    }
  }

  static constexpr int kNan = 1;

  BlockDifference* block_;
  std::uint64_t differing_ = 0;
  std::uint64_t zero_sign_changes_ = 0;
  Integers max_steps_ = Lanes::Spread(Integer{0});
  Doubles a_squared_ = Lanes::Zeros();
  Doubles b_squared_ = Lanes::Zeros();
  Doubles product_ = Lanes::Zeros();
  Doubles difference_squared_ = Lanes::Zeros();
  Doubles max_abs_ = Lanes::Zeros();
  Doubles max_rel_ = Lanes::Zeros();
  std::uint32_t by_zeros_[kLanes][kBits + 1] = {};  // the last: no step
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_VECTOR_KERNEL_H_
