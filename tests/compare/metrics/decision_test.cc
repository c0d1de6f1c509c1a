// The rules of the decision design, one a test. Expected numbers come from scipy (given to all
// their digits), from closed forms, or from 20-digit quadrature.
#include "compare/metrics/decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/compare/metrics/special_values.h"

namespace rharness {
namespace {

using ::testing::HasSubstr;

// Test accuracy of a small model: three historical runs and a family whose noise is known.
MetricInput Accuracy(std::vector<double> reruns) {
  MetricInput input;
  input.name = "test_accuracy";
  input.unit = "1";
  input.history = {0.7612, 0.7618, 0.7609};
  input.reruns = std::move(reruns);
  input.margin = 0.004;
  input.quantum = 0.0001;
  input.prior = {1.6e-6, 12.0, 20};
  return input;
}

// Values around `mean` whose sum of squares is size - 1, so that with a prior of s0 = 1 the
// moderated standard deviation is exactly 1.
std::vector<double> UnitVariance(int size, double mean) {
  std::vector<double> values(static_cast<std::size_t>(size), mean);
  const double step = std::sqrt((size - 1) / 2.0);
  if (size > 1) {
    values[0] -= step;
    values[1] += step;
  }
  return values;
}

MetricInput UnitNoise(int n, int k, double difference, double margin, double prior_df) {
  MetricInput input;
  input.history = UnitVariance(n, 0.0);
  input.reruns = UnitVariance(k, difference);
  input.margin = margin;
  input.prior = {1.0, prior_df, 20};
  return input;
}

TEST(DecideMetric, IsWithinWhenTheIntervalLiesInsideTheMargin) {
  const MetricDecision decision = DecideMetric(Accuracy({0.7605, 0.7611}));
  EXPECT_EQ(decision.verdict, MetricVerdict::kWithin);
  EXPECT_EQ(decision.reason, "");
  EXPECT_NEAR(decision.t, -0.476731294622849, 1e-8);
  EXPECT_DOUBLE_EQ(decision.df, 15.0);
  EXPECT_NEAR(decision.p_difference, 0.6404241163526825, 1e-8);
  EXPECT_NEAR(decision.ci_low, -0.0023386147243382406, 1e-10);
  EXPECT_NEAR(decision.ci_high, 0.0013386147243381287, 1e-10);
  EXPECT_EQ(decision.variance_basis, "pooled");
  EXPECT_EQ(decision.more_reruns, 0);
}

TEST(DecideMetric, IsDriftedAndMaterialWhenTheIntervalLiesOutsideTheMargin) {
  const MetricDecision decision = DecideMetric(Accuracy({0.7552, 0.7549}));
  EXPECT_EQ(decision.verdict, MetricVerdict::kDrifted);
  EXPECT_EQ(decision.reason, "material");
  EXPECT_NEAR(decision.p_difference, 2.5242180572558394e-05, 1e-8);
  EXPECT_NEAR(decision.ci_high, -0.00441766400108187, 1e-10);
}

TEST(DecideMetric, IsDriftedButNotMaterialWhenTheIntervalCrossesTheMargin) {
  MetricInput input = Accuracy({0.7552, 0.7549});
  input.margin = 0.006;
  const MetricDecision decision = DecideMetric(input);
  EXPECT_EQ(decision.verdict, MetricVerdict::kDrifted);
  EXPECT_EQ(decision.reason, "");
}

TEST(DecideMetric, AsksForConfirmationWhenOneRerunDiffers) {
  const MetricDecision decision = DecideMetric(Accuracy({0.7500}));
  EXPECT_EQ(decision.verdict, MetricVerdict::kNeedsConfirmation);
  EXPECT_LT(decision.p_difference, 0.01);
  EXPECT_EQ(decision.more_reruns, 1);
}

TEST(DecideMetric, ClaimsTheDriftOnceASecondRerunConfirmsIt) {
  EXPECT_EQ(DecideMetric(Accuracy({0.7500, 0.7503})).verdict, MetricVerdict::kDrifted);
}

TEST(DecideMetric, DropsTheClaimWhenTheSecondRerunDoesNotConfirmIt) {
  const MetricDecision decision = DecideMetric(Accuracy({0.7500, 0.7613}));
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
}

TEST(DecideMetric, GuardsAgainstADriftThatOneRerunDecides) {
  MetricInput input = Accuracy({0.7613, 0.7460});
  input.prior.df = 30.0;
  const MetricDecision decision = DecideMetric(input);
  ASSERT_LT(decision.p_difference, 0.01);
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(decision.reason, "one_rerun_decides");
  input.reruns = {0.7462, 0.7460};
  EXPECT_EQ(DecideMetric(input).verdict, MetricVerdict::kDrifted);
}

TEST(DecideMetric, GuardsByTheStrengthAndTheSignOfWhatRemains) {
  MetricInput input = Accuracy({0.7610, 0.7460});  // the first alone: same sign, p far above 0.10
  input.prior.df = 30.0;
  ASSERT_LT(DecideMetric(input).p_difference, 0.01);
  EXPECT_EQ(DecideMetric(input).reason, "one_rerun_decides");
  input.reruns = {0.7648, 0.7413};  // the first alone: p below 0.10, the other sign
  ASSERT_LT(DecideMetric(input).p_difference, 0.01);
  EXPECT_EQ(DecideMetric(input).reason, "one_rerun_decides");
}

TEST(DecideMetric, GivesNoPriorMoreThanThirtyDegreesOfFreedom) {
  MetricInput input = Accuracy({0.7605, 0.7611});
  for (double df : {31.0, 1000.0, std::numeric_limits<double>::infinity()}) {
    input.prior.df = df;
    EXPECT_DOUBLE_EQ(DecideMetric(input).df, 33.0) << df;
  }
}

TEST(DecideMetric, HalvesTheEquivalenceLevelForOneRerunAndReportsIt) {
  MetricInput input;
  input.history = {0.7612};
  input.reruns = {0.7590};
  input.prior = {1.6e-6, 12.0, 20};
  input.margin = 0.02;
  const MetricDecision decision = DecideMetric(input);
  EXPECT_DOUBLE_EQ(decision.alpha_equivalence, 0.025);
  EXPECT_NEAR(decision.t, -1.229837387624873, 1e-9);
  EXPECT_NEAR(decision.p_difference, 0.24232491606208295, 1e-9);
  const double half = 2.17881282967 * std::sqrt(2 * 1.6e-6);  // t(0.975; 12), from tables
  EXPECT_NEAR(decision.ci_low, -0.0022 - half, 1e-10);
  EXPECT_NEAR(decision.ci_high, -0.0022 + half, 1e-10);
  EXPECT_EQ(decision.variance_basis, "family");
  EXPECT_DOUBLE_EQ(DecideMetric(Accuracy({0.76, 0.76})).alpha_equivalence, 0.05);
}

TEST(DecideMetric, AttachesTheShiftThatEquivalenceDoesNotExclude) {
  const MetricDecision decision = DecideMetric(UnitNoise(10, 10, 1.6, 4.0, 20.0));
  EXPECT_EQ(decision.verdict, MetricVerdict::kWithin);
  EXPECT_LT(decision.p_difference, 0.01);
  EXPECT_EQ(decision.reason, "detectable_shift");
}

TEST(DecideMetric, NamesTheSingleReferenceOfADrift) {
  const MetricDecision decision = DecideMetric(UnitNoise(1, 3, 12.0, 3.0, 15.0));
  EXPECT_EQ(decision.verdict, MetricVerdict::kDrifted);
  EXPECT_EQ(decision.reason, "material,single_reference");
}

TEST(DecideMetric, TakesThreePriorDeviationsAsTheMarginWhenNoneIsDeclared) {
  MetricInput input = UnitNoise(5, 5, 0.0, 1.0, 20.0);
  input.margin.reset();
  input.prior.s0_squared = 4.0;
  const MetricDecision decision = DecideMetric(input);
  EXPECT_TRUE(decision.default_margin);
  EXPECT_DOUBLE_EQ(decision.margin, 6.0);
  EXPECT_FALSE(DecideMetric(UnitNoise(5, 5, 0.0, 1.0, 20.0)).default_margin);
}

TEST(DecideMetric, IsNeverWithinWithoutAMargin) {
  MetricInput input;
  input.history = {1.0, 1.1, 0.9, 1.05, 0.95};
  input.reruns = {1.0, 1.1, 0.9, 1.05, 0.95};
  const MetricDecision decision = DecideMetric(input);
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(decision.reason, "no_margin");
  EXPECT_DOUBLE_EQ(decision.margin, 0.0);
  EXPECT_DOUBLE_EQ(decision.power, 0.0);
  for (double margin : {0.0, -1.0, kNaN}) {
    input.margin = margin;
    input.prior = {0.01, 12.0, 20};
    EXPECT_EQ(DecideMetric(input).reason, "no_margin") << margin;
  }
}

TEST(DecideMetric, CanShowADriftWithoutAMargin) {
  MetricInput input;
  input.history = {1.0, 1.1, 0.9, 1.05, 0.95};
  input.reruns = {2.0, 2.1, 1.9};
  EXPECT_EQ(DecideMetric(input).verdict, MetricVerdict::kDrifted);
}

TEST(DecideMetric, IsInconclusiveWithoutHistory) {
  MetricInput input = Accuracy({0.76, 0.76});
  input.history.clear();
  EXPECT_EQ(DecideMetric(input).verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(DecideMetric(input).reason, "no_history");
}

TEST(DecideMetric, IsInconclusiveWhenOneRunMeetsOneRerunWithoutAFamily) {
  MetricInput input = Accuracy({0.76});
  input.history = {0.76};
  input.prior = {};
  const MetricDecision decision = DecideMetric(input);
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(decision.reason, "no_variance_basis");
  EXPECT_EQ(decision.variance_basis, "none");
  EXPECT_DOUBLE_EQ(decision.standard_error, 0.0);
}

TEST(DecideMetric, UsesItsOwnVarianceWithoutAFamily) {
  MetricInput input = Accuracy({0.7605, 0.7611});
  input.prior = {};
  const MetricDecision decision = DecideMetric(input);
  EXPECT_EQ(decision.variance_basis, "own");
  EXPECT_DOUBLE_EQ(decision.df, 3.0);
}

TEST(DecideMetric, IsInconclusiveWhenARerunDidNotReportTheMetric) {
  MetricInput input = Accuracy({0.7605, 0.7611});
  input.missing = 1;
  const MetricDecision decision = DecideMetric(input);
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(decision.reason, "missing");
  EXPECT_NEAR(decision.t, -0.476731294622849, 1e-8);
  EXPECT_EQ(DecideMetric(Accuracy({})).reason, "missing");
}

TEST(DecideMetric, RefusesErrorRatesThatAreNone) {
  for (double alpha : {0.0, -0.1, 0.5, 1.0, kNaN}) {
    MetricInput input = Accuracy({0.7605, 0.7611});
    input.alpha_equivalence = alpha;
    EXPECT_EQ(DecideMetric(input).reason, "invalid_alpha") << alpha;
    input = Accuracy({0.7552, 0.7549});
    input.alpha_drift = alpha;
    EXPECT_EQ(DecideMetric(input).verdict, MetricVerdict::kInconclusive) << alpha;
  }
}

TEST(DecideMetric, FallsBackToWelchWhenTheVariancesPlainlyDiffer) {
  MetricInput input;
  input.history = {-0.01, -0.01, 0.0, 0.01, 0.01};
  input.reruns = {2.0, 2.0, 3.0, 4.0, 4.0};
  input.margin = 1.0;
  input.prior = {1e-4, 12.0, 20};
  const MetricDecision decision = DecideMetric(input);
  EXPECT_THAT(decision.reason, HasSubstr("unequal_variance"));
  EXPECT_EQ(decision.variance_basis, "own");
  EXPECT_NEAR(decision.standard_error, std::sqrt((1.0 + 1e-4) / 5.0), 1e-12);
  EXPECT_NEAR(decision.df, 4.0 * 1.0001 * 1.0001 / (1.0 + 1e-8), 1e-9);
}

TEST(DecideMetric, StatesThePowerThatItHad) {
  const MetricDecision decision = DecideMetric(UnitNoise(5, 5, 0.0, 2.0, 20.0));
  EXPECT_NEAR(decision.standard_deviation, 1.0, 1e-12);
  EXPECT_NEAR(decision.power, 0.8500186009197614, 1e-6);
}

TEST(DecideMetric, StatesTheSmallestShiftThatItWouldHaveFound) {
  const MetricDecision decision = DecideMetric(UnitNoise(3, 3, 0.0, 2.0, 15.0));
  EXPECT_NEAR(decision.minimum_detectable, 3.06156821031, 1e-8);
  EXPECT_NEAR(DecideMetric(UnitNoise(1, 1, 0.0, 2.0, 15.0)).minimum_detectable, 5.45, 0.005);
  EXPECT_NEAR(DecideMetric(UnitNoise(5, 10, 0.0, 2.0, 15.0)).minimum_detectable, 1.99, 0.005);
}

TEST(DecideMetric, SaysHowManyMoreRerunsWouldShowEquivalence) {
  const MetricDecision decision = DecideMetric(UnitNoise(10, 3, 0.6, 1.5, 20.0));
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(decision.more_reruns, 4);  // 7 in all reach a power of 0.8195
}

TEST(DecideMetric, PlansAtTheFullEquivalenceLevelAfterOneRerun) {
  // Three of three need a margin of 2.48 deviations at the full level, two of three 2.78.
  const MetricDecision decision = DecideMetric(UnitNoise(3, 1, 0.9, 2.5, 15.0));
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(decision.more_reruns, 2);
}

TEST(DecideMetric, SaysHowManyMoreRerunsWouldShowADriftAtTheMargin) {
  const MetricDecision decision = DecideMetric(UnitNoise(10, 2, 1.9, 2.0, 20.0));
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(decision.more_reruns, 4);  // powers 0.763 and 0.822 with 3 and 4 more
}

TEST(DecideMetric, SaysThatNoNumberOfRerunsBeatsASingleReference) {
  const MetricDecision decision = DecideMetric(UnitNoise(1, 3, 0.5, 2.0, 15.0));
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(decision.more_reruns, 0);
}

TEST(DecideMetric, RepeatsWhatItWasGiven) {
  MetricInput input = Accuracy({0.7605, 0.7611});
  input.primary = false;
  const MetricDecision decision = DecideMetric(input);
  EXPECT_EQ(decision.name, "test_accuracy");
  EXPECT_EQ(decision.unit, "1");
  EXPECT_FALSE(decision.primary);
  EXPECT_EQ(decision.history, input.history);
  EXPECT_EQ(decision.reruns, input.reruns);
  EXPECT_NEAR(decision.mean_history, 0.7613, 1e-12);
  EXPECT_NEAR(decision.difference, -0.0005, 1e-12);
}

TEST(MetricVerdictName, IsOneWordAVerdict) {
  EXPECT_EQ(MetricVerdictName(MetricVerdict::kWithin), "within");
  EXPECT_EQ(MetricVerdictName(MetricVerdict::kDrifted), "drifted");
  EXPECT_EQ(MetricVerdictName(MetricVerdict::kNeedsConfirmation), "needs_confirmation");
  EXPECT_EQ(MetricVerdictName(MetricVerdict::kInconclusive), "inconclusive");
}

TEST(FitVariancePrior, AgreesWithTheMomentEstimator) {
  const VariancePrior prior = FitVariancePrior({1, 4, 0.25, 2, 0.1, 9}, {2, 2, 2, 2, 2, 2});
  EXPECT_NEAR(prior.df, 2.4458815575374864, 1e-5);
  EXPECT_NEAR(prior.s0_squared, 1.238094970185464, 1e-5);
  EXPECT_EQ(prior.configurations, 6);
}

TEST(FitVariancePrior, CapsWhatAHomogeneousFamilyClaims) {
  const VariancePrior prior = FitVariancePrior({0.5, 2, 8, 0.3, 1.2}, {1, 2, 4, 4, 2});
  EXPECT_DOUBLE_EQ(prior.df, 8.0);
  EXPECT_NEAR(prior.s0_squared, 2.235940694853637, 1e-5);
}

TEST(FitVariancePrior, NeedsFiveConfigurationsAndEightDegreesOfFreedom) {
  EXPECT_DOUBLE_EQ(FitVariancePrior({1, 2, 3, 4}, {4, 4, 4, 4}).df, 0.0);
  EXPECT_DOUBLE_EQ(FitVariancePrior({1, 2, 3, 4, 5}, {1, 1, 1, 2, 2}).df, 0.0);
  EXPECT_GT(FitVariancePrior({1, 2, 3, 4, 5}, {1, 1, 2, 2, 2}).df, 0.0);
}

TEST(FitVariancePrior, LeavesOutConfigurationsThatCarryNoNoise) {
  const VariancePrior with =
      FitVariancePrior({1, 0, 4, 0.25, kNaN, 2, 0.1, 9}, {2, 2, 2, 2, 2, 2, 2, 2});
  const VariancePrior without = FitVariancePrior({1, 4, 0.25, 2, 0.1, 9}, {2, 2, 2, 2, 2, 2});
  EXPECT_DOUBLE_EQ(with.df, without.df);
  EXPECT_DOUBLE_EQ(with.s0_squared, without.s0_squared);
  EXPECT_EQ(with.configurations, 6);
  EXPECT_DOUBLE_EQ(FitVariancePrior({0, 0, 0, 0, 0, 0}, {2, 2, 2, 2, 2, 2}).df, 0.0);
}

}  // namespace
}  // namespace rharness
