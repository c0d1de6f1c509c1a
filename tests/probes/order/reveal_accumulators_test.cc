// Short and wide accumulators, orders that change, and batches whose rows differ.
#include <gtest/gtest.h>

#include <bit>

#include "probes/order/reveal.h"
#include "tests/probes/order/routine_sum.h"
#include "tests/probes/order/routines.h"

namespace rharness {
namespace {

using routines::At;
using routines::RoutineSum;
using routines::TreeOf;

// A float of few bits: every sum is rounded to nearest even, with gradual underflow.
template <int kBits, int kMinExponent>
struct Short {
  double value = 0.0;

  Short() = default;
  explicit Short(double x) : value(Round(x)) {}
  explicit operator double() const { return value; }
  friend Short operator+(Short a, Short b) { return Short(a.value + b.value); }

  // What lies below the last digit is lost beside 1.5 * 2^52 of it; millions of sums come by here.
  static double Round(double x) {
    constexpr double kDigits = 1.0 / (std::int64_t{1} << (kBits - 1)), kLast = Power(kMinExponent);
    const auto exponent = std::bit_cast<std::uint64_t>(x) & 0x7FF0'0000'0000'0000U;
    const double digit = std::bit_cast<double>(exponent) * kDigits;
    const double lost = 0x1.8p52 * (digit < kLast ? kLast : digit);
    return (x + lost) - lost;
  }
  static constexpr double Power(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  }
};
using Bf16 = Short<8, -133>;
using Fp16 = Short<11, -24>;

TEST(Short, RoundsToNearestEvenWithGradualUnderflow) {
  for (const double sign : {1.0, -1.0}) {
    EXPECT_EQ(Bf16(sign * 257).value, sign * 256);
    EXPECT_EQ(Bf16(sign * 259).value, sign * 260);
    EXPECT_EQ(Bf16(sign * 257.5).value, sign * 258);
    EXPECT_EQ(Fp16(sign * 2049).value, sign * 2048);
    EXPECT_EQ(Fp16(sign * 2051).value, sign * 2052);
    EXPECT_EQ(Fp16(sign * 0x1.8p-24).value, sign * 0x1p-23);
    EXPECT_EQ(Fp16(sign * 0x1p-25).value, 0);
    EXPECT_EQ(Fp16(sign * 0x1p15).value, sign * 0x1p15);
    EXPECT_EQ(Bf16(sign * 0x1.01p100).value, sign * 0x1p100);
  }
  EXPECT_EQ(Fp16(0.0).value, 0);
}

TEST(Reveal, CountsInBlocksThatABf16AccumulatorHolds) {
  ASSERT_EQ((Bf16(256) + Bf16(1)).value, 256);
  for (const auto& [n, ways] : {std::pair{700, 1}, {1000, 8}, {512, 4}, {257, 3}}) {
    const auto routine = [ways = ways](auto x) {
      return routines::Strided(x, static_cast<std::size_t>(ways));
    };
    RoutineSum<Bf16> sum(n, routine, Bf16(0x1p100), Bf16(1), 256);
    const auto revealed = RevealTree(sum);
    ASSERT_TRUE(revealed.ok() && revealed->tree) << n << ": " << revealed->why;
    EXPECT_EQ(*revealed->tree, TreeOf(n, routine)) << n;
  }
}

TEST(Reveal, SaysWhenCountsGetStuckBecauseTheAccumulatorIsShorterThanItSays) {
  // Said to be exact, and stuck at 256: a wide node of all terms that get no further count.
  RoutineSum<Bf16> sum(
      300, [](auto x) { return routines::Sequential(x); }, Bf16(0x1p100), Bf16(1));
  const auto revealed = RevealTree(sum);
  ASSERT_TRUE(revealed.ok());
  EXPECT_FALSE(revealed->tree);
  EXPECT_NE(revealed->why, "");
}

TEST(Reveal, FindsOrdersOfAnFp16AccumulatorWithItsSmallestUnit) {
  constexpr int kTwoBlocks = 2200;
  for (const std::size_t ways : {1U, 16U}) {
    const auto routine = [ways](auto x) { return routines::Strided(x, ways); };
    RoutineSum<Fp16> sum(kTwoBlocks, routine, Fp16(0x1p15), Fp16(0x1p-24), 2048);
    const auto revealed = RevealTree(sum);
    ASSERT_TRUE(revealed.ok() && revealed->tree) << revealed->why;
    EXPECT_EQ(*revealed->tree, TreeOf(kTwoBlocks, routine)) << ways;
  }
}

TEST(Reveal, SaysWhenTheAccumulatorIsTooWideForTheMask) {
  // 2^20 and units in a double: nothing is swallowed.
  RoutineSum<double> sum(
      50, [](auto x) { return routines::Pairwise(x); }, 0x1p20);
  const auto revealed = RevealTree(sum);
  ASSERT_TRUE(revealed.ok());
  EXPECT_FALSE(revealed->tree);
  EXPECT_TRUE(revealed->deterministic);
  EXPECT_NE(revealed->why.find("the masks may not swallow the units"), std::string::npos)
      << revealed->why;
}

TEST(Reveal, SaysWhenTheResultIsNoCount) {
  RoutineSum<float> sum(
      10, [](auto x) { return routines::Sequential(x) + 0.5F; }, 0x1p60F);
  const auto revealed = RevealTree(sum);
  ASSERT_TRUE(revealed.ok());
  EXPECT_FALSE(revealed->tree);
  EXPECT_NE(revealed->why.find("expected a whole number"), std::string::npos) << revealed->why;
  RoutineSum<float> nan(
      10, [](auto) { return std::nanf(""); }, 0x1p60F);
  EXPECT_FALSE(RevealTree(nan)->tree);
}

TEST(Reveal, FindsThatTheOrderIsNotFixed) {
  unsigned calls = 0;
  const auto routine = [&](std::span<const float> x) { return routines::Random(x, ++calls); };
  RoutineSum<float> sum(64, routine, 0x1p100F);
  const auto revealed = RevealTree(sum);
  ASSERT_TRUE(revealed.ok());
  EXPECT_FALSE(revealed->deterministic);
  EXPECT_FALSE(revealed->tree);
  EXPECT_NE(revealed->why.find("not fixed"), std::string::npos) << revealed->why;
}

TEST(Reveal, SaysWhyWhenTheOrderChangesOnlyAfterTheTreeIsThere) {
  // Each question of the revealing is asked twice: 2 (n - 1) calls or more for n summands.
  int calls = 0;
  const auto routine = [&](std::span<const float> x) {
    return ++calls > 40 && calls % 2 == 0 ? routines::Reversed(x) : routines::Sequential(x);
  };
  RoutineSum<float> sum(8, routine, 0x1p100F);
  const auto revealed = RevealTree(sum, {.validate_pairs = 400});
  ASSERT_TRUE(revealed.ok());
  EXPECT_FALSE(revealed->tree);
  EXPECT_NE(revealed->why, "");
}

// A product whose rows come from one kernel but for the last of a batch.
class EdgeRows final : public MaskedSum {
 public:
  explicit EdgeRows(bool differ) : differ_(differ) {}
  int size() const override { return 129; }
  int max_batch() const override { return 32; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      RoutineSum<float> row(
          129,
          [&](auto x) {
            return differ_ && k == 31 ? routines::Strided(x, 4) : routines::Sequential(x);
          },
          0x1p100F);
      RETURN_IF_ERROR(row.Count(pairs.subspan(k, 1), units, counts.subspan(k, 1)));
    }
    return {};
  }

 private:
  bool differ_;
};

TEST(Reveal, FindsThatTheLastRowOfABatchAddsInAnotherOrder) {
  EdgeRows same(false);
  ASSERT_TRUE(RevealTree(same)->tree);
  EdgeRows sum(true);
  const auto revealed = RevealTree(sum);
  ASSERT_TRUE(revealed.ok());
  EXPECT_FALSE(revealed->tree);
  EXPECT_TRUE(revealed->deterministic);
  EXPECT_NE(revealed->why, "");
}

}  // namespace
}  // namespace rharness
