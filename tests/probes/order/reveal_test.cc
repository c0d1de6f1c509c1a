// Routines of known order behind masks come out as the trees that they wrote down themselves.
#include "probes/order/reveal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "probes/order/replay.h"
#include "tests/probes/order/routine_sum.h"
#include "tests/probes/order/routines.h"

namespace rharness {
namespace {

using routines::RoutineSum;
using routines::Symbol;
using routines::TreeOf;

template <class T>
T MaskOf() {
  return std::ldexp(T(1), std::numeric_limits<T>::max_exponent - 1);
}

// `routine` is a generic lambda over a span.
template <class T, class Routine>
void ExpectRevealed(int n, Routine routine, const std::string& what) {
  const SumTree expected = TreeOf(n, routine);
  RoutineSum<T> sum(n, routine, MaskOf<T>());
  const auto revealed = RevealTree(sum);
  ASSERT_TRUE(revealed.ok()) << what;
  ASSERT_TRUE(revealed->tree) << what << ": " << revealed->why;
  EXPECT_TRUE(revealed->deterministic);
  EXPECT_EQ(*revealed->tree, expected) << what << " of " << n;
}

template <class Routine>
void ExpectRevealedAtAllSizes(const std::string& what, Routine routine) {
  for (const int n : {1, 2, 3, 5, 8, 31, 64, 100}) {
    ExpectRevealed<float>(n, routine, what);
    ExpectRevealed<double>(n, routine, what);
  }
}

TEST(Reveal, FindsTheSimpleOrders) {
  ExpectRevealedAtAllSizes("sequential", [](auto x) { return routines::Sequential(x); });
  ExpectRevealedAtAllSizes("reversed", [](auto x) { return routines::Reversed(x); });
  ExpectRevealedAtAllSizes("pairwise", [](auto x) { return routines::Pairwise(x); });
}

TEST(Reveal, FindsEveryStrideFromTwoToThirtyTwo) {
  for (std::size_t ways = 2; ways <= 32; ++ways) {
    for (const int n : {3, 37, 96}) {
      ExpectRevealed<float>(
          n, [ways](auto x) { return routines::Strided(x, ways); }, fmt::format("{}-way", ways));
    }
  }
}

TEST(Reveal, FindsBlocksAndSplits) {
  for (const std::size_t size : {2, 5, 16, 33}) {
    ExpectRevealedAtAllSizes("blocks", [size](auto x) { return routines::Blocks(x, size, true); });
    ExpectRevealedAtAllSizes("chain", [size](auto x) { return routines::Blocks(x, size, false); });
  }
  for (const std::size_t parts : {2, 4, 7}) {
    ExpectRevealedAtAllSizes("split", [parts](auto x) { return routines::SplitK(x, parts); });
  }
}

TEST(Reveal, FindsRandomTrees) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const auto routine = [seed](auto x) { return routines::Random(x, seed); };
    ExpectRevealed<float>(2 + static_cast<int>(seed * 7 % 90), routine, "random");
  }
}

// Chained groups of `width` terms and the running sum, each one fused addition.
SumTree Grouped(int n, int width) {
  std::vector<std::vector<int>> inner;
  for (int at = 0; at < n; at += width) {
    auto& group = inner.emplace_back();
    if (at > 0) group.push_back(n + static_cast<int>(inner.size()) - 2);
    for (int i = at; i < std::min(n, at + width); ++i) group.push_back(i);
  }
  return SumTree::Build(n, std::move(inner)).value();
}

TEST(Reveal, FindsFusedGroupsOfTensorCores) {
  for (const int width : {4, 8, 16, 32}) {
    for (const int n : {width, 2 * width, 70, 128}) {
      const SumTree expected = Grouped(n, width);
      const FusedModel model{.fraction_bits = 25};
      RoutineSum<float> sum(
          n, [&](auto x) { return ReplaySum<float>(expected, x, model); }, 0x1p60F);
      const auto revealed = RevealTree(sum);
      ASSERT_TRUE(revealed.ok() && revealed->tree) << revealed->why;
      EXPECT_EQ(*revealed->tree, expected) << width << " of " << n;
    }
  }
}

TEST(Reveal, FindsFusedGroupsOfSubtrees) {
  // ((0 1) (2 3 4) 5 (6 (7 8))) and a chain above it.
  const SumTree expected =
      SumTree::Build(11, {{0, 1}, {2, 3, 4}, {7, 8}, {6, 13}, {11, 12, 5, 14}, {15, 9}, {16, 10}})
          .value();
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RoutineSum<float> sum(
        11, [&](auto x) { return ReplaySum<float>(expected, x); }, 0x1p60F);
    const auto revealed = RevealTree(sum, {.seed = seed});
    ASSERT_TRUE(revealed.ok() && revealed->tree) << revealed->why;
    EXPECT_EQ(*revealed->tree, expected) << seed;
  }
}

TEST(Reveal, RefusesASumOfNothing) {
  RoutineSum<float> sum(
      0, [](auto) { return 0.0F; }, 1.0F);
  EXPECT_EQ(RevealTree(sum).error().code, ErrorCode::kInvalidInput);
}

class BrokenSum final : public MaskedSum {
 public:
  int size() const override { return 8; }
  Status Count(std::span<const MaskPair>, UnitRange, std::span<double>) override {
    return IoError("the device is gone");
  }
};

TEST(Reveal, PassesOnTheRoutinesError) {
  BrokenSum sum;
  EXPECT_EQ(RevealTree(sum).error().message, "the device is gone");
}

}  // namespace
}  // namespace rharness
