// Encoding of short floating-point types, and the masks that suit them.
#include "probes/gpu/number_type.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace rharness {
namespace {

struct Format {
  int exponent_bits;
  int fraction_bits;
  bool has_infinity;
};

Format FormatOf(NumberType type) {
  switch (type) {
    case NumberType::kBf16:
      return {8, 7, true};
    case NumberType::kFp16:
      return {5, 10, true};
    case NumberType::kE5m2:
      return {5, 2, true};
    case NumberType::kE4m3:
      return {4, 3, false};
    default:
      return {8, 23, true};
  }
}

std::uint64_t EncodeFloat(const Format& format, double value) {
  const std::uint64_t sign = std::signbit(value) ? 1U : 0U;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const std::uint64_t top = (std::uint64_t{1} << format.exponent_bits) - 1;
  const std::uint64_t infinity =
      format.has_infinity ? top << format.fraction_bits
                          : (top << format.fraction_bits) | ((1U << format.fraction_bits) - 1);
  const std::uint64_t sign_bit = sign << (format.exponent_bits + format.fraction_bits);
  if (std::isnan(value)) return sign_bit | infinity | 1U;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign_bit;
  if (std::isinf(magnitude)) return sign_bit | infinity;
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  // In units of the last place, with the hidden bit: rounding carries into the exponent by itself.
  const double units = std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent));
  const std::uint64_t bits =
      static_cast<std::uint64_t>(units) +
      (static_cast<std::uint64_t>(exponent + bias - 1) << format.fraction_bits);
  return sign_bit | std::min(bits, infinity);
}

double DecodeFloat(const Format& format, std::uint64_t bits) {
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << format.fraction_bits) - 1);
  const std::uint64_t top = (std::uint64_t{1} << format.exponent_bits) - 1;
  const std::uint64_t exponent = (bits >> format.fraction_bits) & top;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const bool negative = ((bits >> (format.exponent_bits + format.fraction_bits)) & 1U) != 0;
  const double sign = negative ? -1.0 : 1.0;
  const bool all_ones = fraction == (std::uint64_t{1} << format.fraction_bits) - 1;
  if (exponent == top && format.has_infinity) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == top && all_ones) return std::numeric_limits<double>::quiet_NaN();
  const double hidden = exponent == 0 ? 0.0 : std::ldexp(1.0, format.fraction_bits);
  const int scale = std::max<int>(static_cast<int>(exponent), 1) - bias - format.fraction_bits;
  return sign * std::ldexp(hidden + static_cast<double>(fraction), scale);
}

std::uint64_t EncodeInteger(double value, double least, double most, std::uint64_t mask) {
  const double rounded = std::isnan(value) ? 0.0 : std::clamp(std::nearbyint(value), least, most);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(rounded)) & mask;
}

}  // namespace

std::string_view NumberTypeName(NumberType type) {
  constexpr std::string_view names[] = {"fp64", "fp32", "tf32", "bf16", "fp16",
                                        "e4m3", "e5m2", "int8", "int32"};
  return names[static_cast<std::size_t>(type)];
}

std::size_t BytesOf(NumberType type) {
  constexpr std::size_t bytes[] = {8, 4, 4, 2, 2, 1, 1, 1, 4};
  return bytes[static_cast<std::size_t>(type)];
}

std::uint64_t Encode(NumberType type, double value) {
  if (type == NumberType::kFp64) return std::bit_cast<std::uint64_t>(value);
  if (type == NumberType::kInt8) return EncodeInteger(value, -128, 127, 0xff);
  if (type == NumberType::kInt32)
    return EncodeInteger(value, -2147483648.0, 2147483647.0, 0xffffffff);
  return EncodeFloat(FormatOf(type), value);
}

double Decode(NumberType type, std::uint64_t bits) {
  if (type == NumberType::kFp64) return std::bit_cast<double>(bits);
  if (type == NumberType::kInt8) return static_cast<std::int8_t>(bits);
  if (type == NumberType::kInt32) return static_cast<std::int32_t>(bits);
  return DecodeFloat(FormatOf(type), bits);
}

std::vector<std::byte> EncodeAll(NumberType type, const std::vector<float>& values) {
  const std::size_t size = BytesOf(type);
  std::vector<std::byte> bytes(values.size() * size);
  // Masked data are long runs of one value.
  std::uint32_t last = 0;
  std::uint64_t bits = Encode(type, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto pattern = std::bit_cast<std::uint32_t>(values[i]);
    if (pattern != last) bits = Encode(type, static_cast<double>(values[i]));
    last = pattern;
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

double ElementAt(NumberType type, const std::vector<std::byte>& bytes, std::size_t index) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * BytesOf(type), BytesOf(type));
  return Decode(type, bits);
}

MaskScheme SchemeOf(NumberType input, NumberType output) {
  MaskScheme scheme;
  scheme.exact_count = std::int64_t{1} << 24;
  if (input == NumberType::kFp64) {
    scheme.mask_a = std::ldexp(1.0, 1000);
    scheme.exact_count = std::int64_t{1} << 30;
  } else if (input == NumberType::kFp16) {
    scheme.mask_a = std::ldexp(1.0, 15);
    scheme.unit_a = std::ldexp(1.0, -24);
    // 2^14 units below a mask of 2^39 units: swallowed with 25 bits below the leading one.
    scheme.exact_count = std::int64_t{1} << 13;
  } else if (input == NumberType::kE4m3 || input == NumberType::kE5m2) {
    scheme.diagonal = true;
    scheme.mask_a = scheme.mask_b = std::ldexp(1.0, input == NumberType::kE4m3 ? 8 : 14);
    scheme.unit_a = scheme.unit_b = std::ldexp(1.0, input == NumberType::kE4m3 ? -9 : -14);
    scheme.exact_count = 256;
  } else {
    scheme.mask_a = std::ldexp(1.0, 120);
  }
  if (output == NumberType::kBf16)
    scheme.exact_count = std::min<std::int64_t>(scheme.exact_count, 256);
  if (output == NumberType::kFp16)
    scheme.exact_count = std::min<std::int64_t>(scheme.exact_count, 2048);
  return scheme;
}

std::int64_t LargestSum(const MaskScheme& scheme, int fraction_bits) {
  const double units = std::ldexp(scheme.mask() / scheme.unit(), -fraction_bits);
  return units >= std::ldexp(1.0, 62) ? std::int64_t{1} << 62 : static_cast<std::int64_t>(units);
}

}  // namespace rharness
