// Encoding and decoding short floats.
#include "tests/gpu/emulator/short_floats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "harness/base/result.h"

namespace rharness {

ShortFormat ShortFormatOf(PtxType type) {
  switch (type) {
    case PtxType::kF16:
      return {5, 10, true, 0x7fff};
    case PtxType::kBf16:
      return {8, 7, true, 0x7fff};
    case PtxType::kE4m3:
    case PtxType::kE4m3x2:
      return {4, 3, false, 0x7f};
    case PtxType::kE5m2:
    case PtxType::kE5m2x2:
      return {5, 2, true, 0x7f};
    default:
      Abort("no short float");
  }
}

std::uint32_t EncodeShort(const ShortFormat& format, float value, PtxRounding rounding,
                          bool finite) {
  if (std::isnan(value)) return format.nan;
  const int bits = format.fraction_bits, bias = (1 << (format.exponent_bits - 1)) - 1;
  const auto infinity = static_cast<std::uint32_t>(((1 << format.exponent_bits) - 1) << bits);
  // Without infinities the largest is one below all ones.
  const std::uint32_t largest = format.infinities ? infinity - 1 : infinity + (1U << bits) - 2;
  const std::uint32_t sign = std::signbit(value) ? 1U << (format.exponent_bits + bits) : 0;
  const bool zero_ward = rounding == PtxRounding::kZero;
  const std::uint32_t beyond =
      finite || zero_ward ? largest : (format.infinities ? infinity : format.nan);
  if (std::isinf(value)) {
    return sign | (finite ? largest : (format.infinities ? infinity : format.nan));
  }
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double units = std::ldexp(magnitude, bits - exponent);  // of the last place: exact
  const double rounded = zero_ward ? std::floor(units) : std::nearbyint(units);
  // A carry out of the fraction is the next exponent; below the first one the hidden bit is 0.
  const std::uint64_t result = static_cast<std::uint64_t>(rounded) +
                               (static_cast<std::uint64_t>(exponent + bias - 1) << bits);
  return sign | (result > largest ? beyond : static_cast<std::uint32_t>(result));
}

double DecodeShort(const ShortFormat& format, std::uint32_t bits) {
  const int fraction_bits = format.fraction_bits, bias = (1 << (format.exponent_bits - 1)) - 1;
  const std::uint32_t ones = (1U << format.exponent_bits) - 1;
  const std::uint32_t exponent = (bits >> fraction_bits) & ones;
  const std::uint32_t fraction = bits & ((1U << fraction_bits) - 1);
  const bool negative = ((bits >> (format.exponent_bits + fraction_bits)) & 1) != 0;
  double value = 0;
  if (exponent == ones && format.infinities) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == ones && fraction == (1U << fraction_bits) - 1) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    const std::uint32_t hidden = exponent == 0 ? 0 : 1U << fraction_bits;
    value = std::ldexp(hidden + fraction,
                       static_cast<int>(std::max(exponent, 1U)) - bias - fraction_bits);
  }
  return negative ? -value : value;
}

std::uint32_t RoundToTf32(std::uint32_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return 0x7fffffffU;
  if (magnitude == 0x7f800000U) return bits;
  return (bits + 0x1000U) & ~0x1fffU;
}

}  // namespace rharness
