// Types of matrix elements: how a value is stored in them, and which masks reveal an order in them.
#ifndef RHARNESS_PROBES_GPU_NUMBER_TYPE_H_
#define RHARNESS_PROBES_GPU_NUMBER_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rharness {

enum class NumberType { kFp64, kFp32, kTf32, kBf16, kFp16, kE4m3, kE5m2, kInt8, kInt32 };

std::string_view NumberTypeName(NumberType type);  // "fp32", "e4m3", ...
std::size_t BytesOf(NumberType type);              // of storage; tf32 is stored as fp32

// The bits of `value` in `type`, rounded to nearest, ties to even, in the low bytes. Beyond the
// largest finite value: infinity, and NaN in e4m3, which has no infinity. Integers are cut to their
// range. tf32 is the fp32 of the same value. Source of fp8: Micikevicius et al., "FP8 Formats for
// Deep Learning", arXiv:2209.05433, table 1.
std::uint64_t Encode(NumberType type, double value);
double Decode(NumberType type, std::uint64_t bits);

// Elements one after the other, little-endian.
std::vector<std::byte> EncodeAll(NumberType type, const std::vector<float>& values);
double ElementAt(NumberType type, const std::vector<std::byte>& bytes, std::size_t index);

// The values of masked sums of products. A summand is a product: the mask is mask_a * mask_b, the
// unit unit_a * unit_b.
struct MaskScheme {
  double mask_a = 1, mask_b = 1;
  double unit_a = 1, unit_b = 1;
  // Masks are in both operands: question q is row q of A with column q of B. Else B is all unit_b.
  bool diagonal = false;
  std::int64_t exact_count = 1;  // units that the narrowest accumulator counts exactly

  double mask() const { return mask_a * mask_b; }
  double unit() const { return unit_a * unit_b; }
};

// For inputs of one type and an output of a second type. Limits: fp16 has no value above 65504 and
// none below 2^-24, so its masks are 2^15 and its unit 2^-24; fp8 needs both operands to span more
// than 2^25; counts in a 16-bit output are exact up to 2^11 and 2^8.
MaskScheme SchemeOf(NumberType input, NumberType output);

// The most summands for which a mask swallows all other units in an accumulator that keeps
// `fraction_bits` below the leading bit of the mask.
std::int64_t LargestSum(const MaskScheme& scheme, int fraction_bits);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_NUMBER_TYPE_H_
