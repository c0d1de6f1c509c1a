// Mistakes that comparisons of runs are known for, each with the case that would show it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/metrics/decision.h"

namespace rharness {
namespace {

using ::testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
  for (double value : {kNaN, kInfinity, -kInfinity}) {
    const MetricDecision decision = DecideMetric(Loss({value, value}, {value, value}));
    EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive) << value;
    EXPECT_EQ(decision.reason, "non_finite_history") << value;
  }
}

TEST(Pitfalls, ANonFiniteHistoryIsNeverPassedAndNeverTrimmed) {
  const MetricDecision decision = DecideMetric(Loss({2.1, kNaN, 2.1, 2.1}, {2.1, 2.1, 2.1}));
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(decision.reason, "non_finite_history");
}

TEST(Pitfalls, ANonFiniteRerunOfAFiniteHistoryIsADrift) {
  for (double value : {kNaN, kInfinity, -kInfinity}) {
    const MetricDecision decision = DecideMetric(Loss({2.104, 2.111, 2.098}, {value, 2.1}));
    EXPECT_EQ(decision.verdict, MetricVerdict::kDrifted) << value;
    EXPECT_EQ(decision.reason, "non_finite") << value;
  }
}

TEST(Pitfalls, ADivergentRerunIsNotTrimmedAmongManyGoodOnes) {
  std::vector<double> reruns(20, 2.104);
  reruns[7] = kNaN;
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

}  // namespace
}  // namespace rharness
