// Short floating-point types: published bit patterns, and every pattern there and back.
#include "probes/gpu/number_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rharness {
namespace {

using T = NumberType;

TEST(NumberType, EncodesPublishedPatterns) {
  struct Case {
    T type;
    double value;
    std::uint64_t bits;
  };
  const double inf = std::numeric_limits<double>::infinity();
  // IEEE 754 for binary16; table 1 of arXiv:2209.05433 for fp8.
  for (const Case& one : {Case{T::kFp16, 1.0, 0x3c00},
                          Case{T::kFp16, 65504, 0x7bff},
                          Case{T::kFp16, 65520, 0x7c00},
                          Case{T::kFp16, std::ldexp(1, -24), 1},
                          Case{T::kFp16, -2.0, 0xc000},
                          Case{T::kFp16, std::ldexp(1, -25), 0},
                          Case{T::kFp16, 1 + std::ldexp(1, -11), 0x3c00},
                          Case{T::kFp16, 1 + 3 * std::ldexp(1, -11), 0x3c02},
                          Case{T::kBf16, 1.0, 0x3f80},
                          Case{T::kBf16, -inf, 0xff80},
                          Case{T::kE4m3, 448, 0x7e},
                          Case{T::kE4m3, inf, 0x7f},
                          Case{T::kE4m3, std::ldexp(1, -9), 1},
                          Case{T::kE4m3, 1.0, 0x38},
                          Case{T::kE5m2, 57344, 0x7b},
                          Case{T::kE5m2, inf, 0x7c},
                          Case{T::kE5m2, std::ldexp(1, -16), 1},
                          Case{T::kFp32, 1.0, 0x3f800000},
                          Case{T::kFp64, 1.0, 0x3ff0000000000000},
                          Case{T::kInt8, -128, 0x80},
                          Case{T::kInt8, 300, 0x7f},
                          Case{T::kInt32, -1, 0xffffffff}}) {
    EXPECT_EQ(Encode(one.type, one.value), one.bits)
        << NumberTypeName(one.type) << " " << one.value;
  }
}

TEST(NumberType, GoesThereAndBackForEveryPattern) {
  for (const T type : {T::kBf16, T::kFp16, T::kE4m3, T::kE5m2, T::kInt8}) {
    const std::uint64_t patterns = std::uint64_t{1} << (8 * BytesOf(type));
    for (std::uint64_t bits = 0; bits < patterns; ++bits) {
      const double value = Decode(type, bits);
      if (std::isnan(value)) continue;
      ASSERT_EQ(Encode(type, value), bits) << NumberTypeName(type);
    }
  }
}

TEST(NumberType, RoundsAsTheProcessorDoesToFp32) {
  for (int i = -2000; i < 2000; ++i) {
    const double value = std::ldexp(1.0 + i * 1.23456789e-9, i / 12);
    const auto expected = static_cast<double>(static_cast<float>(value));
    EXPECT_EQ(Decode(T::kFp32, Encode(T::kFp32, value)), expected) << value;
  }
}

TEST(MaskScheme, HasMasksAndUnitsThatTheTypeHasAndSwallowsWhatItCounts) {
  for (const T type : {T::kFp64, T::kFp32, T::kTf32, T::kBf16, T::kFp16, T::kE4m3, T::kE5m2}) {
    const MaskScheme scheme = SchemeOf(type, type == T::kFp64 ? type : T::kFp32);
    for (const double value : {scheme.mask_a, scheme.mask_b, scheme.unit_a, scheme.unit_b}) {
      EXPECT_EQ(Decode(type, Encode(type, value)), value) << NumberTypeName(type);
    }
    EXPECT_GE(LargestSum(scheme, type == T::kFp64 ? 52 : 25), scheme.exact_count)
        << NumberTypeName(type);
  }
  // 2^15 and 2^-24: at most 2^14 units with 25 bits below the leading one.
  EXPECT_EQ(LargestSum(SchemeOf(T::kFp16, T::kFp32), 25), 16384);
  EXPECT_EQ(SchemeOf(T::kBf16, T::kBf16).exact_count, 256);
  EXPECT_EQ(SchemeOf(T::kFp16, T::kFp16).exact_count, 2048);
}

}  // namespace
}  // namespace rharness
