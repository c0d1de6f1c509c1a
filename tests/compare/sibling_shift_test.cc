// The shifts of siblings taken together, at the rates that are stated.
#include "compare/sibling_shift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace rharness {
namespace {

constexpr double kShareOfMargin = 0.01;

struct Rates {
  double beyond = 0.0;  // groups with a curve that is beyond
  double open = 0.0;    // curves
};

// Groups of twelve whose shifts are normal about `mean`.
Rates Simulate(double mean, double deviation) {
  constexpr int kGroups = 4000;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(mean, deviation);
  Rates rates;
  for (int group = 0; group < kGroups; ++group) {
    std::vector<double> shifts(12);
    for (double& shift : shifts) shift = normal(random);
    const SiblingShift together =
        ShareShifts(shifts, std::vector<bool>(12, false), kShareOfMargin, 8);
    bool beyond = false;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      const SiblingStanding standing = StandingAmongSiblings(i, shifts, together, kShareOfMargin);
      beyond |= standing == SiblingStanding::kApart || standing == SiblingStanding::kWith;
      rates.open += standing == SiblingStanding::kOpen ? 1.0 / (12.0 * kGroups) : 0.0;
    }
    rates.beyond += beyond ? 1.0 / kGroups : 0.0;
  }
  return rates;
}

TEST(SiblingShift, CallsAGroupThatDidNotMoveDriftedAtItsRateAndHardlyLeavesItOpen) {
  const Rates calm = Simulate(0.0, 0.006);
  EXPECT_LE(calm.beyond, 0.012);
  EXPECT_LE(calm.open, 0.01);
  EXPECT_LE(Simulate(0.0, 0.012).beyond, 0.012);
}

TEST(SiblingShift, PassesAGroupAtTheMarginAtItsRate) {
  const Rates at_margin = Simulate(kShareOfMargin, 0.006);
  EXPECT_LE(at_margin.beyond, 0.012);
  EXPECT_GE(at_margin.open, 0.94);
}

TEST(SiblingShift, FindsAGroupThatMovedByThreeMargins) {
  EXPECT_GE(Simulate(3.0 * kShareOfMargin, 0.006).beyond, 0.99);
}

// Fifteen that all moved by twice the margin, five of them far enough from their noise to be beyond
// alone: no exceptions.
TEST(SiblingShift, CountsThoseBeyondWithTheOthersWhereTheyAreMoreThanAQuarter) {
  std::vector<double> shifts;
  for (int i = 0; i < 15; ++i) shifts.push_back(0.02 + 0.0005 * (i - 7));
  std::vector<bool> beyond(15, false);
  for (std::size_t i = 0; i < 5; ++i) beyond[3 * i] = true;
  const SiblingShift together = ShareShifts(shifts, beyond, kShareOfMargin, 8);
  EXPECT_EQ(together.curves, 15u);
  EXPECT_NEAR(together.mean, 0.02, 1e-12);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    EXPECT_EQ(StandingAmongSiblings(i, shifts, together, kShareOfMargin), SiblingStanding::kWith);
  }
}

// A third far off, each its own way: the mean of all is no comfort for the others.
TEST(SiblingShift, ShowsNothingSmallWhereMoreThanAQuarterIsBeyond) {
  std::vector<double> shifts(40, 0.0);
  std::vector<bool> beyond(40, false);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    shifts[i] = (i % 2 == 0 ? 1.0 : -1.0) * (i % 3 == 0 ? 0.012 : 0.004);
    beyond[i] = i % 3 == 0;
  }
  const SiblingShift together = ShareShifts(shifts, beyond, kShareOfMargin, 8);
  ASSERT_EQ(together.curves, 40u);
  ASSERT_LT(together.high, kShareOfMargin);
  EXPECT_EQ(StandingAmongSiblings(1, shifts, together, kShareOfMargin), SiblingStanding::kOpen);
  beyond.assign(40, false);
  beyond[0] = true;
  EXPECT_EQ(StandingAmongSiblings(1, shifts, ShareShifts(shifts, beyond, kShareOfMargin, 8),
                                  kShareOfMargin),
            SiblingStanding::kAmong);
}

TEST(SiblingShift, AdmitsNothingByThreeMarginsHoweverFarTheOthersScatter) {
  std::vector<double> shifts;
  for (int i = 0; i < 300; ++i) shifts.push_back((i % 2 == 0 ? 1 : -1) * 0.0001 * (i + 50));
  const SiblingShift together =
      ShareShifts(shifts, std::vector<bool>(shifts.size(), false), kShareOfMargin, 8);
  ASSERT_GT(together.curves, 0u);
  EXPECT_EQ(StandingAmongSiblings(0, shifts, together, kShareOfMargin), SiblingStanding::kAmong);
  EXPECT_EQ(StandingAmongSiblings(299, shifts, together, kShareOfMargin), SiblingStanding::kOpen);
}

}  // namespace
}  // namespace rharness
