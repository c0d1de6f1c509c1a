// The designs around the single decision: planning, looks, fleets, bands, times, throughput, rates.
// Expected values are published, closed forms, or of an independent program (scipy, numpy).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/metrics/bands.h"
#include "compare/metrics/fleet_shift.h"
#include "compare/metrics/metric_set.h"
#include "compare/metrics/reproducible_rate.h"
#include "compare/metrics/sequential_decision.h"
#include "compare/metrics/throughput.h"
#include "compare/metrics/time_to_target.h"
#include "compare/stats/change_points.h"
#include "compare/stats/looks.h"
#include "compare/stats/planning.h"
#include "compare/stats/power.h"
#include "compare/stats/proportions.h"
#include "compare/stats/random_effects.h"

namespace rharness {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// Smallest delta and detectable shift in standard deviations, prior df 15, power 0.8, rates 0.05
// (0.025 at one rerun) and 0.01; computed independently (scipy) and printed to two digits.
TEST(Planning, AgreesWithTheTableOfMargins) {
  const int ks[] = {1, 2, 3, 5, 10};
  const struct {
    int n;
    double margin[5];
    double shift[5];
  } rows[] = {{1, {4.91, 3.75, 3.52, 3.33, 3.16}, {5.45, 4.68, 4.38, 4.11, 3.85}},
              {2, {4.23, 3.05, 2.78, 2.54, 2.33}, {4.68, 3.79, 3.44, 3.12, 2.84}},
              {3, {3.97, 2.78, 2.48, 2.21, 1.98}, {4.38, 3.44, 3.06, 2.71, 2.40}},
              {5, {3.75, 2.54, 2.21, 1.91, 1.64}, {4.11, 3.12, 2.71, 2.33, 1.99}},
              {10, {3.54, 2.33, 1.98, 1.64, 1.34}, {3.85, 2.84, 2.40, 1.99, 1.61}},
              {20, {3.42, 2.21, 1.85, 1.49, 1.15}, {3.68, 2.66, 2.22, 1.79, 1.38}}};
  for (const auto& row : rows) {
    for (int i = 0; i < 5; ++i) {
      EXPECT_NEAR(stats::SmallestMargin(row.n, ks[i], 15.0, ks[i] == 1 ? 0.025 : 0.05, 0.8),
                  row.margin[i], 0.0051)
          << row.n << " against " << ks[i];
      EXPECT_NEAR(stats::DetectableShift(row.n, ks[i], 15.0, 0.01, 0.8), row.shift[i], 0.0151)
          << row.n << " against " << ks[i];
    }
  }
}

TEST(Planning, FindsTheSmallestNumberOfRerunsAndItsCost) {
  stats::RerunQuestion question{
      .n = 3, .prior_df = 15.0, .delta = 2.5, .gpu_hours_per_rerun = 8.0, .budget_gpu_hours = 20.0};
  const stats::RerunPlan plan = stats::PlanReruns(question).value();
  EXPECT_EQ(plan.k, 3);  // 2.48 is enough at three, 2.78 is needed at two
  EXPECT_DOUBLE_EQ(plan.gpu_hours, 24.0);
  EXPECT_FALSE(plan.within_budget);
  EXPECT_EQ(plan.looks.size(), 10u);
  EXPECT_DOUBLE_EQ(plan.looks[0].alpha_equivalence, 0.025);
  question.delta = 0.5;
  EXPECT_EQ(stats::PlanReruns(question)->k, 0);
  question.looks = {2, 1};
  EXPECT_FALSE(stats::PlanReruns(question).ok());
  EXPECT_FALSE(stats::PlanReruns({.n = 1, .delta = 1.0, .looks = {1}}).ok());
}

TEST(Looks, SpendTheWholeRateAndNoMore) {
  const stats::LookSchedule schedule = stats::ScheduleLooks(3, {1, 2, 3, 5}, 0.01, 0.05).value();
  EXPECT_NEAR(schedule.fraction[0], 0.4, 1e-12);
  EXPECT_NEAR(schedule.fraction[1], 0.64, 1e-12);
  EXPECT_NEAR(schedule.fraction[2], 0.8, 1e-12);
  double sum = 0.0;
  for (const double alpha : schedule.alpha_equivalence) sum += alpha;
  EXPECT_NEAR(sum, 0.05, 1e-12);
  EXPECT_NEAR(schedule.spent_drift.back(), 0.01, 1e-12);
  // 1 - Phi(1.644854 / sqrt(0.4)), by the error function of another library.
  EXPECT_NEAR(schedule.alpha_equivalence[0], 0.0046511, 1e-6);
}

MetricInput UnitNoise(std::vector<double> reruns) {
  MetricInput input;
  input.history = {-1.0, 0.0, 1.0};
  input.reruns = std::move(reruns);
  input.margin = 3.0;
  input.prior = {1.0, 15.0, 20};
  return input;
}

TEST(DecideAtLook, StopsAtAVerdictAndGoesOnWithoutOne) {
  const LookDecision first = DecideAtLook(UnitNoise({1.0}), {}).value();
  EXPECT_EQ(first.action, LookAction::kContinue);
  EXPECT_EQ(first.next_k, 2);
  EXPECT_EQ(first.metric.more_reruns, 1);
  EXPECT_NEAR(first.metric.alpha_equivalence, 0.0046511, 1e-6);
  const LookDecision last = DecideAtLook(UnitNoise({0.0, 0.1, -0.1, 0.2, 0.0}), {}).value();
  EXPECT_EQ(last.metric.verdict, MetricVerdict::kWithin);
  EXPECT_EQ(last.action, LookAction::kStop);
  EXPECT_NEAR(last.spent_equivalence, 0.05, 1e-12);
  EXPECT_EQ(DecideAtLook(UnitNoise({9.0, 9.1}), {})->metric.verdict, MetricVerdict::kDrifted);
}

TEST(DecideAtLook, NeverClaimsADriftOnASingleRerun) {
  const LookDecision decision = DecideAtLook(UnitNoise({50.0}), {}).value();
  EXPECT_EQ(decision.metric.verdict, MetricVerdict::kNeedsConfirmation);
  EXPECT_EQ(decision.action, LookAction::kContinue);
}

TEST(DecideAtLook, StopsForFutilityWhenNeitherVerdictIsInSight) {
  MetricInput input = UnitNoise({0.6, 0.5, 0.7});
  input.margin = 0.7;
  const LookDecision decision = DecideAtLook(input, {}).value();
  EXPECT_LT(decision.conditional_power_within, 0.1);
  EXPECT_LT(decision.conditional_power_drift, 0.1);
  EXPECT_EQ(decision.action, LookAction::kStopForFutility);
  EXPECT_EQ(decision.metric.verdict, MetricVerdict::kInconclusive);
}

TEST(DecideAtLook, RefusesALookThatWasNotPlanned) {
  EXPECT_THAT(DecideAtLook(UnitNoise({0, 0, 0, 0}), {}).error().message, HasSubstr("1, 2, 3, 5"));
  EXPECT_FALSE(DecideAtLook(UnitNoise({0}), {.looks = {1, 11}}).ok());
  EXPECT_FALSE(DecideAtLook(UnitNoise({0}), {.futility = kNoValue}).ok());
  MetricInput missing = UnitNoise({0});
  missing.missing = 1;  // two reruns were made, one of them reported nothing
  EXPECT_EQ(DecideAtLook(missing, {})->k, 2);
  EXPECT_EQ(DecideAtLook(missing, {})->metric.verdict, MetricVerdict::kInconclusive);
}

TEST(RandomEffects, WithEqualVariancesIsTheOneSampleTTest) {
  const auto effects =
      stats::CombineEffects({1.0, 2.0, 6.0}, {0.5, 0.5, 0.5}, stats::BetweenVariance::kTruncated);
  EXPECT_DOUBLE_EQ(effects.mean, 3.0);
  EXPECT_NEAR(effects.standard_error_hksj, std::sqrt(7.0 / 3.0), 1e-12);
  EXPECT_DOUBLE_EQ(effects.tau_squared, 6.5);  // 7 - 0.5
}

TEST(FleetShift, NeedsRunsAndTellsTimeFromDriver) {
  std::vector<FleetRun> runs;
  std::vector<FleetRun> controls;
  for (int i = 0; i < 20; ++i) {
    runs.push_back({"r" + std::to_string(i), 3.0 + 0.3 * (i % 5 - 2), 4.0 / 3.0, 0.5});
    controls.push_back({"c" + std::to_string(i), 3.0 + 0.3 * (i % 5 - 2), 4.0 / 3.0, 0.5});
  }
  EXPECT_EQ(DecideFleetShift({runs[0], runs[1]}, {}, {}).reason, "too_few_runs");
  const FleetShift alone = DecideFleetShift(runs, {}, {});
  EXPECT_EQ(alone.verdict, MetricVerdict::kDrifted);
  EXPECT_EQ(alone.reason, "no_controls,material");
  const FleetShift both = DecideFleetShift(runs, controls, {});
  EXPECT_EQ(both.verdict, MetricVerdict::kWithin);
  EXPECT_EQ(both.method, "welch_against_controls");
  runs[4].p = 1e-6;
  EXPECT_THAT(DecideFleetShift(runs, {}, {}).to_confirm, ElementsAre("r4"));
}

TEST(FleetShift, PlansAsManyRunsAsTheFormulaSays) {
  // ((2.5758 + 0.8416) / 0.8)^2 (1/3 + 1) = 24.3.
  const FleetSize size = PlanFleet(0.8, 4.0 / 3.0, 0.0, 0.01, 0.8);
  EXPECT_EQ(size.normal, 25);
  EXPECT_GE(size.student, 26);
  EXPECT_LE(size.student, 30);
  EXPECT_EQ(PlanFleet(0.0, 1.0, 0.0, 0.01, 0.8).student, 0);
}

TEST(Bands, UseThePooledDegreesOfFreedom) {
  const BandHistory history{.values = {1.0, 2.0, 3.0}, .prior = {1.0, 20.0, 9}};
  const Band smoke = SmokeBand(history, 1, 0.05).value();
  EXPECT_DOUBLE_EQ(smoke.df, 22.0);
  EXPECT_DOUBLE_EQ(smoke.standard_deviation, 1.0);
  EXPECT_NEAR(smoke.factor, 2.0738730679 * std::sqrt(4.0 / 3.0), 1e-8);  // t(0.975; 22)
  EXPECT_TRUE(smoke.Holds(4.0));
  EXPECT_FALSE(smoke.Holds(kNoValue));
  // z sqrt(nu (1 + 1/n) / chi2), with z = 1.959964 and the 5 % points 0.00393214 and 0.10258659.
  EXPECT_NEAR(FrozenBand({.values = {1, 2}}, 0.95, 0.95)->factor,
              1.959964 * std::sqrt(1.5 / 0.00393214), 1e-3);
  EXPECT_NEAR(FrozenBand({.values = {1, 2, 3}}, 0.95, 0.95)->factor,
              1.959964 * std::sqrt(2.0 * 4.0 / 3.0 / 0.10258659), 1e-4);
  EXPECT_LT(FrozenBand(history, 0.95, 0.95)->factor, 3.3);
}

TEST(Bands, RefuseWhatWouldHaveNoWidthOrNoBasis) {
  EXPECT_FALSE(SmokeBand({.values = {1.0}}, 1, 0.05).ok());
  EXPECT_FALSE(SmokeBand({.values = {1.0, 1.0}}, 1, 0.05).ok());
  EXPECT_TRUE(SmokeBand({.values = {1.0, 1.0}, .quantum = 0.1}, 1, 0.05).ok());
  EXPECT_FALSE(SmokeBand({.values = {1.0, kNoValue}}, 1, 0.05).ok());
  EXPECT_FALSE(SmokeBand({.values = {}}, 1, 0.05).ok());
  EXPECT_FALSE(SmokeBand({.values = {1.0, 2.0}}, 0, 0.05).ok());
  EXPECT_FALSE(FrozenBand({.values = {1.0, 2.0}}, 1.0, 0.95).ok());
  std::vector<double> many(92, 1.0);
  many[0] = 0.0;
  EXPECT_FALSE(DistributionFreeBand({.values = many}, 0.95, 0.95).ok());
  many.push_back(2.0);  // Wilks: 93
  const Band band = DistributionFreeBand({.values = many}, 0.95, 0.95).value();
  EXPECT_EQ(band.low, 0.0);
  EXPECT_EQ(band.high, 2.0);
  EXPECT_GE(band.confidence, 0.95);
}

MetricDecision WithP(bool primary, MetricVerdict verdict, double p) {
  MetricDecision decision;
  decision.primary = primary;
  decision.verdict = verdict;
  decision.p_difference = p;
  return decision;
}

TEST(MetricSet, ClaimsDriftOnlyWhatHolmLeaves) {
  const auto drifted = MetricVerdict::kDrifted;
  const auto within = MetricVerdict::kWithin;
  const MetricSetDecision one =
      DecideMetricSet({WithP(true, drifted, 0.004), WithP(true, within, 0.5),
                       WithP(true, within, 0.6), WithP(false, drifted, 0.001)});
  EXPECT_NEAR(one.adjusted_p[0], 0.012, 1e-12);
  EXPECT_EQ(one.verdict, MetricVerdict::kInconclusive);
  EXPECT_TRUE(one.significant[3]);  // advice, and no verdict
  EXPECT_EQ(DecideMetricSet({WithP(true, drifted, 0.003), WithP(true, within, 0.5)}).verdict,
            drifted);
  EXPECT_EQ(DecideMetricSet({WithP(true, within, 0.004), WithP(true, within, 0.5)}).verdict,
            within);
  EXPECT_EQ(DecideMetricSet({}).verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(DecideMetricSet({WithP(false, within, 0.5)}).verdict, MetricVerdict::kInconclusive);
  MetricDecision non_finite = WithP(true, drifted, 1.0);
  non_finite.reason = "non_finite";
  EXPECT_EQ(DecideMetricSet({non_finite, WithP(true, within, 0.5)}).verdict, drifted);
}

TEST(VarianceRatio, IsReportedBesideTheDecision) {
  MetricInput input = UnitNoise({-3.0, 0.0, 3.0});
  const MetricDecision decision = DecideMetric(input);
  EXPECT_DOUBLE_EQ(decision.variance_ratio, 9.0);
  EXPECT_NEAR(decision.p_variance_ratio, 0.2, 1e-12);  // F(2, 2): 2 / (1 + 9)
  EXPECT_DOUBLE_EQ(DecideMetric(UnitNoise({0.0})).p_variance_ratio, 1.0);
}

TEST(ExampleFloor, BoundsTheStandardErrorOfOneRunAgainstOne) {
  MetricInput input;
  input.history = {0.80};
  input.reruns = {0.81};
  input.margin = 0.05;
  input.prior = {1e-6, 15.0, 20};
  input.example_standard_error = std::sqrt(100.0 + 120.0) / 2000.0;
  EXPECT_NEAR(DecideMetric(input).standard_error, std::sqrt(220.0) / 2000.0, 1e-12);
  input.reruns = {0.81, 0.80};
  EXPECT_LT(DecideMetric(input).standard_error, 0.003);
}

TEST(TimeToTarget, IsReadFromTheFirstEvaluationThatReachesIt) {
  EXPECT_EQ(SamplesToTarget({10, 20, 30}, {0.5, 0.8, 0.7}, 0.75, true)->value(), 20.0);
  EXPECT_EQ(SamplesToTarget({10, 20, 30}, {kNoValue, 2.0, 1.0}, 1.5, false)->value(), 30.0);
  EXPECT_FALSE(SamplesToTarget({10, 20}, {0.1, 0.2}, 0.9, true)->has_value());
  EXPECT_FALSE(SamplesToTarget({20, 10}, {0.1, 0.2}, 0.9, true).ok());
  EXPECT_FALSE(SamplesToTarget({}, {}, 0.9, true).ok());
}

TEST(TimeToTarget, ComparesLogarithmsWithTheIntervalAsResolution) {
  TimeToTargetInput input;
  input.history = {1000.0, 1000.0, 1000.0};
  input.reruns = {1000.0, 1000.0};
  input.eval_interval = 50.0;
  input.margin_fraction = 0.1;
  const TimeToTargetDecision same = DecideTimeToTarget(input).value();
  EXPECT_EQ(same.metric.verdict, MetricVerdict::kWithin);
  EXPECT_NEAR(same.metric.standard_deviation, 0.05 / std::sqrt(12.0), 1e-12);
  input.reruns = {1500.0, 1500.0};
  EXPECT_EQ(DecideTimeToTarget(input)->metric.verdict, MetricVerdict::kDrifted);
}

TEST(TimeToTarget, CountsRunsThatDidNotArriveAndGivesThemNoTime) {
  TimeToTargetInput input;
  input.history.assign(10, 1000.0);
  input.reruns = {std::nullopt, std::nullopt, std::nullopt};
  input.margin_fraction = 0.1;
  input.eval_interval = 50.0;
  const TimeToTargetDecision all = DecideTimeToTarget(input).value();
  EXPECT_NEAR(all.p_censored, 1.0 / 286.0, 1e-12);  // 1 / C(13, 3)
  EXPECT_EQ(all.metric.verdict, MetricVerdict::kDrifted);
  input.reruns = {1000.0, 1000.0, std::nullopt};
  EXPECT_EQ(DecideTimeToTarget(input)->metric.verdict, MetricVerdict::kInconclusive);
  input.reruns = {std::nullopt};
  EXPECT_EQ(DecideTimeToTarget(input)->metric.verdict, MetricVerdict::kNeedsConfirmation);
  input.history[0].reset();
  input.reruns = {1000.0, 1000.0};
  EXPECT_EQ(DecideTimeToTarget(input)->metric.reason, "censored_history");
  input.reruns = {-1.0};
  EXPECT_FALSE(DecideTimeToTarget(input).ok());
}

TEST(Throughput, CallsOnlySlowerADrift) {
  ThroughputInput input;
  input.history = {{1.00, ""}, {1.01, ""}, {0.99, ""}};
  input.reruns = {{1.30, ""}, {1.31, ""}};
  input.margin_fraction = 0.05;
  input.prior = {1e-4, 10.0, 9};
  EXPECT_EQ(DecideThroughput(input)->verdict, MetricVerdict::kDrifted);
  input.reruns = {{0.70, ""}, {0.71, ""}};
  EXPECT_EQ(DecideThroughput(input)->verdict, MetricVerdict::kInconclusive);
  EXPECT_THAT(DecideThroughput(input)->reason, HasSubstr("faster"));
  input.reruns = {{1.00, ""}, {1.01, ""}};
  EXPECT_EQ(DecideThroughput(input)->verdict, MetricVerdict::kWithin);
  input.reruns = {{1.00, ""}, {kNoValue, ""}};
  EXPECT_EQ(DecideThroughput(input)->reason, "non_finite");
  input.margin_fraction = 0.0;
  EXPECT_FALSE(DecideThroughput(input).ok());
}

TEST(Throughput, CountsNodesAndTakesMediansAfterTheWarmUp) {
  ThroughputInput input;
  input.history = {{1.0, "a"}, {1.1, "a"}, {1.2, "b"}};
  input.reruns = {{1.0, "c"}};
  input.margin_fraction = 0.5;
  EXPECT_EQ(DecideThroughput(input)->history.size(), 2u);
  EXPECT_DOUBLE_EQ(MedianStepSeconds({9.0, 1.0, 3.0, 2.0}, 1).value(), 2.0);
  EXPECT_DOUBLE_EQ(MedianStepSeconds({1.0, 2.0}, 0).value(), 1.5);
  EXPECT_FALSE(MedianStepSeconds({9.0}, 1).ok());
  EXPECT_FALSE(MedianStepSeconds({0.0}, 0).ok());
}

TEST(ReproducibleRate, ShowsWhatIsInconclusiveAndTheWorstCase) {
  const ReproducibleRate rate = RateOf({59, 0, 41}, 0.01).value();
  EXPECT_NEAR(rate.lower_bound, 0.950492390111773, 1e-10);
  EXPECT_DOUBLE_EQ(rate.inconclusive_rate, 0.41);
  EXPECT_DOUBLE_EQ(rate.worst_case_rate, 0.59);
  EXPECT_DOUBLE_EQ(RateOf({99, 1, 0}, 0.01)->corrected_bad_rate, 0.0);
  EXPECT_FALSE(RateOf({0, 0, 5}, 0.01).ok());
  EXPECT_FALSE(RateOf({-1, 2, 0}, 0.01).ok());
}

TEST(ReproducibleRate, PagesOnEvidenceAndNotOnAHandfulOfChecks) {
  EXPECT_NEAR(DecideBurn(kPageAlarm, 0.95, {10, 0}, {3, 0})->threshold, 2.8, 1e-12);
  EXPECT_NEAR(DecideBurn(kTicketAlarm, 0.95, {10, 0}, {3, 0})->threshold, 1.0, 1e-12);
  EXPECT_FALSE(DecideBurn(kPageAlarm, 0.95, {0, 4}, {0, 2})->fires);
  EXPECT_TRUE(DecideBurn(kPageAlarm, 0.95, {5, 10}, {1, 3})->fires);
  EXPECT_FALSE(DecideBurn(kPageAlarm, 0.95, {5, 10}, {9, 1})->fires);  // it has stopped burning
  EXPECT_FALSE(DecideBurn(kPageAlarm, 1.0, {5, 10}, {1, 3}).ok());
}

TEST(FisherExact, AgreesWithTheTeaTasting) {
  EXPECT_NEAR(stats::FisherExactUpper(3, 4, 1, 4), 17.0 / 70.0, 1e-12);  // Fisher 1935
  EXPECT_NEAR(stats::FisherExactUpper(4, 4, 0, 4), 1.0 / 70.0, 1e-12);
  EXPECT_TRUE(std::isnan(stats::FisherExactUpper(5, 4, 0, 4)));
}

TEST(EnergySplit, HasASmallPermutationPOnlyWhereThereIsAChange) {
  std::vector<double> flat;
  std::vector<double> step;
  for (int i = 0; i < 40; ++i) {
    flat.push_back((i * 7) % 11);
    step.push_back((i * 7) % 11 + (i < 20 ? 0.0 : 30.0));
  }
  EXPECT_DOUBLE_EQ(stats::EnergySplitPermutationP(step, 1.0, 2, 199, 1), 1.0 / 200.0);
  EXPECT_GT(stats::EnergySplitPermutationP(flat, 1.0, 2, 199, 1), 0.05);
  EXPECT_DOUBLE_EQ(stats::EnergySplitPermutationP({1.0}, 1.0, 2, 199, 1), 1.0);
}

}  // namespace
}  // namespace rharness
