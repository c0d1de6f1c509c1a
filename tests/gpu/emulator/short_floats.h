// Floating-point numbers of 8, 16 and 19 bits.
//
// Role: conversions and tensor cores; a second implementation beside probes/gpu/number_type.h, with
// the device's roundings. Sources: PTX ISA, "cvt"; Micikevicius et al., arXiv:2209.05433 (e4m3,
// e5m2).
#ifndef RHARNESS_TESTS_GPU_EMULATOR_SHORT_FLOATS_H_
#define RHARNESS_TESTS_GPU_EMULATOR_SHORT_FLOATS_H_

#include <cstdint>

#include "tests/gpu/emulator/ptx_program.h"

namespace rharness {

// Of the bits of a short float, from high to low: sign, exponent, fraction.
struct ShortFormat {
  int exponent_bits = 5;
  int fraction_bits = 10;
  bool infinities = true;  // e4m3 has none, and all ones is its only NaN
  std::uint32_t nan = 0x7fff;
};

// kF16, kBf16, kE4m3 and kE5m2; a pair's is that of its elements. Aborts for others.
ShortFormat ShortFormatOf(PtxType type);

// Rounded to nearest, ties to even, or towards zero. A value beyond the largest becomes infinity
// (NaN where there is none), or the largest when rounded towards zero or `finite`.
std::uint32_t EncodeShort(const ShortFormat& format, float value, PtxRounding rounding,
                          bool finite);
double DecodeShort(const ShortFormat& format, std::uint32_t bits);

// fp32 bits with the low 13 zero: cvt.rna.tf32, to nearest, ties away from zero.
std::uint32_t RoundToTf32(std::uint32_t bits);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_SHORT_FLOATS_H_
