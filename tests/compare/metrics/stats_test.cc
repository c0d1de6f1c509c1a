// Edges of the statistics that the reference vectors do not reach.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/stats/change_points.h"
#include "compare/stats/distributions.h"
#include "compare/stats/equivalence.h"
#include "compare/stats/intervals.h"
#include "compare/stats/mcnemar.h"
#include "compare/stats/moments.h"
#include "compare/stats/multiplicity.h"
#include "compare/stats/power.h"
#include "compare/stats/proportions.h"
#include "compare/stats/quadrature.h"
#include "compare/stats/rank_agreement.h"
#include "compare/stats/ranks.h"
#include "compare/stats/shrinkage.h"
#include "compare/stats/student_t.h"
#include "tests/compare/metrics/special_values.h"

namespace rharness::stats {
namespace {

TEST(Distributions, GiveNanOutsideTheirDomainAndNeverThrow) {
  for (double bad : {kNaN, -1.0, 2.0, kInfinity}) {
    EXPECT_TRUE(std::isnan(NormalQuantile(bad)));
    EXPECT_TRUE(std::isnan(StudentTQuantile(bad, 3.0)));
    EXPECT_TRUE(std::isnan(ChiSquaredQuantile(bad, 3.0)));
    EXPECT_TRUE(std::isnan(BetaQuantile(bad, 1.0, 1.0)));
    EXPECT_TRUE(std::isnan(NoncentralTQuantile(bad, 3.0, 1.0)));
  }
  EXPECT_TRUE(std::isnan(StudentTUpper(1.0, 0.0)));
  EXPECT_TRUE(std::isnan(StudentTUpper(kNaN, 3.0)));
  EXPECT_TRUE(std::isnan(FisherFUpper(-1.0, 2.0, 2.0)));
  EXPECT_TRUE(std::isnan(TrigammaInverse(0.0)));
  EXPECT_TRUE(std::isnan(BinomialCdf(3.0, 2.0, 0.5)));
}

TEST(Distributions, AgreeWithClosedForms) {
  EXPECT_NEAR(StudentTUpper(1.0, 1.0), 0.25, 1e-14);                // Cauchy
  EXPECT_NEAR(ChiSquaredUpper(3.0, 2.0), std::exp(-1.5), 1e-14);    // exponential
  EXPECT_NEAR(FisherFUpper(3.0, 2.0, 2.0), 0.25, 1e-14);            // 1 / (1 + f)
  EXPECT_NEAR(BetaQuantile(0.3, 2.0, 1.0), std::sqrt(0.3), 1e-12);  // x^2
  EXPECT_NEAR(Trigamma(1.0), std::numbers::pi * std::numbers::pi / 6, 1e-13);
  EXPECT_DOUBLE_EQ(StudentTUpper(kInfinity, 3.0), 0.0);
  EXPECT_NEAR(StudentTQuantile(0.975, kInfinity), 1.959963984540054, 1e-12);
}

TEST(TrigammaInverse, InvertsOverTheWholeRange) {
  for (double y : {1e-4, 0.01, 0.3, 1.0, 7.5, 200.0, 1e5}) {
    EXPECT_NEAR(TrigammaInverse(Trigamma(y)) / y, 1.0, 1e-8) << y;
  }
}

TEST(Moments, AreExactForEqualValuesAndForHugeOffsets) {
  const Moments equal = ComputeMoments({0.1, 0.1, 0.1});
  EXPECT_DOUBLE_EQ(equal.mean, 0.1);
  EXPECT_EQ(equal.sum_of_squares, 0.0);
  // StRD NumAcc4: 10000000.2, then 10000000.1 and 10000000.3 500 times; deviation 0.1.
  std::vector<double> values = {10000000.2};
  for (int i = 0; i < 500; ++i) {
    values.push_back(10000000.1);
    values.push_back(10000000.3);
  }
  const Moments moments = ComputeMoments(values);
  EXPECT_NEAR(moments.mean, 10000000.2, 1e-8);
  EXPECT_NEAR(std::sqrt(moments.Variance()), 0.1, 1e-8);
}

TEST(Moments, HaveNoVarianceBelowTwoValues) {
  EXPECT_EQ(ComputeMoments({}).count, 0.0);
  EXPECT_EQ(ComputeMoments({3.0}).Variance(), 0.0);
  EXPECT_TRUE(std::isnan(Lag1Autocorrelation({1.0, 1.0})));
  EXPECT_TRUE(std::isnan(OlympicMean({1.0, 2.0}, 1)));
}

TEST(Welch, IsUndefinedForASingleValue) {
  EXPECT_TRUE(std::isnan(WelchTest(ComputeMoments({1.0}), ComputeMoments({1.0, 2.0})).p_two_sided));
}

TEST(Tost, SaysNothingWithoutVariance) {
  const MeanTest test = PooledTest(ComputeMoments({1.0, 1.0}), ComputeMoments({1.0, 1.0}));
  EXPECT_TRUE(std::isnan(Tost(test, -1.0, 1.0).p));
  EXPECT_FALSE(IsInside({kNaN, kNaN}, -1.0, 1.0));
  EXPECT_FALSE(IsOutside({kNaN, kNaN}, -1.0, 1.0));
}

TEST(VarianceRatio, IsSymmetricAndRejectsZeroAgainstSomething) {
  EXPECT_NEAR(VarianceRatioP(3.0, 2.0, 1.0, 2.0), 0.5, 1e-12);
  EXPECT_NEAR(VarianceRatioP(1.0, 2.0, 3.0, 2.0), 0.5, 1e-12);
  EXPECT_EQ(VarianceRatioP(0.0, 2.0, 3.0, 2.0), 0.0);
  EXPECT_TRUE(std::isnan(VarianceRatioP(0.0, 2.0, 0.0, 2.0)));
}

TEST(Power, IsTheLevelOfTheTestWhereNothingDiffers) {
  for (double df : {0.5, 1.0, 1.5, 3.0, 30.0, 1e5, kInfinity}) {
    EXPECT_NEAR(TwoSidedPower(0.0, df, 0.01), 0.01, 1e-7) << df;
  }
}

TEST(Power, OfEquivalenceIsTheLevelAtAFarMargin) {
  for (double df : {1.0, 2.0, 12.0, 100.0}) {
    EXPECT_NEAR(TostPower(200.0, 200.0, 1.0, df, 0.05), 0.05, 1e-6) << df;
  }
}

TEST(Power, RefusesArgumentsThatMeanNothing) {
  EXPECT_EQ(TostPower(kNaN, 0.0, 1.0, 3.0, 0.05), 0.0);
  EXPECT_EQ(TostPower(1.0, 0.0, 0.0, 3.0, 0.05), 0.0);
  EXPECT_EQ(TostPower(1.0, 0.0, 1.0, 0.0, 0.05), 0.0);
  EXPECT_EQ(TwoSidedPower(kNaN, 3.0, 0.05), 0.0);
  EXPECT_TRUE(std::isnan(DetectableNoncentrality(3.0, 0.05, 0.01)));
}

TEST(Power, FindsTheDetectableShiftAtFewDegreesOfFreedom) {
  for (double df : {1.0, 2.0, 5.0, 60.0}) {
    const double shift = DetectableNoncentrality(df, 0.01, 0.8);
    EXPECT_NEAR(TwoSidedPower(shift, df, 0.01), 0.8, 1e-9) << df;
  }
}

TEST(Shrinkage, GivesNoPriorForUnusableFamilies) {
  EXPECT_EQ(FitScaledInverseChiSquared({1.0}, {2.0}).df, 0.0);
  EXPECT_EQ(FitScaledInverseChiSquared({1.0, 2.0}, {2.0}).df, 0.0);
  EXPECT_EQ(FitScaledInverseChiSquared({1.0, 0.0}, {2.0, 2.0}).df, 0.0);
  EXPECT_EQ(FitScaledInverseChiSquared({1.0, kNaN}, {2.0, 2.0}).df, 0.0);
}

TEST(Multiplicity, HolmIsTheStepDownOfBonferroni) {
  const std::vector<double> adjusted = AdjustHolm({0.01, 0.04, 0.03, 0.005});
  EXPECT_NEAR(adjusted[0], 0.03, 1e-15);
  EXPECT_NEAR(adjusted[1], 0.06, 1e-15);
  EXPECT_NEAR(adjusted[2], 0.06, 1e-15);
  EXPECT_NEAR(adjusted[3], 0.02, 1e-15);
}

TEST(Multiplicity, NeverRejectsNan) {
  EXPECT_EQ(AdjustHolm({kNaN, 0.001})[0], 1.0);
  EXPECT_EQ(AdjustBenjaminiHochberg({kNaN, 0.001})[0], 1.0);
  EXPECT_TRUE(AdjustHolm({}).empty());
}

TEST(McNemar, SaysNothingWithoutDiscordantExamples) {
  EXPECT_EQ(McNemar(0.0, 0.0).p_exact, 1.0);
  EXPECT_TRUE(std::isnan(McNemar(-1.0, 0.0).p_exact));
  EXPECT_DOUBLE_EQ(DiscordantStandardError(9.0, 7.0, 400.0), 0.01);
}

TEST(Proportions, RefuseCountsThatAreNone) {
  EXPECT_TRUE(std::isnan(ClopperPearson(1.0, 0.0, 0.05).low));
  EXPECT_TRUE(std::isnan(Wilson(3.0, 2.0, 0.05).low));
  EXPECT_TRUE(std::isnan(BurnRate(1.0, 0.0, 0.99)));
}

TEST(Ranks, RefuseTiesAndEmptySamples) {
  EXPECT_TRUE(std::isnan(MannWhitneyExact({1.0}, {1.0}).p_two_sided));
  EXPECT_TRUE(std::isnan(MannWhitneyExact({}, {1.0}).p_two_sided));
}

TEST(EnergySplit, FindsNoSplitInTooFewValues) {
  EXPECT_EQ(BestEnergySplit({1.0, 2.0, 3.0}, 1.0, 2).best, 0u);
}

TEST(Wilks, GivesUpOnImpossibleDemands) {
  EXPECT_FALSE(WilksSampleSize(1.0, 0.95, 1).has_value());
  EXPECT_EQ(WilksSampleSize(0.95, 0.95, 1), 59);
}

TEST(Quadrature, IsExactForPolynomialsAndFindsRoots) {
  EXPECT_NEAR(Integrate([](double x) { return std::pow(x, 20); }, 0.0, 1.0), 1.0 / 21.0, 1e-14);
  EXPECT_NEAR(FindRoot([](double x) { return x * x - 2.0; }, 0.0, 2.0), std::sqrt(2.0), 1e-11);
  EXPECT_TRUE(std::isnan(FindRoot([](double) { return 1.0; }, 0.0, 2.0)));
}

// Values of scipy.stats.kendalltau (SciPy 1.17.1), with ties on one side and on both.
TEST(KendallTauB, IsThatOfSciPy) {
  EXPECT_NEAR(KendallTauB({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 4, 3, 5, 6, 8, 7}, 0.95).tau,
              0.8571428571428571, 1e-14);
  EXPECT_NEAR(
      KendallTauB({0.9, 0.8, 0.8, 0.7, 0.65, 0.5}, {0.88, 0.81, 0.79, 0.79, 0.6, 0.62}, 0.95).tau,
      0.7857142857142858, 1e-14);
  EXPECT_NEAR(KendallTauB({12, 2, 1, 12, 2}, {1, 4, 7, 1, 0}, 0.95).tau, -0.4714045207910316,
              1e-14);
}

TEST(KendallTauB, HasTheIntervalOfFiellerHartleyAndPearson) {
  const RankAgreement most = KendallTauB({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 4, 3, 5, 6, 8, 7}, 0.95);
  // tanh(atanh(6/7) -+ 1.959964 sqrt(0.437 / 4))
  EXPECT_NEAR(most.low, 0.5612, 1e-4);
  EXPECT_NEAR(most.high, 0.9588, 1e-4);
  const RankAgreement all = KendallTauB({1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, 0.95);
  EXPECT_EQ(all.tau, 1.0);
  EXPECT_EQ(all.high, 1.0);
  EXPECT_NEAR(all.low, std::tanh(std::atanh(14.0 / 15) - 1.959964 * std::sqrt(0.437 / 2)), 1e-6);
  const RankAgreement none = KendallTauB({1, 2, 3, 4, 5, 6}, {6, 5, 4, 3, 2, 1}, 0.95);
  EXPECT_EQ(none.low, -1.0);
  EXPECT_NEAR(none.high, -all.low, 1e-12);
}

TEST(KendallTauB, HasNoAnswerWhereThereIsNone) {
  EXPECT_TRUE(std::isnan(KendallTauB({1, 2}, {1}, 0.95).tau));
  EXPECT_TRUE(std::isnan(KendallTauB({1}, {1}, 0.95).tau));
  EXPECT_TRUE(std::isnan(KendallTauB({1, 1, 1}, {1, 2, 3}, 0.95).tau));
  EXPECT_TRUE(std::isnan(KendallTauB({1, kNaN, 3}, {1, 2, 3}, 0.95).tau));
  EXPECT_TRUE(std::isnan(KendallTauB({1, 2, 3, 4}, {1, 2, 3, 4}, 0.95).low));
  EXPECT_EQ(KendallTauB({1, 2, 3}, {1, 2, kInfinity}, 0.95).tau, 1.0);
}

}  // namespace
}  // namespace rharness::stats
