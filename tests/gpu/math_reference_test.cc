// The measure of errors against values that are known, and a reference for every kernel.
#include "probes/gpu/math_reference.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "probes/gpu/kernels.h"
#include "probes/ulp_error.h"

namespace rharness {
namespace {

TEST(UlpError, IsInUnitsOfTheNearestValue) {
  const float up = std::nextafter(1.0F, 2.0F);
  EXPECT_EQ(UlpError(1.0F, 1.0), 0.0);
  EXPECT_EQ(UlpError(up, 1.0), 1.0);
  EXPECT_EQ(UlpError(up, 1.0 + std::ldexp(1.0, -25)), 0.75);
  // Below one, units are half as large.
  EXPECT_EQ(UlpError(1.0F, 1.0 - std::ldexp(3.0, -24)), 3.0);
  EXPECT_EQ(UlpError(std::numeric_limits<float>::denorm_min(), 0.0), 1.0);
  EXPECT_EQ(UlpError(-0.0F, 0.0), 0.0);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(UlpError(infinity, 1e300), 0.0);
  EXPECT_TRUE(std::isinf(UlpError(infinity, 1.0)));
  EXPECT_TRUE(std::isinf(UlpError(std::nanf(""), 1.0)));
  EXPECT_EQ(UlpError(std::nanf(""), std::nan("")), 0.0);
  EXPECT_EQ(MilliUlp(0.5001), 501U);
  EXPECT_EQ(MilliUlp(std::numeric_limits<double>::infinity()), std::uint64_t{1} << 53);
}

std::vector<std::uint32_t> WordsOf(const std::vector<float>& values) {
  std::vector<std::uint32_t> words;
  for (const float value : values) words.push_back(std::bit_cast<std::uint32_t>(value));
  return words;
}

std::vector<std::byte> OutputOf(const void* values, std::size_t bytes, std::size_t words) {
  std::vector<std::byte> output(words * 8);
  std::memcpy(output.data(), values, bytes);
  return output;
}

TEST(MathReference, KnowsEveryKernel) {
  const std::vector<std::uint32_t> one = WordsOf({1.0F});
  for (const std::string& kernel : EntriesOf(kMathKernels.ptx)) {
    EXPECT_TRUE(LargestUlpError(kernel, one, OutputOf("", 1, 1))) << kernel;
  }
  EXPECT_FALSE(LargestUlpError("no_such", one, OutputOf("", 1, 1)));
  EXPECT_FALSE(LargestUlpError("expf_32", one, {}));
}

TEST(MathReference, GivesTheFunctionsOfTheKernels) {
  // Published values of each function at 2 (Abramowitz and Stegun), rounded to fp32.
  struct Value {
    const char* kernel;
    float at2;
  };
  const std::vector<std::uint32_t> two = WordsOf({2.0F});
  for (const Value& one : {Value{"expf_32", 7.38905609893F}, Value{"logf_32", 0.69314718056F},
                           Value{"sinf_32", 0.90929742683F}, Value{"cosf_32", -0.41614683655F},
                           Value{"tanhf_32", 0.96402758008F}, Value{"erff_32", 0.99532226502F},
                           Value{"powf_32", 3.24900958542F}, Value{"rsqrtf_32", 0.70710678119F},
                           Value{"sqrtf_32", 1.41421356237F}, Value{"fast_exp", 7.38905609893F},
                           Value{"fast_log", 0.69314718056F}, Value{"fast_sin", 0.90929742683F},
                           Value{"fast_pow", 3.24900958542F}}) {
    const auto error = LargestUlpError(one.kernel, two, OutputOf(&one.at2, 4, 1));
    ASSERT_TRUE(error) << one.kernel;
    EXPECT_LE(*error, 0.501) << one.kernel;
    const float off = std::nextafter(one.at2, 100.0F);
    EXPECT_GE(*LargestUlpError(one.kernel, two, OutputOf(&off, 4, 1)), 0.49) << one.kernel;
  }
}

TEST(MathReference, TakesTheWorstOfAllInputs) {
  const float outputs[] = {1.0F, std::nextafter(std::nextafter(2.0F, 3.0F), 3.0F), 3.0F};
  const auto worst =
      LargestUlpError("sqrtf_32", WordsOf({1.0F, 4.0F, 9.0F}), OutputOf(outputs, 12, 3));
  EXPECT_EQ(worst, 2.0);
}

TEST(MathReference, MakesTheDoubleThatTheKernelMakes) {
  // 0x40000000: the product with 2654435761 leaves 0x40000000 in the low word.
  EXPECT_EQ(std::bit_cast<std::uint64_t>(WideInput(0x40000000U)), 0x4000000040000000U);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(WideInput(1U)), 0x000000019e3779b1U);
  // sqrt(2 + 2^-21): a double-precision kernel's answer beside the host's.
  const double exact = 1.0 / std::sqrt(WideInput(0x40000000U));
  const auto error = LargestUlpError("rsqrt_64", {0x40000000U}, OutputOf(&exact, 8, 1));
  if (!error) GTEST_SKIP() << "no type above double on this machine";
  EXPECT_LE(*error, 1.0);
  const double off = exact * (1.0 + std::ldexp(1.0, -48));
  EXPECT_GE(*LargestUlpError("rsqrt_64", {0x40000000U}, OutputOf(&off, 8, 1)), 15.0);
}

}  // namespace
}  // namespace rharness
