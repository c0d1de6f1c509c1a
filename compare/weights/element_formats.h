// The bit patterns of each dtype: their value, whether it is finite, and their distance in steps.
//
// Role: the arithmetic under tensor_diff. Every format offers Bits (an unsigned type), IsFinite,
// KindOf (of a non-finite pattern), OrderOf (consecutive representable values have consecutive
// numbers) and ValueOf (exact in fp64, but 64-bit integers are rounded). Sources: IEEE 754-2019;
// the OCP 8-bit Floating Point Specification 1.0 (E4M3, E5M2); the OCP Microscaling Formats 1.0
// (E8M0); the FNUZ types as LLVM and ONNX define them.
#ifndef RHARNESS_COMPARE_WEIGHTS_ELEMENT_FORMATS_H_
#define RHARNESS_COMPARE_WEIGHTS_ELEMENT_FORMATS_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace rharness {

enum class NonFinite { kNan, kPlusInfinity, kMinusInfinity };

// Sign, exponent and mantissa as IEEE 754 lays them out, 0 and -0 one step apart.
template <class BitsType, int kMantissaBits>
struct IeeeLayout {
  static constexpr bool kHasMinusZero = true;
  using Bits = BitsType;
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  static constexpr Bits kMagnitude = static_cast<Bits>(~kSign);
  static constexpr Bits kInfinity =
      static_cast<Bits>(kMagnitude & ~((Bits{1} << kMantissaBits) - 1));

  static bool IsFinite(Bits bits) { return (bits & kMagnitude) < kInfinity; }
  static NonFinite KindOf(Bits bits) {
    if ((bits & kMagnitude) != kInfinity) return NonFinite::kNan;
    return (bits & kSign) != 0 ? NonFinite::kMinusInfinity : NonFinite::kPlusInfinity;
  }
  static std::uint64_t OrderOf(Bits bits) {
    // Negative: every bit flipped. Positive: the sign bit alone. Branch-free, since the signs of
    // weights are close to random.
    const Bits all_if_negative = static_cast<Bits>(Bits{0} - (bits >> (8 * sizeof(Bits) - 1)));
    return static_cast<Bits>(bits ^ (all_if_negative | kSign));
  }
};

struct F64Format : IeeeLayout<std::uint64_t, 52> {
  static double ValueOf(Bits bits) { return std::bit_cast<double>(bits); }
};

struct F32Format : IeeeLayout<std::uint32_t, 23> {
  static double ValueOf(Bits bits) { return std::bit_cast<float>(bits); }
};

struct BF16Format : IeeeLayout<std::uint16_t, 7> {
  static double ValueOf(Bits bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

struct F16Format : IeeeLayout<std::uint16_t, 10> {
  // Sign and magnitude, moved to the fields of an fp32, are 2^112 times too small; subnormals too.
  static double ValueOf(Bits bits) {
    const auto fields = static_cast<std::uint32_t>(bits & kSign) << 16 |
                        static_cast<std::uint32_t>(bits & kMagnitude) << 13;
    return static_cast<double>(std::bit_cast<float>(fields)) * 0x1p112;
  }
};

// Value of a finite 8-bit pattern: mantissa times a power of two, subnormal when the exponent is 0.
template <int kMantissaBits, int kBias>
double EightBitValue(std::uint8_t bits) {
  const int magnitude = bits & 0x7f;
  const int exponent = magnitude >> kMantissaBits;
  const int fraction = magnitude & ((1 << kMantissaBits) - 1);
  const int mantissa = exponent == 0 ? fraction : fraction + (1 << kMantissaBits);
  const double value = std::ldexp(mantissa, (exponent == 0 ? 1 : exponent) - kBias - kMantissaBits);
  return (bits & 0x80) != 0 ? -value : value;
}

struct F8E5M2Format : IeeeLayout<std::uint8_t, 2> {
  static double ValueOf(Bits bits) { return EightBitValue<2, 15>(bits); }
};

// No infinities; S.1111.111 is NaN.
struct F8E4M3Format {
  static constexpr bool kHasMinusZero = true;
  using Bits = std::uint8_t;
  static bool IsFinite(Bits bits) { return (bits & 0x7f) != 0x7f; }
  static NonFinite KindOf(Bits) { return NonFinite::kNan; }
  static std::uint64_t OrderOf(Bits bits) { return IeeeLayout<Bits, 3>::OrderOf(bits); }
  static double ValueOf(Bits bits) { return EightBitValue<3, 7>(bits); }
};

// Finite, no negative zero ("FNUZ"): 0x80 is the one NaN, so the smallest negative value is one
// step from 0.
template <int kMantissaBits, int kBias>
struct FnuzFormat {
  using Bits = std::uint8_t;
  static bool IsFinite(Bits bits) { return bits != 0x80; }
  static NonFinite KindOf(Bits) { return NonFinite::kNan; }
  static std::uint64_t OrderOf(Bits bits) { return bits < 0x80 ? 0x80u + bits : 0x100u - bits; }
  static double ValueOf(Bits bits) { return EightBitValue<kMantissaBits, kBias>(bits); }
};

// Powers of two only; 0xff is NaN.
struct F8E8M0Format {
  using Bits = std::uint8_t;
  static bool IsFinite(Bits bits) { return bits != 0xff; }
  static NonFinite KindOf(Bits) { return NonFinite::kNan; }
  static std::uint64_t OrderOf(Bits bits) { return bits; }
  static double ValueOf(Bits bits) { return std::ldexp(1.0, bits - 127); }
};

template <class Integer>
struct IntegerFormat {
  static constexpr bool kOrderIsValue = true;  // steps are distances
  using Bits = std::make_unsigned_t<Integer>;
  static bool IsFinite(Bits) { return true; }
  static NonFinite KindOf(Bits) { return NonFinite::kNan; }
  static std::uint64_t OrderOf(Bits bits) {
    constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    return static_cast<Bits>(std::is_signed_v<Integer> ? bits ^ kSign : bits);
  }
  static double ValueOf(Bits bits) { return static_cast<double>(static_cast<Integer>(bits)); }
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_ELEMENT_FORMATS_H_
