// Which way siblings moved: by hand, and at the rates that are stated.
#include "compare/sibling_direction.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "compare/stats/ranks.h"

namespace rharness {
namespace {

// A difference of this mean and scatter, relative to a loss of 2.
CurveComparison Moved(double mean, double scatter, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  CurveComparison curve{.name = "lm loss", .kind = CurveKind::kLoss};
  for (int i = 0; i < 50; ++i) {
    curve.steps.push_back(i);
    curve.a.push_back(2.0);
    curve.b.push_back(2.0 * (1.0 + mean + scatter * normal(random)));
  }
  return curve;
}

// Published exact values: all of n one way is 2 / 2^n; of 8, T = 3 is 10 / 256 (Wilcoxon's tables).
TEST(SignedRank, IsExact) {
  EXPECT_DOUBLE_EQ(stats::SignedRankTwoSided({1, 2, 3, 4, 5, 6, 7, 8}), 2.0 / 256.0);
  EXPECT_DOUBLE_EQ(stats::SignedRankTwoSided({-1, 2, 3, 4, 5, 6, 7, 8}), 4.0 / 256.0);
  EXPECT_DOUBLE_EQ(stats::SignedRankTwoSided({1, 2, -3, 4, 5, 6, 7, 8}), 10.0 / 256.0);
  EXPECT_DOUBLE_EQ(stats::SignedRankTwoSided({-1, -2, -3}), 0.25);
  EXPECT_DOUBLE_EQ(stats::SignedRankTwoSided({}), 1.0);
  EXPECT_DOUBLE_EQ(stats::SignedRankTwoSided({0.0, 0.0}), 1.0);
  // Equal sizes share their rank: signs of 5 / 2 each. 1 of 4 below: 2 * (1 + 4) / 16.
  EXPECT_DOUBLE_EQ(stats::SignedRankTwoSided({1, 1, 1, -1}), 10.0 / 16.0);
  EXPECT_TRUE(std::isnan(stats::SignedRankTwoSided({1.0, std::nan("")})));
}

// Above 200 values the normal distribution: beside the exact one of 200 of the same kind.
TEST(SignedRank, GoesOnSmoothlyAboveTwoHundredValues) {
  const auto values = [](int n) {
    std::vector<double> made;
    for (int i = 1; i <= n; ++i) made.push_back(i % 9 < 4 ? -i : i);
    return made;
  };
  const double exact = stats::SignedRankTwoSided(values(198));
  const double normal = stats::SignedRankTwoSided(values(207));
  EXPECT_NEAR(std::log(normal / exact), 0.0, 0.25) << exact << " " << normal;
}

TEST(SiblingDirection, IsThatOfMeansInStandardErrors) {
  CurveComparison curve{.steps = {1, 2, 3, 4}, .a = {2, 2, 2, 2}, .b = {2.1, 2.3, 2.1, 2.3}};
  const RunTrend trend = TrendOf(curve);
  EXPECT_NEAR(trend.relative, 0.1, 1e-12);
  // Jumps of 0.2: 1.4826 * 0.2 / sqrt(2 * 4) of a mean of 0.2.
  EXPECT_NEAR(trend.standardised, 0.2 / (1.4826 * 0.2 / std::sqrt(8.0)), 1e-9);
  curve.b = curve.a;
  EXPECT_EQ(TrendOf(curve).standardised, 0.0);
  EXPECT_EQ(TrendOf({}).relative, 0.0);
}

struct Rate {
  double called = 0.0;  // p at most 5 %
  double one_way = 0.0;
  double moved = 0.0;  // MovedOneWay
};

// Groups whose runs have a common trend beside one of their own, which is as often up as down.
Rate Simulate(int siblings, double common, double own, bool heavy) {
  constexpr int kGroups = 2000;
  std::mt19937_64 random(20261127);
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> student(2.0);
  Rate rate;
  for (int group = 0; group < kGroups; ++group) {
    std::vector<RunTrend> trends;
    for (int i = 0; i < siblings; ++i) {
      const double away = own * (heavy ? student(random) : normal(random));
      trends.push_back(TrendOf(Moved(common + away, 3e-4, random)));
    }
    const SiblingDirection direction = DirectionOf(trends);
    rate.called += direction.p <= kFavoursDirection ? 1.0 / kGroups : 0.0;
    rate.one_way += direction.p <= kOneWay ? 1.0 / kGroups : 0.0;
    rate.moved += MovedOneWay(direction) ? 1.0 / kGroups : 0.0;
  }
  return rate;
}

// The published stream (PyTorch 25.03) moved its runs by 4e-5 on average, other streams may by
// more.
TEST(SiblingDirection, OfAnHonestStreamIsSeenNoMoreOftenThanStated) {
  for (const int siblings : {8, 12, 30}) {
    for (const bool heavy : {false, true}) {
      const Rate rate = Simulate(siblings, 0.0, 4e-5, heavy);
      fmt::print("{} siblings, heavy {}: 5 % {:.4f}, 1 % {:.4f}, open {:.4f}\n", siblings, heavy,
                 rate.called, rate.one_way, rate.moved);
      EXPECT_LE(rate.called, 0.06);
      EXPECT_LE(rate.one_way, 0.014);
      EXPECT_LE(rate.moved, 0.005) << "its size is that of rounding";
      EXPECT_LE(Simulate(siblings, 0.0, 1e-3, heavy).moved, 0.06) << "a large stream";
    }
  }
}

// A quarter of a per cent passes alone as a stream does (rules: 4 times the scatter of values).
TEST(SiblingDirection, OfASmallBiasIsSeenWhereEachRunAloneShowsNothing) {
  const Rate eight = Simulate(8, 5e-4, 2e-4, false), twelve = Simulate(12, 5e-4, 2e-4, false);
  fmt::print("0.05 %: 8 siblings {:.3f}, 12 {:.3f}\n", eight.moved, twelve.moved);
  EXPECT_GE(eight.moved, 0.95);
  EXPECT_GE(twelve.moved, 0.99);
}

TEST(SiblingDirection, SaysWhichCommonTrendWouldNotShow) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  int seen = 0, groups = 400;
  for (int group = 0; group < groups; ++group) {
    std::vector<RunTrend> quiet, moved;
    for (int i = 0; i < 12; ++i) {
      const double own = 1e-3 * normal(random);
      quiet.push_back({own, own / 1e-4});
    }
    const double invisible = DirectionOf(quiet).invisible;
    for (int i = 0; i < 12; ++i) {
      const double own = invisible + 1e-3 * normal(random);
      moved.push_back({own, own / 1e-4});
    }
    seen += DirectionOf(moved).p <= kFavoursDirection;
  }
  EXPECT_NEAR(static_cast<double>(seen) / groups, 0.8, 0.06);
  EXPECT_GE(DirectionOf({{1e-9, 1.0}, {-1e-9, -1.0}}).invisible, kRoundingFloor);
}

}  // namespace
}  // namespace rharness
