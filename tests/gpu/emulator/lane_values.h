// Values of lanes as numbers, and operations on each lane alone.
//
// Source: PTX ISA, "Integer Arithmetic Instructions", "Floating-Point Instructions". NaN results
// are canonical: 0x7fffffff and 0xfff8000000000000 (the toolkit's CUDART_NAN).
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LANE_VALUES_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LANE_VALUES_H_

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tests/gpu/emulator/warp_state.h"

namespace rharness {

// A slot holds the bits of its value; whoever reads it takes as many as its type has.
template <class T>
T FromBits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

template <class T>
std::uint64_t ToBits(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::isnan(value) ? 0x7fffffffU : std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::isnan(value) ? 0xfff8000000000000U : std::bit_cast<std::uint64_t>(value);
  } else {
    return static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
  }
}

inline float FlushSubnormal(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}
inline double FlushSubnormal(double value) { return value; }  // no .ftz for double

// The host's rounding mode while it lives. The files that compute in it are compiled with
// -frounding-math.
class RoundingScope {
 public:
  explicit RoundingScope(PtxRounding rounding) : changed_(rounding != PtxRounding::kNearest) {
    if (changed_) std::fesetround(ModeOf(rounding));
  }
  ~RoundingScope() {
    if (changed_) std::fesetround(FE_TONEAREST);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  static int ModeOf(PtxRounding rounding) {
    return rounding == PtxRounding::kZero   ? FE_TOWARDZERO
           : rounding == PtxRounding::kDown ? FE_DOWNWARD
                                            : FE_UPWARD;
  }
  bool changed_;
};

// d = f(a), f(a, b), f(a, b, c) on each active lane, of integers or bits.
template <class T, class F>
void OnLanes1(WarpState& warp, const PtxInstruction& i, F f) {
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t* a = warp.Slot(i.Slot(1));
  ForActive(warp, [&](unsigned lane) { d[lane] = ToBits(f(FromBits<T>(a[lane]))); });
}
template <class T, class F>
void OnLanes2(WarpState& warp, const PtxInstruction& i, F f) {
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t *a = warp.Slot(i.Slot(1)), *b = warp.Slot(i.Slot(2));
  ForActive(warp, [&](unsigned lane) {
    d[lane] = ToBits(f(FromBits<T>(a[lane]), FromBits<T>(b[lane])));
  });
}
template <class T, class F>
void OnLanes3(WarpState& warp, const PtxInstruction& i, F f) {
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t *a = warp.Slot(i.Slot(1)), *b = warp.Slot(i.Slot(2)),
                      *c = warp.Slot(i.Slot(3));
  ForActive(warp, [&](unsigned lane) {
    d[lane] = ToBits(f(FromBits<T>(a[lane]), FromBits<T>(b[lane]), FromBits<T>(c[lane])));
  });
}

// The operation of an instruction in one family; null if it is none of the family, or not with
// these types and modifiers.
PtxOperation IntegerOperation(const PtxInstruction& instruction);
PtxOperation BitOperation(const PtxInstruction& instruction);  // logic, moves, selections
PtxOperation FloatOperation(const PtxInstruction& instruction);
PtxOperation CompareOperation(const PtxInstruction& instruction);
PtxOperation ConversionOperation(const PtxInstruction& instruction);
PtxOperation MemoryOperation(const PtxInstruction& instruction);
PtxOperation WarpOperation(const PtxInstruction& instruction);  // shuffles, votes
PtxOperation TensorOperation(const PtxInstruction& instruction);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LANE_VALUES_H_
