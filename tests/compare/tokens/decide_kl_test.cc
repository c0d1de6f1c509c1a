// The divergence of two programs: closed forms, and the stated rates by simulation.
#include "compare/tokens/decide_kl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace rharness {
namespace {

using testing::HasSubstr;

TEST(K3, IsItsClosedFormForLargeAndSmallRatios) {
  EXPECT_EQ(K3Of(0.0), 0.0);
  EXPECT_NEAR(K3Of(std::log(2.0)), 1.0 - std::log(2.0), 1e-15);
  EXPECT_NEAR(K3Of(-std::log(2.0)), std::log(2.0) - 0.5, 1e-15);
  // Of 1e-8 the difference of exp and its argument has no digit left.
  EXPECT_NEAR(K3Of(1e-8) / 0.5e-16, 1.0, 1e-8);
  EXPECT_NEAR(K3Of(0.999e-3) / K3Of(1.001e-3), std::pow(0.999 / 1.001, 2.0), 1e-5);
  EXPECT_TRUE(std::isinf(K3Of(1e4)));
}

// One token a sequence with k3 of 1, 2, 3 and 4 times 0.01.
TEST(DecideKl, EstimatesARatioOfSums) {
  std::vector<KlUnit> units;
  for (int i = 1; i <= 4; ++i) units.push_back({.k1 = 0.02 * i, .k3 = 0.01 * i, .tokens = 1.0});
  const KlDecision kl = DecideKl(units, std::nullopt, false);
  EXPECT_NEAR(kl.k3.value, 0.025, 1e-15);
  EXPECT_NEAR(kl.k1.value, 0.05, 1e-15);
  // The standard deviation of 1, 2, 3, 4 is sqrt(5 / 3).
  EXPECT_NEAR(kl.decision.standard_error, 0.01 * std::sqrt(5.0 / 3.0) / 2.0, 1e-15);
  EXPECT_EQ(kl.decision.reason, "no_margin");
  // t of 3 degrees of freedom at 0.95 is 2.353363.
  EXPECT_NEAR(kl.k1.interval.high, 0.05 + 2.353363 * 0.02 * std::sqrt(5.0 / 3.0) / 2.0, 1e-8);
  // Long sequences count by their tokens.
  units[0].tokens = 7.0;
  EXPECT_NEAR(DecideKl(units, std::nullopt, false).k3.value, 0.01, 1e-15);
}

// Lengths of lognormal spread; sequences of a divergence that is lognormal as well.
std::vector<KlUnit> Drawn(int count, double sigma, double mean, std::mt19937_64* random) {
  std::normal_distribution<double> normal;
  std::vector<KlUnit> units;
  for (int i = 0; i < count; ++i) {
    const double tokens = std::ceil(std::exp(5.3 + normal(*random)));
    const double kl = mean * std::exp(sigma * normal(*random) - sigma * sigma / 2.0);
    units.push_back({.k1 = tokens * kl, .k3 = tokens * kl, .tokens = tokens});
  }
  return units;
}

TEST(DecideKl, ShowsWhatIsBelowAndBeyondAMargin) {
  std::mt19937_64 random(5);
  const std::vector<KlUnit> units = Drawn(200, 0.5, 1e-3, &random);
  const MetricDecision within = DecideKl(units, 2e-3, false).decision;
  EXPECT_EQ(within.verdict, MetricVerdict::kWithin);
  EXPECT_THAT(KlMessage(within), HasSubstr("shown to be below the margin of 0.002"));
  const MetricDecision beyond = DecideKl(units, 5e-4, false).decision;
  EXPECT_EQ(beyond.verdict, MetricVerdict::kDrifted);
  EXPECT_LT(beyond.p_difference, 1e-6);
  const MetricDecision open = DecideKl(units, within.difference, false).decision;
  EXPECT_EQ(open.verdict, MetricVerdict::kInconclusive);
  const MetricDecision near = DecideKl(Drawn(30, 0.5, 1e-3, &random), 1.3e-3, false).decision;
  EXPECT_EQ(near.verdict, MetricVerdict::kInconclusive);
  EXPECT_GT(near.more_runs, 10);
  EXPECT_THAT(KlMessage(near), HasSubstr("more sequences would decide"));
}

TEST(DecideKl, PassesNothingThatIsNotShown) {
  std::mt19937_64 random(6);
  const MetricDecision few = DecideKl(Drawn(19, 0.1, 1e-6, &random), 1.0, false).decision;
  EXPECT_EQ(few.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(few.reason, "too_few_sequences");
  EXPECT_EQ(DecideKl({{1e-6, 1e-6, 5.0}}, 1.0, false).decision.reason, "no_variance_basis");
  const std::vector<KlUnit> alike(50, {1e-3, 1e-3, 10.0});
  EXPECT_EQ(DecideKl(alike, 1.0, false).decision.verdict, MetricVerdict::kInconclusive);
  std::vector<KlUnit> infinite = Drawn(50, 0.5, 1e-3, &random);
  infinite[7].k3 = INFINITY;
  EXPECT_EQ(DecideKl(infinite, 1.0, false).decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(DecideKl({{0.0, 0.0, 5.0}}, 1.0, true).decision.reason, "equal");
}

// Sequences that are bit-equal carry nothing, and count.
TEST(DecideKl, CountsEqualSequences) {
  std::mt19937_64 random(7);
  std::vector<KlUnit> units = Drawn(100, 0.5, 1e-3, &random);
  for (int i = 0; i < 100; i += 2) units[i].k1 = units[i].k3 = 0.0;
  const MetricDecision decision = DecideKl(units, 2e-3, false).decision;
  EXPECT_EQ(decision.verdict, MetricVerdict::kWithin);
  EXPECT_LT(decision.ci_low, decision.difference);
}

// The rates of the header at the margin itself, with room for 2,000 draws (three standard errors of
// .05: .015). t alone claims equivalence in .23, .19 and .14 of these cases.
TEST(DecideKl, HoldsItsRatesWhereTailsAreLong) {
  std::mt19937_64 random(8);
  for (const int count : {20, 50, 200}) {
    int within = 0;
    int beyond = 0;
    for (int i = 0; i < 2000; ++i) {
      const MetricVerdict verdict =
          DecideKl(Drawn(count, 1.0, 1e-3, &random), 1e-3, false).decision.verdict;
      within += verdict == MetricVerdict::kWithin ? 1 : 0;
      beyond += verdict == MetricVerdict::kDrifted ? 1 : 0;
    }
    EXPECT_LT(within / 2000.0, 0.07) << count;
    EXPECT_LT(beyond / 2000.0, 0.017) << count;
  }
}

}  // namespace
}  // namespace rharness
