// Formats taken apart field by field.
#include "tests/compare/weights/reference_stats.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace rharness {
namespace {

using Wide = __int128;

struct Decoded {
  enum Kind { kFinite, kNan, kInfinity, kMinusInfinity } kind = kFinite;
  long double value = 0;  // exact
  Wide place = 0;         // consecutive representable values have consecutive places
  bool minus_zero = false;
  bool zero = false;
};

Decoded DecodeInteger(const FormatFields& fields, std::uint64_t bits) {
  Decoded decoded;
  Wide value = bits;
  if (fields.is_signed && (bits >> (fields.bits - 1)) != 0) value -= Wide{1} << fields.bits;
  decoded.value = static_cast<long double>(value);
  decoded.place = value;
  return decoded;
}

Decoded Decode(const FormatFields& fields, std::uint64_t bits) {
  if (fields.exponent_bits == 0) return DecodeInteger(fields, bits);
  Decoded decoded;
  if (fields.specials == FormatFields::kPowerOfTwo) {
    if (bits == 255) decoded.kind = Decoded::kNan;
    decoded.value = std::ldexp(1.0L, static_cast<int>(bits) - 127);
    decoded.place = bits;
    return decoded;
  }
  const int mantissa_bits = fields.bits - 1 - fields.exponent_bits;
  const bool negative = (bits >> (fields.bits - 1)) != 0;
  const std::uint64_t magnitude = bits & ((std::uint64_t{1} << (fields.bits - 1)) - 1);
  const int exponent = static_cast<int>(magnitude >> mantissa_bits);
  const std::uint64_t mantissa = magnitude & ((std::uint64_t{1} << mantissa_bits) - 1);
  const int all_ones = (1 << fields.exponent_bits) - 1;
  if (fields.specials == FormatFields::kFnuz && negative && magnitude == 0) {
    decoded.kind = Decoded::kNan;
  } else if (fields.specials == FormatFields::kOnlyNan && exponent == all_ones && mantissa == 7) {
    decoded.kind = Decoded::kNan;
  } else if (fields.specials == FormatFields::kIeee && exponent == all_ones) {
    decoded.kind = mantissa != 0 ? Decoded::kNan
                   : negative    ? Decoded::kMinusInfinity
                                 : Decoded::kInfinity;
  }
  const long double significand =
      static_cast<long double>(mantissa) + (exponent == 0 ? 0.0L : std::ldexp(1.0L, mantissa_bits));
  decoded.value =
      std::ldexp(significand, (exponent == 0 ? 1 : exponent) - fields.bias - mantissa_bits);
  if (negative) decoded.value = -decoded.value;
  decoded.zero = magnitude == 0 && decoded.kind == Decoded::kFinite;
  decoded.minus_zero = decoded.zero && negative;
  // Only a format with a minus zero has one more place below 0.
  const bool has_minus_zero = fields.specials != FormatFields::kFnuz;
  decoded.place = negative ? -Wide{magnitude} - (has_minus_zero ? 1 : 0) : Wide{magnitude};
  return decoded;
}

void AddFinite(const FormatFields& fields, const Decoded& x, const Decoded& y,
               ReferenceStats* stats) {
  const Wide steps = x.place > y.place ? x.place - y.place : y.place - x.place;
  const auto u = static_cast<double>(x.value), v = static_cast<double>(y.value);
  double distance = std::abs(u - v);
  if (fields.exponent_bits == 0) distance = static_cast<double>(steps);
  stats->a_squared += static_cast<long double>(u) * u;
  stats->b_squared += static_cast<long double>(v) * v;
  stats->product += static_cast<long double>(u) * v;
  stats->difference_squared += static_cast<long double>(distance) * distance;
  if (steps == 0) return;
  stats->max_ulp = std::max(stats->max_ulp, static_cast<std::uint64_t>(steps));
  int power = 0;
  while ((steps >> power) > 1) ++power;
  ++stats->ulp_histogram[static_cast<std::size_t>(power)];
  stats->max_abs = std::max(stats->max_abs, distance);
  const double larger = std::max(std::abs(u), std::abs(v));
  double relative = larger == 0 ? 0 : distance / larger;
  // A long double has the range that an fp64 difference lacks.
  if (std::isinf(distance)) relative = static_cast<double>(std::abs(x.value - y.value) / larger);
  stats->max_rel = std::max(stats->max_rel, relative);
}

void Add(const FormatFields& fields, std::uint64_t index, std::uint64_t a, std::uint64_t b,
         ReferenceStats* stats) {
  if (a != b && stats->differing++ == 0) stats->first_index = index;
  const Decoded x = Decode(fields, a), y = Decode(fields, b);
  stats->non_finite_changes += x.kind != y.kind;
  stats->nan_changes += (x.kind == Decoded::kNan) != (y.kind == Decoded::kNan);
  stats->zero_sign_changes += x.zero && y.zero && x.minus_zero != y.minus_zero;
  if (x.kind == Decoded::kFinite && y.kind == Decoded::kFinite) AddFinite(fields, x, y, stats);
}

}  // namespace

ReferenceStats MeasureByReference(const FormatFields& fields, const std::string& a,
                                  const std::string& b) {
  ReferenceStats stats;
  const auto size = static_cast<std::size_t>(fields.bits / 8);
  for (std::size_t i = 0; i < a.size() / size; ++i) {
    std::uint64_t x = 0, y = 0;
    std::memcpy(&x, a.data() + i * size, size);
    std::memcpy(&y, b.data() + i * size, size);
    Add(fields, i, x, y, &stats);
  }
  return stats;
}

}  // namespace rharness
