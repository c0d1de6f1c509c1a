// Every kernel of this machine against an independent reference, and against each other.
#include "compare/weights/tensor_stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "compare/weights/tensor_pairs.h"
#include "tests/compare/weights/reference_stats.h"

namespace rharness {
namespace {

std::vector<Kernel> KernelsHere() {
  std::vector<Kernel> kernels;
  for (const Kernel kernel : {Kernel::kScalar, Kernel::kAvx2, Kernel::kAvx512}) {
    if (MachineHas(kernel)) kernels.push_back(kernel);
  }
  return kernels;
}

RangeDifference Measure(DType dtype, const std::string& a, const std::string& b,
                        Kernel kernel = BestKernel()) {
  return MeasureBytes(dtype, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), kernel);
}

std::string RandomBytes(std::size_t size, std::mt19937_64* random) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>((*random)());
  return bytes;
}

// Patterns that formats treat apart: zeros, the smallest, infinities, NaNs, the largest.
std::uint64_t SpecialPattern(const FormatFields& fields, std::uint64_t choice) {
  const std::uint64_t sign = std::uint64_t{1} << (fields.bits - 1);
  const int mantissa_bits = std::max(fields.bits - 1 - fields.exponent_bits, 0);
  const std::uint64_t infinity = (sign - 1) >> mantissa_bits << mantissa_bits;
  const std::uint64_t magnitudes[] = {0,        1,        infinity,     infinity - 1,
                                      sign - 1, sign - 2, infinity + 1, sign >> 1};
  return magnitudes[choice / 2 % 8] | (choice % 2 == 0 ? 0 : sign);
}

// A tensor and one like it: some elements equal, some a few bits away, some special, some random.
std::pair<std::string, std::string> RandomPair(const FormatFields& fields, std::size_t elements,
                                               std::mt19937_64* random) {
  const auto size = static_cast<std::size_t>(fields.bits / 8);
  std::string a = RandomBytes(elements * size, random), b = a;
  for (std::size_t i = 0; i < elements; ++i) {
    std::uint64_t x = 0, y = 0;
    std::memcpy(&x, &a[i * size], size);
    const std::uint64_t choice = (*random)() % 32;
    y = choice < 8 ? x : choice < 20 ? x ^ ((*random)() % 16) : (*random)();
    if (choice >= 28) x = SpecialPattern(fields, (*random)());
    if (choice >= 26) y = SpecialPattern(fields, (*random)());
    std::memcpy(&a[i * size], &x, size);
    std::memcpy(&b[i * size], &y, size);
  }
  return {a, b};
}

void ExpectNear(double sum, long double expected, const std::string& what) {
  if (std::isinf(sum) || std::isnan(sum)) return;  // squares beyond fp64, which long double holds
  EXPECT_NEAR(sum, static_cast<double>(expected), 1e-10 * std::abs(static_cast<double>(expected)))
      << what;
}

void ExpectAgrees(const RangeDifference& measured, const ReferenceStats& expected,
                  const std::string& what) {
  const TensorStats& stats = measured.stats;
  EXPECT_EQ(stats.differing, expected.differing) << what;
  if (expected.differing > 0) {
    EXPECT_EQ(stats.first_index, expected.first_index) << what;
  }
  EXPECT_EQ(stats.max_ulp, expected.max_ulp) << what;
  EXPECT_EQ(stats.ulp_histogram, expected.ulp_histogram) << what;
  EXPECT_EQ(stats.non_finite_changes, expected.non_finite_changes) << what;
  EXPECT_EQ(stats.nan_changes, expected.nan_changes) << what;
  EXPECT_EQ(stats.zero_sign_changes, expected.zero_sign_changes) << what;
  EXPECT_EQ(stats.max_abs, expected.max_abs) << what;
  EXPECT_EQ(stats.max_rel, expected.max_rel) << what;
  ExpectNear(measured.sums.a_squared, expected.a_squared, what);
  ExpectNear(measured.sums.b_squared, expected.b_squared, what);
  ExpectNear(measured.sums.difference_squared, expected.difference_squared, what);
  // A product's rounding is measured against its terms, which may cancel.
  const double scale = std::sqrt(measured.sums.a_squared) * std::sqrt(measured.sums.b_squared);
  if (!std::isfinite(scale) || std::isnan(measured.sums.product)) return;
  EXPECT_NEAR(measured.sums.product, static_cast<double>(expected.product), 1e-10 * scale) << what;
}

// Sums too, bit for bit.
void ExpectSame(const RangeDifference& x, const RangeDifference& y, const std::string& what) {
  EXPECT_EQ(x.stats.differing, y.stats.differing) << what;
  EXPECT_EQ(x.stats.first_index, y.stats.first_index) << what;
  EXPECT_EQ(x.stats.max_ulp, y.stats.max_ulp) << what;
  EXPECT_EQ(x.stats.ulp_histogram, y.stats.ulp_histogram) << what;
  EXPECT_EQ(x.stats.non_finite_changes, y.stats.non_finite_changes) << what;
  EXPECT_EQ(x.stats.nan_changes, y.stats.nan_changes) << what;
  EXPECT_EQ(x.stats.zero_sign_changes, y.stats.zero_sign_changes) << what;
  const auto bits = [](const RangeDifference& range) {
    return std::bit_cast<std::array<std::uint64_t, 6>>(
        std::array{range.stats.max_abs, range.stats.max_rel, range.sums.a_squared,
                   range.sums.b_squared, range.sums.difference_squared, range.sums.product});
  };
  EXPECT_EQ(bits(x), bits(y)) << what;
}

std::string NameOf(const FormatFields& fields, Kernel kernel, std::size_t elements) {
  return std::string(DTypeName(fields.dtype)) + ", kernel " +
         std::to_string(static_cast<int>(kernel)) + ", elements " + std::to_string(elements);
}

TEST(TensorStats, MeasureRandomPatternsLikeTheReferenceWithEveryKernel) {
  std::mt19937_64 random(11);
  for (const FormatFields& fields : kScalarFormats) {
    for (std::size_t elements = 0; elements < 300; elements += elements < 40 ? 1 : 13) {
      const auto [a, b] = RandomPair(fields, elements, &random);
      const ReferenceStats expected = MeasureByReference(fields, a, b);
      for (const Kernel kernel : KernelsHere()) {
        ExpectAgrees(Measure(fields.dtype, a, b, kernel), expected,
                     NameOf(fields, kernel, elements));
      }
      if (HasFailure()) return;
    }
  }
}

TEST(TensorStats, MeasureEveryPatternOfSixteenBits) {
  for (const FormatFields& fields : kScalarFormats) {
    if (fields.bits != 16) continue;
    std::string all(2 * 65536, '\0');
    for (std::size_t x = 0; x < 65536; ++x) {
      const auto pattern = static_cast<std::uint16_t>(x);
      std::memcpy(&all[2 * x], &pattern, 2);
    }
    // The partner of x is x + shift: neighbours, itself, the other sign, the other end.
    for (const std::size_t shift : {0u, 1u, 2u, 0x3ffu, 0x4000u, 0x8000u, 0x8001u, 0xffffu}) {
      std::string partner(all.size(), '\0');
      for (std::size_t x = 0; x < 65536; ++x) {
        std::memcpy(&partner[2 * x], &all[2 * ((x + shift) % 65536)], 2);
      }
      const ReferenceStats expected = MeasureByReference(fields, all, partner);
      for (const Kernel kernel : KernelsHere()) {
        ExpectAgrees(Measure(fields.dtype, all, partner, kernel), expected,
                     NameOf(fields, kernel, shift));
      }
    }
  }
}

TEST(TensorStats, MeasureEveryPairOfEightBits) {
  std::string a(65536, '\0'), b = a;
  for (std::size_t i = 0; i < 65536; ++i) {
    a[i] = static_cast<char>(i / 256);
    b[i] = static_cast<char>(i % 256);
  }
  for (const FormatFields& fields : kScalarFormats) {
    if (fields.bits != 8) continue;
    ExpectAgrees(Measure(fields.dtype, a, b), MeasureByReference(fields, a, b),
                 NameOf(fields, BestKernel(), a.size()));
    for (std::size_t i = 0; i < 65536; i += 97) {
      const std::string x = a.substr(i, 1), y = b.substr(i, 1);
      ExpectAgrees(Measure(fields.dtype, x, y), MeasureByReference(fields, x, y),
                   NameOf(fields, BestKernel(), i));
    }
  }
}

TEST(TensorStats, AreTheSameBitForBitWithEveryKernel) {
  std::mt19937_64 random(12);
  for (const FormatFields& fields : kScalarFormats) {
    // Three blocks and an odd rest, and little enough of it special for finite sums.
    const std::size_t elements = 3 * kReadBlockBytes * 8 / static_cast<std::size_t>(fields.bits);
    const auto [a, b] = RandomPair(fields, elements + 13, &random);
    const RangeDifference scalar = Measure(fields.dtype, a, b, Kernel::kScalar);
    for (const Kernel kernel : KernelsHere()) {
      ExpectSame(Measure(fields.dtype, a, b, kernel), scalar, NameOf(fields, kernel, elements));
    }
  }
}

TEST(TensorStats, HaveFiniteSumsThatAreTheSameBitForBit) {
  // Random patterns of fp64 make infinite sums; values near 1 do not.
  std::mt19937_64 random(13);
  std::vector<double> a(100003), b;
  for (double& value : a) {
    value = std::ldexp(static_cast<double>(random()), -64) - 0.5;
    b.push_back(value * (1 + std::ldexp(static_cast<double>(random() % 1000), -50)));
  }
  const std::string x(reinterpret_cast<const char*>(a.data()), 8 * a.size());
  const std::string y(reinterpret_cast<const char*>(b.data()), 8 * b.size());
  const RangeDifference scalar = Measure(DType::kF64, x, y, Kernel::kScalar);
  ASSERT_TRUE(std::isfinite(scalar.sums.a_squared));
  ExpectAgrees(scalar, MeasureByReference({DType::kF64, 64, 11, 1023}, x, y), "scalar");
  for (const Kernel kernel : KernelsHere()) {
    ExpectSame(Measure(DType::kF64, x, y, kernel), scalar,
               std::to_string(static_cast<int>(kernel)));
  }
}

TEST(TensorStats, DoNotDependOnAlignment) {
  std::mt19937_64 random(14);
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16, DType::kF64, DType::kF8E4M3}) {
    const std::string a = RandomBytes(1000 * 8, &random), b = RandomBytes(1000 * 8, &random);
    const RangeDifference expected = Measure(dtype, a, b);
    for (std::size_t offset = 1; offset < 64; ++offset) {
      const std::string shifted_a = std::string(offset, 'x') + a;
      const std::string shifted_b = std::string(64 - offset, 'x') + b;
      const auto bytes_a = std::as_bytes(std::span(shifted_a)).subspan(offset);
      const auto bytes_b = std::as_bytes(std::span(shifted_b)).subspan(64 - offset);
      for (const Kernel kernel : KernelsHere()) {
        ExpectSame(MeasureBytes(dtype, bytes_a, bytes_b, kernel), expected, std::to_string(offset));
      }
    }
  }
}

TEST(TensorStats, FindOneElementOnEitherSideOfEveryBorder) {
  const std::string zeros(kRangeBytes + 2 * kReadBlockBytes + 24, '\0');
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kF64, DType::kF8E4M3, DType::kF6E2M3,
                            DType::kF4, DType::kC64}) {
    const auto bits = static_cast<std::size_t>(BitsOf(dtype));
    for (const std::size_t border : {std::size_t{3072}, kReadBlockBytes, std::size_t{kRangeBytes},
                                     kRangeBytes + kReadBlockBytes, zeros.size()}) {
      for (const std::size_t element : {border * 8 / bits - 1, border * 8 / bits}) {
        if ((element + 1) * bits > 8 * zeros.size()) continue;
        std::string changed = zeros;
        changed[element * bits / 8] = static_cast<char>(1 << element * bits % 8);
        const RangeDifference range = Measure(dtype, zeros, changed);
        EXPECT_EQ(range.stats.differing, 1u) << DTypeName(dtype) << element;
        EXPECT_EQ(range.stats.first_index, element) << DTypeName(dtype);
        if (HasValues(dtype)) {
          EXPECT_EQ(range.stats.max_ulp, 1u) << DTypeName(dtype);
        }
      }
    }
  }
}

TEST(TensorStats, MergeInAnyOrder) {
  TensorStats a, b;
  a.differing = 3, a.first_index = 70, a.max_abs = 2, a.ulp_histogram[5] = 3, a.nan_changes = 1;
  b.differing = 4, b.first_index = 9, b.max_rel = 0.5, b.max_ulp = 8, b.ulp_histogram[5] = 1;
  TensorStats ab = a, ba = b;
  ab.Merge(b);
  ba.Merge(a);
  for (const TensorStats& merged : {ab, ba}) {
    EXPECT_EQ(merged.differing, 7u);
    EXPECT_EQ(merged.first_index, 9u);
    EXPECT_EQ(merged.max_abs, 2.0);
    EXPECT_EQ(merged.max_rel, 0.5);
    EXPECT_EQ(merged.max_ulp, 8u);
    EXPECT_EQ(merged.ulp_histogram[5], 4u);
    EXPECT_EQ(merged.nan_changes, 1u);
  }
}

}  // namespace
}  // namespace rharness
