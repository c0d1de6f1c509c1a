// Distances against nextafter walks and hand values; checkpoints paired, and vacuity seen.
#include "compare/weights/tensor_diff.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
TensorDifference Diff(DType dtype, const std::vector<T>& a, const std::vector<T>& b) {
  TensorInfo info;
  info.name = "t";
  info.dtype = dtype;
  info.size_bytes = a.size() * sizeof(T);
  info.elements = info.size_bytes * 8 / static_cast<std::uint64_t>(BitsOf(dtype));
  info.shape = {info.elements};
  return DiffTensors(info, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

using Bytes = std::vector<std::uint8_t>;
using Halves = std::vector<std::uint16_t>;

// Steps from `from` up to `to`, counted one by one; -0 and 0 are one step apart.
template <class T>
std::uint64_t Walk(T from, T to) {
  std::uint64_t steps = 0;
  while (from < to) {
    from = std::nextafter(from, to);
    ++steps;
  }
  return steps;
}

TEST(TensorDiff, SeesNoDifferenceBetweenEqualBits) {
  const std::vector<float> values = {1.0f, std::nanf(""), -0.0f};
  const TensorDifference difference = Diff(DType::kF32, values, values);
  EXPECT_EQ(difference.differing, 0u);
  EXPECT_EQ(difference.elements, 3u);
  EXPECT_EQ(difference.max_abs, 0.0);
  EXPECT_EQ(difference.non_finite_changes, 0u);
}

TEST(TensorDiff, CountsElementsAndFindsTheFirst) {
  const TensorDifference difference =
      Diff<float>(DType::kF32, {1, 2, 3, 4, 5}, {1, 2, 3.5, 4, 4.75});
  EXPECT_EQ(difference.differing, 2u);
  EXPECT_EQ(difference.first_index, 2u);
  EXPECT_EQ(difference.max_abs, 0.5);
  // In [2, 4) an fp32 step is 2^-22, in [4, 8) it is 2^-21.
  EXPECT_EQ(difference.max_ulp, std::uint64_t{1} << 21);
}

TEST(TensorDiff, CountsUlpLikeAWalkOverNextafter) {
  for (const float start : {1.0f, 0.99999f, 1e-44f, 3.0e38f, 1.1754942e-38f}) {
    float end = start;
    for (int i = 0; i < 1000; ++i) end = std::nextafter(end, std::numeric_limits<float>::max());
    const std::uint64_t steps = Walk(start, end);
    ASSERT_EQ(steps, 1000u);
    EXPECT_EQ(Diff<float>(DType::kF32, {start}, {end}).max_ulp, steps) << start;
    EXPECT_EQ(Diff<float>(DType::kF32, {-end}, {-start}).max_ulp, steps) << start;
  }
  double end = 1.0;
  for (int i = 0; i < 77; ++i) end = std::nextafter(end, 0.0);
  EXPECT_EQ(Diff<double>(DType::kF64, {1.0}, {end}).max_ulp, 77u);
}

TEST(TensorDiff, CountsOneStepBetweenTheZeros) {
  EXPECT_EQ(Diff<float>(DType::kF32, {0.0f}, {-0.0f}).max_ulp, 1u);
  EXPECT_EQ(Diff<float>(DType::kF32, {0.0f}, {-0.0f}).max_abs, 0.0);
  EXPECT_EQ(Diff<double>(DType::kF64, {-0.0}, {0.0}).max_ulp, 1u);
  EXPECT_EQ(Diff<Halves::value_type>(DType::kF16, {0x8000}, {0}).max_ulp, 1u);
  EXPECT_EQ(Diff<Halves::value_type>(DType::kBF16, {0}, {0x8000}).max_ulp, 1u);
  EXPECT_EQ(Diff<Bytes::value_type>(DType::kF8E5M2, {0x80}, {0}).max_ulp, 1u);
  EXPECT_EQ(Diff<Bytes::value_type>(DType::kF8E4M3, {0x80}, {0}).max_ulp, 1u);
  // Across both zeros: -min, -0, 0, min.
  const float smallest = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(Diff<float>(DType::kF32, {-smallest}, {smallest}).max_ulp, 3u);
}

TEST(TensorDiff, CountsTheWholeRangeWithoutOverflow) {
  const double largest = std::numeric_limits<double>::max();
  const TensorDifference difference = Diff<double>(DType::kF64, {-largest}, {largest});
  // 2 * (2046 * 2^52 + 2^52 - 1) patterns between, and the step between the zeros.
  EXPECT_EQ(difference.max_ulp, 2 * std::bit_cast<std::uint64_t>(largest) + 1);
  EXPECT_EQ(difference.max_abs, kInfinity);
}

TEST(TensorDiff, MeasuresHalfPrecisionValues) {
  // fp16: 0x3c00 = 1, 0x3c01 = 1 + 2^-10, 0x7bff = 65504, 0x0001 = 2^-24, 0x8001 = -2^-24.
  EXPECT_EQ(Diff<std::uint16_t>(DType::kF16, {0x3c00}, {0x3c01}).max_abs, 0x1p-10);
  EXPECT_EQ(Diff<std::uint16_t>(DType::kF16, {0x3c00}, {0x3c01}).max_ulp, 1u);
  EXPECT_EQ(Diff<std::uint16_t>(DType::kF16, {0x7bff}, {0}).max_abs, 65504.0);
  EXPECT_EQ(Diff<std::uint16_t>(DType::kF16, {0x0001}, {0x8001}).max_abs, 0x1p-23);
  EXPECT_EQ(Diff<std::uint16_t>(DType::kF16, {0x0001}, {0x8001}).max_ulp, 3u);
  // bf16: 0x3f80 = 1, 0x3f81 = 1 + 2^-7, 0xc000 = -2.
  EXPECT_EQ(Diff<std::uint16_t>(DType::kBF16, {0x3f80}, {0x3f81}).max_abs, 0x1p-7);
  EXPECT_EQ(Diff<std::uint16_t>(DType::kBF16, {0x3f80}, {0xc000}).max_abs, 3.0);
}

TEST(TensorDiff, MeasuresEightBitFloats) {
  // The published extremes: e4m3 0x7e = 448 and 0x01 = 2^-9; e5m2 0x7b = 57344 and 0x01 = 2^-16;
  // e4m3fnuz 0x7f = 240 and 0x01 = 2^-10; e5m2fnuz 0x7f = 57344 and 0x01 = 2^-17.
  const auto distance_from_zero = [](DType dtype, std::uint8_t bits) {
    return Diff<std::uint8_t>(dtype, {0}, {bits}).max_abs;
  };
  EXPECT_EQ(distance_from_zero(DType::kF8E4M3, 0x7e), 448.0);
  EXPECT_EQ(distance_from_zero(DType::kF8E4M3, 0x01), 0x1p-9);
  EXPECT_EQ(distance_from_zero(DType::kF8E4M3, 0xb8), 1.0);  // -1
  EXPECT_EQ(distance_from_zero(DType::kF8E5M2, 0x7b), 57344.0);
  EXPECT_EQ(distance_from_zero(DType::kF8E5M2, 0x01), 0x1p-16);
  EXPECT_EQ(distance_from_zero(DType::kF8E4M3Fnuz, 0x7f), 240.0);
  EXPECT_EQ(distance_from_zero(DType::kF8E4M3Fnuz, 0x01), 0x1p-10);
  EXPECT_EQ(distance_from_zero(DType::kF8E5M2Fnuz, 0x7f), 57344.0);
  EXPECT_EQ(distance_from_zero(DType::kF8E5M2Fnuz, 0x01), 0x1p-17);
  // e8m0: 0x7f = 1, 0x80 = 2, 0x00 = 2^-127.
  EXPECT_EQ(Diff<std::uint8_t>(DType::kF8E8M0, {0x7f}, {0x80}).max_abs, 1.0);
  EXPECT_EQ(Diff<std::uint8_t>(DType::kF8E8M0, {0x00}, {0xfe}).max_ulp, 254u);
}

TEST(TensorDiff, KnowsThatFnuzHasNoNegativeZero) {
  for (const DType dtype : {DType::kF8E4M3Fnuz, DType::kF8E5M2Fnuz}) {
    EXPECT_EQ(Diff<std::uint8_t>(dtype, {0x00}, {0x81}).max_ulp, 1u);
    EXPECT_EQ(Diff<std::uint8_t>(dtype, {0x01}, {0x81}).max_ulp, 2u);
    const TensorDifference nan = Diff<std::uint8_t>(dtype, {0x00}, {0x80});
    EXPECT_EQ(nan.non_finite_changes, 1u);
    EXPECT_TRUE(std::isnan(nan.max_abs));
  }
}

TEST(TensorDiff, KnowsWhichEightBitPatternsAreNotFinite) {
  const auto changes = [](DType dtype, std::uint8_t a, std::uint8_t b) {
    return Diff<std::uint8_t>(dtype, {a}, {b}).non_finite_changes;
  };
  EXPECT_EQ(changes(DType::kF8E4M3, 0x7e, 0x7f), 1u);  // 448 and NaN
  EXPECT_EQ(changes(DType::kF8E4M3, 0x7f, 0xff), 0u);  // both NaN
  EXPECT_EQ(changes(DType::kF8E5M2, 0x7b, 0x7c), 1u);  // 57344 and infinity
  EXPECT_EQ(changes(DType::kF8E5M2, 0x7c, 0xfc), 1u);  // infinity and -infinity
  EXPECT_EQ(changes(DType::kF8E5M2, 0x7c, 0x7d), 1u);  // infinity and NaN
  EXPECT_EQ(changes(DType::kF8E5M2, 0x7d, 0xfe), 0u);  // both NaN
  EXPECT_EQ(changes(DType::kF8E8M0, 0xfe, 0xff), 1u);
}

TEST(TensorDiff, CountsChangesOfKindApartFromDistances) {
  const double payload = std::bit_cast<double>(std::bit_cast<std::uint64_t>(kNan) ^ 1u);
  const TensorDifference difference = Diff<double>(
      DType::kF64, {1.0, kInfinity, kInfinity, kNan, kNan}, {kNan, -kInfinity, 2.0, payload, kNan});
  EXPECT_EQ(difference.differing, 4u);
  EXPECT_EQ(difference.non_finite_changes, 3u);
  EXPECT_TRUE(std::isnan(difference.max_abs)) << "no pair of finite values differs";
  EXPECT_EQ(difference.max_ulp, 0u);
}

TEST(TensorDiff, MeasuresIntegersExactlyBeforeRounding) {
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  const TensorDifference widest = Diff<std::int64_t>(DType::kI64, {lowest}, {highest});
  EXPECT_EQ(widest.max_ulp, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(widest.max_abs, 0x1p64);
  EXPECT_EQ(Diff<std::int64_t>(DType::kI64, {highest}, {highest - 1}).max_abs, 1.0);
  EXPECT_EQ(Diff<std::uint64_t>(DType::kU64, {~std::uint64_t{0}}, {~std::uint64_t{0} - 3}).max_abs,
            3.0);
  EXPECT_EQ(Diff<std::int8_t>(DType::kI8, {-128}, {127}).max_ulp, 255u);
  EXPECT_EQ(Diff<std::uint8_t>(DType::kU8, {0}, {255}).max_abs, 255.0);
  EXPECT_EQ(Diff<std::int16_t>(DType::kI16, {-1}, {1}).max_ulp, 2u);
  EXPECT_EQ(Diff<std::uint16_t>(DType::kU16, {65535}, {1}).max_ulp, 65534u);
  EXPECT_EQ(Diff<std::int32_t>(DType::kI32, {-5}, {5}).max_abs, 10.0);
  EXPECT_EQ(Diff<std::uint32_t>(DType::kU32, {4294967295u}, {0}).max_ulp, 4294967295u);
  EXPECT_EQ(Diff<std::uint8_t>(DType::kBool, {0, 1, 1}, {0, 0, 1}).differing, 1u);
}

TEST(TensorDiff, CountsComplexElementsAndMeasuresTheirComponents) {
  const float inf = std::numeric_limits<float>::infinity();
  const TensorDifference difference =
      Diff<float>(DType::kC64, {1, 2, 3, 4, inf, inf}, {1, 2, 3.5, 4.25, 0, 0});
  EXPECT_EQ(difference.elements, 3u);
  EXPECT_EQ(difference.differing, 2u);
  EXPECT_EQ(difference.first_index, 1u);
  EXPECT_EQ(difference.max_abs, 0.5);
  EXPECT_EQ(difference.non_finite_changes, 1u);
}

TEST(TensorDiff, CountsStepsByPowersOfTwo) {
  // 1 + k * 2^-23 is k steps above 1.
  std::vector<float> a(8, 1.0f), b;
  for (const int steps : {0, 1, 2, 3, 4, 7, 8, 1024}) {
    b.push_back(1.0f + std::ldexp(static_cast<float>(steps), -23));
  }
  UlpHistogram expected{};
  expected[0] = 1;   // 1
  expected[1] = 2;   // 2, 3
  expected[2] = 2;   // 4, 7
  expected[3] = 1;   // 8
  expected[10] = 1;  // 1024
  EXPECT_EQ(Diff(DType::kF32, a, b).ulp_histogram, expected);
  const double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(Diff<double>(DType::kF64, {largest}, {-largest}).ulp_histogram[63], 1u);
}

TEST(TensorDiff, GivesNormsAndCosineOfKnownVectors) {
  const TensorDifference difference = Diff<float>(DType::kF32, {3, 4}, {4, 3});
  EXPECT_EQ(difference.norm_a, 5.0);
  EXPECT_EQ(difference.norm_b, 5.0);
  EXPECT_DOUBLE_EQ(difference.norm_difference, std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(difference.cosine, 24.0 / 25.0);
  EXPECT_EQ(difference.max_rel, 0.25);
  EXPECT_DOUBLE_EQ(Diff<double>(DType::kF64, {1, 2}, {-3, -6}).cosine, -1.0);
  EXPECT_EQ(Diff<double>(DType::kF64, {1, 0}, {0, 7}).cosine, 0.0);
  EXPECT_EQ(Diff<std::int8_t>(DType::kI8, {-6, 8}, {0, 0}).norm_difference, 10.0);
  // Components of complex numbers: |3 + 4i| = 5.
  EXPECT_EQ(Diff<float>(DType::kC64, {3, 4}, {0, 0}).norm_a, 5.0);
}

TEST(TensorDiff, HasNormsOfEqualTensorsToo) {
  const TensorDifference difference = Diff<float>(DType::kF32, {3, 4}, {3, 4});
  EXPECT_EQ(difference.norm_a, 5.0);
  EXPECT_EQ(difference.norm_difference, 0.0);
  EXPECT_EQ(difference.cosine, 1.0);
  EXPECT_EQ(difference.max_rel, 0.0);
}

TEST(TensorDiff, HasNoCosineWithAZeroVector) {
  const TensorDifference difference = Diff<float>(DType::kF32, {0, 0}, {1, 2});
  EXPECT_EQ(difference.norm_a, 0.0);
  EXPECT_TRUE(std::isnan(difference.cosine));
}

TEST(TensorDiff, BoundsRelativeDistances) {
  EXPECT_EQ(Diff<float>(DType::kF32, {0}, {5}).max_rel, 1.0);
  EXPECT_EQ(Diff<float>(DType::kF32, {-5}, {5}).max_rel, 2.0);
  EXPECT_EQ(Diff<float>(DType::kF32, {-0.0f}, {0}).max_rel, 0.0);
  EXPECT_EQ(Diff<float>(DType::kF32, {-1}, {2}).max_rel, 1.5);
  EXPECT_EQ(Diff<std::int32_t>(DType::kI32, {-4}, {4}).max_rel, 2.0);
  // Where the difference of the two overflows, the quotient does not; as one pair and in a vector.
  const double largest = std::numeric_limits<double>::max();
  for (const std::size_t length : {std::size_t{1}, std::size_t{8}}) {
    std::vector<double> a(length, 1e-320), b(length, 2e-320);
    a[0] = largest;
    b[0] = -largest / 2;
    EXPECT_EQ(Diff(DType::kF64, a, b).max_rel, 1.5);
    EXPECT_EQ(Diff(DType::kF64, a, b).max_abs, kInfinity);
  }
}

TEST(TensorDiff, CountsNanAndZeroSignChanges) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const TensorDifference difference =
      Diff<float>(DType::kF32, {nan, 1, nan, inf, 0, -0.0f, 0, nan, inf, 1},
                  {1, nan, inf, 1, -0.0f, 0, 0, nan, -inf, 2});
  EXPECT_EQ(difference.differing, 8u);
  EXPECT_EQ(difference.non_finite_changes, 5u);
  EXPECT_EQ(difference.nan_changes, 3u);
  EXPECT_EQ(difference.zero_sign_changes, 2u);
  EXPECT_EQ(difference.norm_a, 1.0) << "of pairs that are finite on both sides";
  EXPECT_EQ(difference.norm_b, 2.0);
  EXPECT_EQ(difference.max_rel, 0.5);
}

TEST(TensorDiff, CountsPackedElements) {
  // Nibbles from the low end: byte 0x21 holds 1 then 2.
  const TensorDifference f4 = Diff<std::uint8_t>(DType::kF4, {0x21, 0x43}, {0x31, 0x52});
  EXPECT_EQ(f4.elements, 4u);
  EXPECT_EQ(f4.differing, 3u);
  EXPECT_EQ(f4.first_index, 1u);
  EXPECT_TRUE(std::isnan(f4.max_abs));
  EXPECT_EQ(f4.max_ulp, 0u);
  EXPECT_TRUE(std::isnan(f4.max_rel));
  EXPECT_TRUE(std::isnan(f4.norm_a));
  EXPECT_TRUE(std::isnan(f4.norm_difference));
  EXPECT_TRUE(std::isnan(f4.cosine));
  // Four 6-bit elements in 24 bits: bit 11 belongs to element 1, bit 12 to element 2.
  const TensorDifference f6 =
      Diff<std::uint8_t>(DType::kF6E2M3, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0x18, 0});
  EXPECT_EQ(f6.elements, 8u);
  EXPECT_EQ(f6.differing, 2u);
  EXPECT_EQ(f6.first_index, 5u);
}

TEST(TensorDiff, FindsOneElementAnywhereInALongTensor) {
  for (const std::size_t at : {0u, 767u, 768u, 769u, 5000u, 9998u, 9999u}) {
    const std::vector<float> a(10000, 1.0f);
    std::vector<float> b = a;
    b[at] = 2.0f;
    const TensorDifference difference = Diff(DType::kF32, a, b);
    EXPECT_EQ(difference.differing, 1u) << at;
    EXPECT_EQ(difference.first_index, at);
  }
  Bytes a(10000, 0);
  Bytes b = a;
  b[9999] = 0x10;
  EXPECT_EQ(Diff(DType::kF4, a, b).first_index, 19999u);
  a.resize(9999);
  b = a;
  b[9998] = 0x80;
  EXPECT_EQ(Diff(DType::kF6E3M2, a, b).first_index, 9999u / 3 * 4 - 1);
}

}  // namespace
}  // namespace rharness
