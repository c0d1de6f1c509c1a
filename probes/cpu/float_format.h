// Small floating-point formats, encoded and decoded by exact arithmetic: a model to compare with.
#ifndef RHARNESS_PROBES_CPU_FLOAT_FORMAT_H_
#define RHARNESS_PROBES_CPU_FLOAT_FORMAT_H_

#include <cstdint>
#include <string_view>

namespace rharness {

struct FloatFormat {
  std::string_view name;
  int exponent_bits = 0;
  int mantissa_bits = 0;
  bool has_infinity = true;  // else the top exponent holds numbers and one NaN, all ones
};
// IEEE 754 binary16; bfloat16; OCP 8-bit Floating Point Specification, revision 1.0.
inline constexpr FloatFormat kFp16 = {"fp16", 5, 10};
inline constexpr FloatFormat kBf16 = {"bf16", 8, 7};
inline constexpr FloatFormat kE5m2 = {"e5m2", 5, 2};
inline constexpr FloatFormat kE4m3 = {"e4m3", 4, 3, false};

// Round to nearest, ties to even. Too large values become infinity (NaN without one), or the
// largest number when `saturate`. NaN is the quiet NaN with no payload, of the same sign. The
// rounding mode of the process must be to nearest.
std::uint32_t EncodeFloat(const FloatFormat& format, double value, bool saturate = false);

// Exact. `code` has 1 + exponent_bits + mantissa_bits bits.
double DecodeFloat(const FloatFormat& format, std::uint32_t code);

}  // namespace rharness

#endif  // RHARNESS_PROBES_CPU_FLOAT_FORMAT_H_
