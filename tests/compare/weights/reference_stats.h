// An independent measure of two tensors: formats decoded field by field, sums in long double.
//
// Role: expected values for the kernels; shares no code with them. Slow and plain.
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_REFERENCE_STATS_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_REFERENCE_STATS_H_

#include <array>
#include <cstdint>
#include <string>

#include "compare/weights/checkpoint.h"

namespace rharness {

// How a scalar dtype's bits are to be read. Integers have no exponent.
struct FormatFields {
  DType dtype;
  int bits;
  int exponent_bits;  // 0: an integer
  int bias;
  bool is_signed = true;
  enum Specials { kIeee, kOnlyNan, kFnuz, kPowerOfTwo } specials = kIeee;
};

inline constexpr std::array<FormatFields, 18> kScalarFormats = {{
    {DType::kBool, 8, 0, 0, false},
    {DType::kU8, 8, 0, 0, false},
    {DType::kI8, 8, 0, 0},
    {DType::kF8E5M2, 8, 5, 15},
    {DType::kF8E4M3, 8, 4, 7, true, FormatFields::kOnlyNan},
    {DType::kF8E8M0, 8, 8, 127, false, FormatFields::kPowerOfTwo},
    {DType::kF8E4M3Fnuz, 8, 4, 8, true, FormatFields::kFnuz},
    {DType::kF8E5M2Fnuz, 8, 5, 16, true, FormatFields::kFnuz},
    {DType::kI16, 16, 0, 0},
    {DType::kU16, 16, 0, 0, false},
    {DType::kF16, 16, 5, 15},
    {DType::kBF16, 16, 8, 127},
    {DType::kI32, 32, 0, 0},
    {DType::kU32, 32, 0, 0, false},
    {DType::kF32, 32, 8, 127},
    {DType::kF64, 64, 11, 1023},
    {DType::kI64, 64, 0, 0},
    {DType::kU64, 64, 0, 0, false},
}};

struct ReferenceStats {
  std::uint64_t differing = 0, first_index = 0, max_ulp = 0;
  std::uint64_t non_finite_changes = 0, nan_changes = 0, zero_sign_changes = 0;
  std::array<std::uint64_t, 64> ulp_histogram{};
  double max_abs = 0, max_rel = 0;
  long double a_squared = 0, b_squared = 0, difference_squared = 0, product = 0;
};

// Both hold elements of `fields` alone, in the machine's order of bytes.
ReferenceStats MeasureByReference(const FormatFields& fields, const std::string& a,
                                  const std::string& b);

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_REFERENCE_STATS_H_
