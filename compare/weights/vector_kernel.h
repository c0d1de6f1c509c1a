// The one vector loop behind every vector kernel, eight elements at a time.
//
// Role: included by the files that define the lanes of an instruction set and are compiled for it
// alone. It must call no inline function that other files call, including standard ones: the linker
// keeps one copy of those, and a copy with instructions missing on a machine would crash the
// program elsewhere. Everything here depends on Lanes, a type known in one file only.
//
// Lanes offers, for integers of 32 or 64 bits and for fp64, eight at a time:
//   Load(Format, bytes), sign-extended; Values(Format, integers), exact; Spread(number)
//   And, Or, Xor, Minus, Lesser, Greater, GreaterUnsigned, Negative (all bits set where negative)
//   EqualMask, GreaterMask: one bit per lane, lane 0 lowest
//   LeadingZeros(integers, counts); Store; Restore, of what Store stored
//   Zeros, Plus, Minus, Times, Over, Magnitude; Larger(x, y), which is y where x is NaN
//   WhereInfinite(x, then, otherwise)
#ifndef RHARNESS_COMPARE_WEIGHTS_VECTOR_KERNEL_H_
#define RHARNESS_COMPARE_WEIGHTS_VECTOR_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compare/weights/block_kernels.h"
#include "compare/weights/vector_parts.h"

namespace rharness {

// IEEE formats whose patterns are held in lanes of signed integers, sign-extended. Starts a block:
// its result replaces the block's sums.
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
    kernel.steps_.Finish(block);
    kernel.values_.Finish(block);
    block->differing += kernel.differing_;
    block->zero_sign_changes += kernel.zero_sign_changes_;
    return whole;
  }

 private:
  using Integer = std::conditional_t<sizeof(typename Format::Bits) == 8, std::int64_t,
                                     std::int32_t>;  // a lane
  using Integers = decltype(Lanes::Spread(Integer{}));
  struct Pairs {
    Integers x, y;
  };
  static constexpr std::size_t kLanes = BlockDifference::kLanes;
  static constexpr unsigned kAllLanes = (1u << kLanes) - 1;
  static constexpr Integer kMagnitude = Format::kMagnitude;
  static constexpr Integer kInfinity = Format::kInfinity;
  static constexpr Integer kMinusZero = ~kMagnitude;
  // The highest power of two: from there on the difference of two fp64 may overflow.
  static constexpr Integer kMayOverflow = kInfinity - (kInfinity & -kInfinity);
  static constexpr int kNan = 1;

  explicit VectorKernel(BlockDifference* block) : block_(block) {}

  [[gnu::always_inline]] void AddEight(Integers x, Integers y) {
    const unsigned equal = Lanes::EqualMask(x, y);
    differing_ += static_cast<unsigned>(__builtin_popcount(~equal & kAllLanes));
    const unsigned minus_zero = Lanes::EqualMask(Lanes::Or(x, y), Lanes::Spread(kMinusZero));
    zero_sign_changes_ += static_cast<unsigned>(__builtin_popcount(minus_zero & ~equal));
    const Integers magnitude = Lanes::Spread(kMagnitude);
    const Integers top = Lanes::Greater(Lanes::And(x, magnitude), Lanes::And(y, magnitude));
    if (!AllBelow(top, kInfinity)) [[unlikely]] {
      const Pairs finite = WithoutNonFinite(x, y, block_);
      x = finite.x;
      y = finite.y;
    }
    steps_.Add(x, y, magnitude);
    values_.Add(Lanes::Values(Format{}, x), Lanes::Values(Format{}, y),
                sizeof(Integer) == 8 && !AllBelow(top, kMayOverflow));
  }

  static bool AllBelow(Integers x, Integer limit) {
    return Lanes::GreaterMask(Lanes::Spread(limit), x) == kAllLanes;
  }

  static int KindOf(Integer bits) {  // 0: finite
    const Integer magnitude = bits & kMagnitude;
    if (magnitude < kInfinity) return 0;
    if (magnitude > kInfinity) return kNan;
    return bits < 0 ? 2 : 3;
  }

  // Counts them; they continue as pairs of zeros, which add nothing. Takes no address of the
  // kernel, whose members can then stay in registers.
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

  BlockDifference* block_;
  std::uint64_t differing_ = 0;
  std::uint64_t zero_sign_changes_ = 0;
  VectorSteps<Lanes, Integer> steps_;
  VectorValues<Lanes> values_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_VECTOR_KERNEL_H_
