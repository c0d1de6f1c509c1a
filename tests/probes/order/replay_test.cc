// A revealed tree, replayed on random data, gives the routine's own bits.
#include "probes/order/replay.h"

#include <gtest/gtest.h>

#include <random>

#include "probes/order/reveal.h"
#include "tests/probes/order/routine_sum.h"
#include "tests/probes/order/routines.h"

namespace rharness {
namespace {

using routines::RoutineSum;

template <class T, class Routine>
void ExpectSameBits(int n, Routine routine) {
  RoutineSum<T> sum(n, routine, std::ldexp(T(1), std::numeric_limits<T>::max_exponent - 1));
  const auto revealed = RevealTree(sum);
  ASSERT_TRUE(revealed.ok() && revealed->tree);
  std::mt19937 random(7);
  std::normal_distribution<T> normal;
  int sequential_differs = 0;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<T> data(routines::At(n));
    for (T& x : data) x = normal(random);
    const std::span<const T> view(data);
    ASSERT_EQ(ReplaySum<T>(*revealed->tree, view), routine(view)) << "trial " << trial;
    sequential_differs += routines::Sequential(view) != routine(view) ? 1 : 0;
  }
  // The data tell orders apart, or equal bits would mean nothing.
  EXPECT_GT(sequential_differs, 100);
}

TEST(Replay, GivesTheBitsOfTheRoutineOnRandomData) {
  ExpectSameBits<float>(300, [](auto x) { return routines::Strided(x, 8); });
  ExpectSameBits<double>(300, [](auto x) { return routines::Pairwise(x); });
  ExpectSameBits<float>(333, [](auto x) { return routines::NumpySum(x); });
  ExpectSameBits<float>(200, [](auto x) { return routines::Random(x, 5); });
  ExpectSameBits<float>(200, [](auto x) { return routines::Reversed(x); });
}

float Fused(std::vector<float> terms, FusedModel model) { return FusedAdd<float>(terms, model); }

TEST(Replay, AddsFusedGroupsAsTensorCoresAreKnownTo) {
  // C = 1 and small products, by fraction bits: 23 (V100), 24 (A100), 25 (H100).
  const FusedModel v100{.fraction_bits = 23}, a100{.fraction_bits = 24}, h100{.fraction_bits = 25};
  const std::vector<float> two = {1.0F, 0x1p-24F, 0x1p-24F};
  EXPECT_EQ(Fused(two, v100), 1.0F);
  EXPECT_EQ(Fused(two, a100), 1.0F + 0x1p-23F);
  EXPECT_EQ(Fused(two, h100), 1.0F + 0x1p-23F);
  const std::vector<float> four = {1.0F, 0x1p-25F, 0x1p-25F, 0x1p-25F, 0x1p-25F};
  EXPECT_EQ(Fused(four, v100), 1.0F);
  EXPECT_EQ(Fused(four, a100), 1.0F);
  EXPECT_EQ(Fused(four, h100), 1.0F + 0x1p-23F);
  // Truncated, where the nearest even would be one unit more.
  const std::vector<float> most = {1.0F, 0x1p-24F, 0x1p-25F};
  EXPECT_EQ(Fused(most, h100), 1.0F);
  EXPECT_EQ(Fused(most, {.fraction_bits = 25, .truncate = false}), 1.0F + 0x1p-23F);
  EXPECT_EQ(Fused({-1.0F, -0x1p-24F, -0x1p-25F}, h100), -1.0F);
  EXPECT_EQ(Fused({0.0F, 0.0F, 0.0F}, h100), 0.0F);
  EXPECT_TRUE(std::isinf(Fused({1.0F, INFINITY, 1.0F}, h100)));
}

TEST(Replay, ReplaysASingleTerm) {
  EXPECT_EQ(ReplaySum<float>(SumTree::Build(1, {}).value(), std::vector<float>{2.5F}), 2.5F);
}

}  // namespace
}  // namespace rharness
