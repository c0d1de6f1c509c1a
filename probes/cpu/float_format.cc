// Scaling by powers of two and one rounding to an integer: nothing here can round twice.
#include "probes/cpu/float_format.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rharness {
namespace {

int MinExponent(const FloatFormat& format) { return 2 - (1 << (format.exponent_bits - 1)); }

std::uint32_t SignBit(const FloatFormat& format) {
  return 1U << (format.exponent_bits + format.mantissa_bits);
}

// All ones in the exponent, no mantissa.
std::uint32_t TopExponent(const FloatFormat& format) {
  return ((1U << format.exponent_bits) - 1) << format.mantissa_bits;
}

std::uint32_t NanCode(const FloatFormat& format) {
  const std::uint32_t ones = (1U << format.mantissa_bits) - 1;
  const std::uint32_t quiet = 1U << (format.mantissa_bits - 1);
  return TopExponent(format) | (format.has_infinity ? quiet : ones);
}

std::uint32_t LargestCode(const FloatFormat& format) {
  return format.has_infinity ? TopExponent(format) - 1 : NanCode(format) - 1;
}

}  // namespace

std::uint32_t EncodeFloat(const FloatFormat& format, double value, bool saturate) {
  const std::uint32_t sign = std::signbit(value) ? SignBit(format) : 0;
  if (std::isnan(value)) return sign | NanCode(format);
  const std::uint32_t too_large = saturate              ? LargestCode(format)
                                  : format.has_infinity ? TopExponent(format)
                                                        : NanCode(format);
  if (std::isinf(value)) return sign | too_large;
  const double size = std::fabs(value);
  if (size == 0.0) return sign;
  const int exponent = std::max(std::ilogb(size), MinExponent(format));
  // In units of the last place; a carry into the next exponent carries in the code as well.
  const auto units = static_cast<std::uint64_t>(
      std::nearbyint(std::scalbn(size, format.mantissa_bits - exponent)));
  const auto exponents = static_cast<std::uint64_t>(exponent - MinExponent(format));
  const std::uint64_t code = (exponents << format.mantissa_bits) + units;
  return sign | (code > LargestCode(format) ? too_large : static_cast<std::uint32_t>(code));
}

double DecodeFloat(const FloatFormat& format, std::uint32_t code) {
  const std::uint32_t size = code & (SignBit(format) - 1);
  const double sign = (code & SignBit(format)) != 0 ? -1.0 : 1.0;
  if (size > LargestCode(format)) {
    const bool infinite = format.has_infinity && size == TopExponent(format);
    return infinite ? sign * std::numeric_limits<double>::infinity()
                    : std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  }
  const int exponent = static_cast<int>(size >> format.mantissa_bits);
  const std::uint32_t mantissa = size & ((1U << format.mantissa_bits) - 1);
  const std::uint32_t hidden = exponent > 0 ? 1U << format.mantissa_bits : 0;
  return sign * std::scalbn(mantissa + hidden,
                            std::max(exponent, 1) - 1 + MinExponent(format) - format.mantissa_bits);
}

}  // namespace rharness
