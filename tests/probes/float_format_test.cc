// The model of small formats against values that their standards print.
#include "probes/cpu/float_format.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rharness {
namespace {

struct Case {
  FloatFormat format;
  double value;
  std::uint32_t code;
};

TEST(FloatFormat, EncodesWhatTheStandardsPrint) {
  const double infinity = INFINITY;
  for (const Case& one : std::initializer_list<Case>{
           // IEEE 754-2019, binary16: largest number, first overflow, smallest, tie to zero.
           {kFp16, 65504, 0x7bff},
           {kFp16, 65520, 0x7c00},
           {kFp16, 65519.99, 0x7bff},
           {kFp16, 0x1p-24, 0x0001},
           {kFp16, 0x1p-25, 0x0000},
           {kFp16, 0x1.8p-25, 0x0001},
           {kFp16, 0x1p-14, 0x0400},
           {kFp16, 0x1.ffcp-15, 0x0400},  // rounds up out of the subnormals
           {kFp16, -2.0, 0xc000},
           {kFp16, -0.0, 0x8000},
           {kFp16, -infinity, 0xfc00},
           {kFp16, NAN, 0x7e00},
           // bfloat16 is the upper half of binary32; ties to even.
           {kBf16, 1.0, 0x3f80},
           {kBf16, 1 + 0x1p-8, 0x3f80},
           {kBf16, 1 + 0x3p-8, 0x3f82},
           {kBf16, 0x1.fep127, 0x7f7f},
           {kBf16, 0x1.ffp127, 0x7f80},
           // OCP 8-bit Floating Point Specification 1.0, tables 1 and 2.
           {kE4m3, 448, 0x7e},
           {kE4m3, 464, 0x7e},
           {kE4m3, 465, 0x7f},
           {kE4m3, 0x1p-6, 0x08},
           {kE4m3, 0x1p-9, 0x01},
           {kE4m3, -infinity, 0xff},
           {kE5m2, 57344, 0x7b},
           {kE5m2, infinity, 0x7c},
           {kE5m2, 0x1p-14, 0x04},
           {kE5m2, 0x1p-16, 0x01}}) {
    EXPECT_EQ(EncodeFloat(one.format, one.value), one.code) << one.format.name << " " << one.value;
  }
}

TEST(FloatFormat, SaturatesWhenAsked) {
  EXPECT_EQ(EncodeFloat(kE4m3, 1e9, true), 0x7eU);
  EXPECT_EQ(EncodeFloat(kE4m3, -INFINITY, true), 0xfeU);
  EXPECT_EQ(EncodeFloat(kE5m2, 1e9, true), 0x7bU);
  EXPECT_EQ(EncodeFloat(kFp16, 1e9, true), 0x7bffU);
  EXPECT_EQ(EncodeFloat(kE4m3, NAN, true), 0x7fU);
}

TEST(FloatFormat, DecodesEveryCodeToWhatEncodesToIt) {
  for (const FloatFormat& format : {kFp16, kBf16, kE4m3, kE5m2}) {
    const std::uint32_t codes = 1U << (1 + format.exponent_bits + format.mantissa_bits);
    for (std::uint32_t code = 0; code < codes; ++code) {
      const double value = DecodeFloat(format, code);
      if (std::isnan(value)) continue;
      ASSERT_EQ(EncodeFloat(format, value), code) << format.name;
    }
  }
  EXPECT_EQ(DecodeFloat(kE4m3, 0x7e), 448.0);
  EXPECT_TRUE(std::isnan(DecodeFloat(kE4m3, 0xff)));
  EXPECT_EQ(DecodeFloat(kE5m2, 0xfc), -INFINITY);
}

}  // namespace
}  // namespace rharness
