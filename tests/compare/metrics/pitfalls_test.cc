// Mistakes that comparisons of runs are known for, each with the case that would show it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/metrics/bands.h"
#include "compare/metrics/decision.h"
#include "compare/stats/distributions.h"
#include "compare/stats/moments.h"
#include "tests/compare/metrics/simulation.h"
#include "tests/compare/metrics/special_values.h"

namespace rharness {
namespace {

using ::testing::HasSubstr;

constexpr double kNotFinite = std::numeric_limits<double>::quiet_NaN();

MetricInput Loss(std::vector<double> history, std::vector<double> reruns) {
  MetricInput input;
  input.history = std::move(history);
  input.reruns = std::move(reruns);
  input.margin = 0.03;
  input.prior = {9e-5, 8.0, 20};
  return input;
}

TEST(Pitfalls, ADifferenceThatIsNotSignificantIsNotEquivalence) {
  MetricInput input = Loss({1.0, 2.0, 3.0}, {2.4, 3.4, 4.4});
  input.margin = 1.5;
  input.prior = {};
  const MetricDecision decision = DecideMetric(input);
  EXPECT_GT(decision.p_difference, 0.05);
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
}

TEST(Pitfalls, ThreeRunsDoNotMakeABandOfTwoDeviations) {
  // Sample deviation 1, rerun 2.5 of them away: a mean +- 2 s band would raise an alarm.
  MetricInput input = Loss({1.0, 2.0, 3.0}, {4.5});
  input.prior = {};
  EXPECT_EQ(DecideMetric(input).verdict, MetricVerdict::kInconclusive);
}

TEST(Pitfalls, EqualValuesAreNoProofOfZeroNoise) {
  MetricInput input = Loss({0.5, 0.5, 0.5}, {0.5001, 0.5001, 0.5001});
  input.prior = {};
  const MetricDecision bare = DecideMetric(input);
  EXPECT_EQ(bare.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(bare.reason, "no_variance_basis");

  input.quantum = 0.0001;
  const MetricDecision floored = DecideMetric(input);
  EXPECT_NEAR(floored.standard_deviation, 0.0001 / std::sqrt(12.0), 1e-12);
  EXPECT_TRUE(std::isfinite(floored.t));
  EXPECT_EQ(floored.verdict, MetricVerdict::kWithin);
}

TEST(Pitfalls, TheQuantumIsAFloorAlsoUnderTheFamilyVariance) {
  MetricInput input = Loss({0.50, 0.50, 0.50}, {0.51, 0.51});
  input.prior = {1e-12, 12.0, 20};
  input.quantum = 0.01;
  EXPECT_NEAR(DecideMetric(input).standard_deviation, 0.01 / std::sqrt(12.0), 1e-12);
}

TEST(Pitfalls, NanOnBothSidesNeverPasses) {
  for (double value : {kNotFinite, kInfinity, -kInfinity}) {
    const MetricDecision decision = DecideMetric(Loss({value, value}, {value, value}));
    EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive) << value;
    EXPECT_EQ(decision.reason, "non_finite_history") << value;
  }
}

TEST(Pitfalls, ANonFiniteHistoryIsNeverPassedAndNeverTrimmed) {
  const MetricDecision decision = DecideMetric(Loss({2.1, kNotFinite, 2.1, 2.1}, {2.1, 2.1, 2.1}));
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(decision.reason, "non_finite_history");
}

TEST(Pitfalls, ANonFiniteRerunOfAFiniteHistoryIsADrift) {
  for (double value : {kNotFinite, kInfinity, -kInfinity}) {
    const MetricDecision decision = DecideMetric(Loss({2.104, 2.111, 2.098}, {value, 2.1}));
    EXPECT_EQ(decision.verdict, MetricVerdict::kDrifted) << value;
    EXPECT_EQ(decision.reason, "non_finite") << value;
  }
}

TEST(Pitfalls, ADivergentRerunIsNotTrimmedAmongManyGoodOnes) {
  std::vector<double> reruns(20, 2.104);
  reruns[7] = kNotFinite;
  EXPECT_EQ(DecideMetric(Loss({2.104, 2.111, 2.098}, reruns)).verdict, MetricVerdict::kDrifted);
}

TEST(Pitfalls, TheMarginNeverComesFromTheNewData) {
  MetricInput tight = Loss({2.104, 2.111, 2.098}, {2.104, 2.105});
  MetricInput loose = Loss({2.104, 2.111, 2.098}, {1.0, 9.0});
  tight.margin.reset();
  loose.margin.reset();
  EXPECT_DOUBLE_EQ(DecideMetric(tight).margin, 3.0 * std::sqrt(9e-5));
  EXPECT_DOUBLE_EQ(DecideMetric(loose).margin, DecideMetric(tight).margin);
}

TEST(Pitfalls, ARerunInAModeThatTheHistoryMissedIsNotADriftByItself) {
  const std::vector<double> history = {2.104, 2.111, 2.098};
  EXPECT_EQ(DecideMetric(Loss(history, {2.3})).verdict, MetricVerdict::kNeedsConfirmation);
  EXPECT_EQ(DecideMetric(Loss(history, {2.3, 2.104})).verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(DecideMetric(Loss(history, {2.3, 2.104, 2.107})).verdict, MetricVerdict::kInconclusive);
}

TEST(Pitfalls, AFamilyOfEqualRunsDoesNotNarrowTheBand) {
  const std::vector<double> dfs(10, 2.0);
  const VariancePrior mixed = FitVariancePrior({0, 0, 0, 0, 1, 4, 0.25, 2, 0.1, 9}, dfs);
  EXPECT_NEAR(mixed.s0_squared, 1.238094970185464, 1e-5);
}

TEST(Pitfalls, WelchIsNotUsedWhereItIsUndefined) {
  const MetricDecision decision = DecideMetric(Loss({2.104}, {2.0, 2.1, 2.2}));
  EXPECT_THAT(decision.reason, ::testing::Not(HasSubstr("unequal_variance")));
  EXPECT_DOUBLE_EQ(decision.df, 10.0);  // 8 of the family, 2 of the reruns
}

TEST(Pitfalls, TheDeviationDividesByTheDegreesOfFreedom) {
  MetricInput input = Loss({1.0, 3.0}, {1.0, 3.0});
  input.prior = {};
  EXPECT_DOUBLE_EQ(DecideMetric(input).standard_deviation, std::sqrt(2.0));
}

TEST(Pitfalls, ALargeCommonOffsetCostsNoDigits) {
  // Multiples of 2^-10 keep their differences exactly when 2^40 is added.
  const double step = 0x1p-10;
  const std::vector<double> history = {2.0, 2.0 + 7.0 * step, 2.0 - 6.0 * step};
  const std::vector<double> reruns = {2.0 + step, 2.0 - 3.0 * step};
  std::vector<double> far_history;
  std::vector<double> far_reruns;
  for (double value : history) far_history.push_back(value + 0x1p40);
  for (double value : reruns) far_reruns.push_back(value + 0x1p40);
  const MetricDecision near = DecideMetric(Loss(history, reruns));
  const MetricDecision far = DecideMetric(Loss(far_history, far_reruns));
  EXPECT_NEAR(far.standard_deviation, near.standard_deviation, 1e-6 * near.standard_deviation);
  EXPECT_EQ(far.verdict, near.verdict);
}

TEST(Pitfalls, HugeValuesOverflowIntoNoPass) {
  const double huge = std::numeric_limits<double>::max();
  const MetricDecision decision = DecideMetric(Loss({huge, -huge, huge}, {huge, -huge}));
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
}

TEST(Pitfalls, BandsOfThreeRunsAlarmFarMoreOftenThanTheyPromise) {
  // A new value against mean +- c s of three is t on 2 df at c / sqrt(4/3): 23 % at two deviations,
  // 12 % at three.
  const double root = std::sqrt(4.0 / 3.0);
  EXPECT_NEAR(stats::StudentTTwoSided(2.0 / root, 2.0), 0.2254, 1e-4);
  EXPECT_NEAR(stats::StudentTTwoSided(3.0 / root, 2.0), 0.1217, 1e-4);
  // The band of this design alarms as often as it says, because it is that much wider.
  const Band band = SmokeBand({.values = {1.0, 2.0, 3.0}}, 1, 0.05).value();
  EXPECT_NEAR(stats::StudentTTwoSided(band.factor / root, band.df), 0.05, 1e-9);
  EXPECT_GT(band.factor, 4.9);
}

// Share of AR(1) series of mean 0 whose mean is more than 1.96 standard errors off, when they count
// as `size` or as so many independent values as they are worth.
double AlarmShare(double rho, bool as_independent) {
  constexpr int kSeries = 2000;
  constexpr int kSteps = 400;
  NormalSource source(77);
  int alarms = 0;
  for (int i = 0; i < kSeries; ++i) {
    double value = source.Next() / std::sqrt(1.0 - rho * rho);
    std::vector<double> steps;
    for (int step = 0; step < kSteps; ++step) {
      steps.push_back(value);
      value = rho * value + source.Next();
    }
    const stats::Moments moments = stats::ComputeMoments(steps);
    const double worth = as_independent ? kSteps : stats::EffectiveSampleSizeAr1(kSteps, rho);
    alarms += std::fabs(moments.mean) > 1.96 * std::sqrt(moments.Variance() / worth) ? 1 : 0;
  }
  return static_cast<double>(alarms) / kSeries;
}

TEST(Pitfalls, StepsOfOneRunAreNotIndependentSamples) {
  EXPECT_GT(AlarmShare(0.9, true), 0.5);
  EXPECT_LT(AlarmShare(0.9, false), 0.1);
}

TEST(Pitfalls, OneWrongConfigurationHardlyMovesTheFamily) {
  // The fit is on log variances: one that is 10^4 times as noisy would make their mean 1000 times
  // as large.
  std::vector<double> variances(10, 1.0);
  for (std::size_t i = 0; i < variances.size(); ++i) variances[i] += 0.1 * static_cast<double>(i);
  const std::vector<double> dfs(10, 8.0);
  const double clean = FitVariancePrior(variances, dfs).s0_squared;
  variances[9] = 1e4;
  const VariancePrior mixed = FitVariancePrior(variances, dfs);
  EXPECT_LT(mixed.s0_squared, 4.0 * clean);
  EXPECT_LT(mixed.df, 3.0) << "and the family knows that it is not one";
}

TEST(Pitfalls, ABaselineThatFollowsItsRerunsNeverSeesTheDrift) {
  const auto runs_at = [](double mean) {
    return std::vector<double>{mean - 0.01, mean, mean + 0.01};
  };
  double mean = 2.1;
  std::vector<double> following = runs_at(mean);
  const std::vector<double> frozen = following;
  MetricVerdict at_last = MetricVerdict::kWithin;
  for (int night = 0; night < 12; ++night) {
    mean += 0.005;  // a sixth of the margin a night
    EXPECT_EQ(DecideMetric(Loss(following, runs_at(mean))).verdict, MetricVerdict::kWithin);
    following = runs_at(mean);
    at_last = DecideMetric(Loss(frozen, runs_at(mean))).verdict;
  }
  EXPECT_EQ(at_last, MetricVerdict::kDrifted);
}

TEST(Pitfalls, AFamilyThatKnowsNextToNothingPassesNothing) {
  for (const double df : {5e-324, 1e-300, 1e-20, 1e-6, 1e-3}) {
    MetricInput input = Loss({2.1}, {2.1});
    input.prior = {9e-5, df, 20};
    EXPECT_EQ(DecideMetric(input).verdict, MetricVerdict::kInconclusive) << df;
  }
}

TEST(Pitfalls, TheHardestCertifiedDeviationsComeOut) {
  // NIST StRD NumAcc3 and NumAcc4: certified standard deviation 0.1, lag-1 autocorrelation -0.999.
  for (const double base : {1000000.0, 10000000.0}) {
    std::vector<double> values = {base + 0.2};
    for (int i = 0; i < 500; ++i) values.insert(values.end(), {base + 0.1, base + 0.3});
    EXPECT_NEAR(std::sqrt(stats::ComputeMoments(values).Variance()), 0.1, 1e-8) << base;
    EXPECT_NEAR(stats::Lag1Autocorrelation(values), -0.999, 1e-7) << base;
  }
}

}  // namespace
}  // namespace rharness
