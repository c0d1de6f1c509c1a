// Runs beside reruns of their own seeds: what moves, what does not, and what cannot be said.
#include "compare/metrics/paired.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/stats/student_t.h"
#include "tests/compare/metrics/paired_seeds.h"

namespace rharness {
namespace {

// One run a seed, with one rerun each.
PairedInput Pairs(const std::vector<double>& recorded, const std::vector<double>& reruns,
                  std::optional<double> margin) {
  PairedInput input{.name = "val_loss"};
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    input.runs.push_back({.recorded = recorded[i],
                          .reruns = {reruns[i]},
                          .seed = fmt::format("{}", i),
                          .margin = margin});
  }
  input.seeds = SpreadOfSeeds(recorded, {}, 0.0);
  return input;
}

int Count(const PairedDecision& decision, MetricVerdict verdict) {
  return static_cast<int>(std::ranges::count(decision.runs, verdict, &MetricDecision::verdict));
}

std::vector<double> Shifted(std::vector<double> values, double shift) {
  for (double& value : values) value += shift;
  return values;
}

TEST(PairedFamily, IsWithinWhereAnotherKernelOnlyRoundsOtherwise) {
  for (const std::optional<double> margin :
       {std::optional<double>(0.01), std::optional<double>()}) {
    const PairedDecision decision = DecidePaired(Pairs(kCalmRecorded, kCalmOtherKernel, margin));
    EXPECT_EQ(decision.family.verdict, MetricVerdict::kWithin);
    EXPECT_EQ(decision.family.pairs, 24);
    EXPECT_LT(decision.family.standard_deviation, 1e-6);
    EXPECT_NEAR(decision.family.seed_deviation, 0.0282, 1e-4);
    EXPECT_EQ(Count(decision, MetricVerdict::kWithin), 24);
  }
}

TEST(PairedFamily, DriftsWithAHigherLearningRateThatTheSpreadOfSeedsWouldHide) {
  // The shift is 0.6 standard deviations of the seeds: held to their mean no run is told.
  for (const std::optional<double> margin :
       {std::optional<double>(0.01), std::optional<double>()}) {
    const PairedDecision decision = DecidePaired(Pairs(kCalmRecorded, kCalmFasterLearning, margin));
    EXPECT_EQ(decision.family.verdict, MetricVerdict::kDrifted);
    EXPECT_NEAR(decision.family.difference, -0.01647, 1e-5);
    EXPECT_LT(decision.family.p_difference, 1e-20);
    EXPECT_EQ(Count(decision, MetricVerdict::kDrifted), 24);
    EXPECT_EQ(decision.runs.front().reason, "with_family");
  }
}

TEST(PairedFamily, IsWithinWhereHalfOfItsRunsAreChaotic) {
  const PairedDecision decision = DecidePaired(Pairs(kChaosRecorded, kChaosOtherKernel, 0.3));
  EXPECT_EQ(decision.family.verdict, MetricVerdict::kWithin);
  EXPECT_NEAR(decision.family.standard_deviation, 0.0885, 1e-4);
  EXPECT_EQ(decision.apart, 0);
  EXPECT_EQ(Count(decision, MetricVerdict::kWithin), 24);
}

TEST(PairedFamily, AsksForRunsOfOtherSeedsWhereChaosHidesTheMargin) {
  const PairedDecision decision = DecidePaired(Pairs(kChaosRecorded, kChaosOtherKernel, 0.03));
  EXPECT_EQ(decision.family.verdict, MetricVerdict::kInconclusive);
  EXPECT_GT(decision.family.more_runs, 0);
  for (const MetricDecision& run : decision.runs) {
    EXPECT_EQ(run.more_reruns, 0);
    if (run.verdict == MetricVerdict::kInconclusive) {
      EXPECT_EQ(run.more_runs, decision.family.more_runs);
    }
  }
}

TEST(PairedFamily, TestsTheMeanOfTheDifferencesWithTheirOwnSpread) {
  // Differences 0.1, 0.2, 0.6: mean 0.3, sd sqrt(0.07), t = 0.3 / sqrt(0.07 / 3).
  const PairedDecision decision = DecidePaired(Pairs({1, 2, 3}, {1.1, 2.2, 3.6}, 5.0));
  EXPECT_NEAR(decision.family.difference, 0.3, 1e-12);
  EXPECT_NEAR(decision.family.standard_deviation, std::sqrt(0.07), 1e-12);
  EXPECT_NEAR(decision.family.t, 0.3 / std::sqrt(0.07 / 3.0), 1e-12);
  EXPECT_EQ(decision.family.df, 2.0);
  EXPECT_EQ(decision.family.verdict, MetricVerdict::kWithin);
  EXPECT_NEAR(decision.family.p_difference,
              stats::PairedTest({1.1, 2.2, 3.6}, {1, 2, 3}).p_two_sided, 1e-12);
}

TEST(PairedFamily, OfEqualBitsIsWithinAndNoRunMoved) {
  const PairedDecision decision = DecidePaired(Pairs(kCalmRecorded, kCalmRecorded, 0.01));
  EXPECT_EQ(decision.family.verdict, MetricVerdict::kWithin);
  EXPECT_EQ(decision.family.reason, "equal");
  EXPECT_EQ(decision.equal, 24);
  EXPECT_EQ(Count(decision, MetricVerdict::kWithin), 24);
}

TEST(PairedFamily, MakesNoClaimBelowThreeSeeds) {
  PairedInput input = Pairs({1, 2, 3, 4}, {1.5, 2.5, 3.5, 4.5}, 0.1);
  for (std::size_t i = 0; i < input.runs.size(); ++i) input.runs[i].seed = i < 2 ? "a" : "b";
  const PairedDecision decision = DecidePaired(input);
  EXPECT_EQ(decision.family.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(decision.family.reason, "too_few_runs");
  EXPECT_EQ(decision.family.pairs, 2);
}

TEST(PairedFamily, CountsRunsOfOneSeedAsOneUnit) {
  // Twelve records of one seed that moved say no more than one.
  std::vector<double> recorded(12, 1.0);
  PairedInput input = Pairs(recorded, Shifted(recorded, 0.4), 0.1);
  for (PairedRun& run : input.runs) run.seed = "one";
  for (int i = 0; i < 4; ++i) {
    input.runs.push_back(
        {.recorded = 2.0 + i, .reruns = {2.0 + i}, .seed = fmt::format("{}", i), .margin = 0.1});
  }
  input.seeds = SpreadOfSeeds({1, 2, 3, 4, 5}, {}, 0.0);
  const PairedDecision decision = DecidePaired(input);
  EXPECT_EQ(decision.family.pairs, 5);
  EXPECT_NEAR(decision.family.difference, 0.08, 1e-12);
  EXPECT_NE(decision.family.verdict, MetricVerdict::kDrifted);
}

TEST(PairedFamily, DriftsWhereARerunIsNoLongerFiniteButTakesNoOtherRunAlong) {
  PairedInput input = Pairs(kCalmRecorded, kCalmOtherKernel, 0.01);
  input.runs[3].reruns = {std::numeric_limits<double>::quiet_NaN()};
  const PairedDecision decision = DecidePaired(input);
  EXPECT_EQ(decision.family.verdict, MetricVerdict::kDrifted);
  EXPECT_EQ(decision.runs[3].reason, "non_finite");
  EXPECT_EQ(Count(decision, MetricVerdict::kDrifted), 1);
  EXPECT_EQ(Count(decision, MetricVerdict::kWithin), 23);
}

TEST(PairedRun, ThatMovedApartIsHeldToTheOthersAndLeavesThemTheirVerdict) {
  PairedInput input = Pairs(kCalmRecorded, kCalmOtherKernel, 0.01);
  input.runs[5].reruns[0] += 0.5;  // 18 standard deviations of the seeds
  input.runs[9].reruns[0] += 0.4;  // a second one must not hide the first
  PairedDecision decision = DecidePaired(input);
  EXPECT_EQ(decision.apart, 2);
  EXPECT_EQ(decision.family.verdict, MetricVerdict::kWithin);
  EXPECT_EQ(decision.family.pairs, 22);
  EXPECT_EQ(decision.runs[5].verdict, MetricVerdict::kNeedsConfirmation);
  EXPECT_EQ(Count(decision, MetricVerdict::kWithin), 22);
  // Confirmed, unless the second rerun does not move.
  input.runs[5].reruns.push_back(input.runs[5].reruns[0]);
  input.runs[9].reruns.push_back(input.runs[9].recorded);
  input.runs[9].reruns[0] += 0.4;
  decision = DecidePaired(input);
  EXPECT_EQ(decision.runs[5].verdict, MetricVerdict::kDrifted);
  EXPECT_EQ(decision.runs[9].verdict, MetricVerdict::kInconclusive);
  EXPECT_NE(decision.runs[9].reason.find("one_rerun_decides"), std::string::npos);
}

TEST(PairedRun, ThatMovedNoFartherThanAnotherSeedWouldIsNotCalledDrifted) {
  PairedInput input = Pairs(kCalmRecorded, kCalmOtherKernel, 0.01);
  input.runs[5].reruns[0] += 0.04;  // 1.4 standard deviations of the seeds: chaos would do that
  const PairedDecision decision = DecidePaired(input);
  EXPECT_EQ(decision.runs[5].verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(decision.runs[5].reason, "apart");
  EXPECT_EQ(Count(decision, MetricVerdict::kDrifted), 0);
}

TEST(PairedRun, ThatIsEqualToItsRecordIsNeverDrifted) {
  PairedInput input = Pairs(kCalmRecorded, kCalmFasterLearning, 0.01);
  input.runs[7].reruns = {input.runs[7].recorded};
  PairedDecision decision = DecidePaired(input);
  EXPECT_EQ(decision.family.verdict, MetricVerdict::kDrifted);
  EXPECT_EQ(Count(decision, MetricVerdict::kDrifted), 23);
  EXPECT_NE(decision.runs[7].verdict, MetricVerdict::kDrifted);
  // Alone, however far its seed lies from the others' mean and however often it is rerun.
  const auto extreme = std::ranges::max_element(kCalmRecorded);
  input.runs = {{.recorded = *extreme,
                 .reruns = std::vector<double>(5, *extreme),
                 .seed = "1",
                 .margin = 0.01}};
  decision = DecidePaired(input);
  EXPECT_EQ(decision.runs[0].difference, 0.0);
  EXPECT_EQ(decision.runs[0].p_difference, 1.0);
  EXPECT_NE(decision.runs[0].verdict, MetricVerdict::kDrifted);
  EXPECT_GT(decision.runs[0].more_runs, 0);
  EXPECT_EQ(decision.runs[0].more_reruns, 0);
}

TEST(PairedRun, AloneIsHeldToItsOwnRecordAndToWhatAnotherSeedWouldDo) {
  const double s = SpreadOfSeeds(kCalmRecorded, {}, 0.0).deviation;
  PairedInput input = Pairs(kCalmRecorded, kCalmOtherKernel, 0.5 * s);
  input.runs.resize(1);
  const double recorded = input.runs[0].recorded;
  input.runs[0].reruns = {recorded + 1e-9};
  EXPECT_EQ(DecidePaired(input).runs[0].reason, "near_record");
  EXPECT_EQ(DecidePaired(input).runs[0].verdict, MetricVerdict::kWithin);
  input.runs[0].reruns = {recorded + 2.0 * s};
  EXPECT_EQ(DecidePaired(input).runs[0].verdict, MetricVerdict::kInconclusive);
  input.runs[0].reruns = {recorded + 6.0 * s};
  MetricDecision decision = DecidePaired(input).runs[0];
  EXPECT_EQ(decision.verdict, MetricVerdict::kNeedsConfirmation);
  EXPECT_NEAR(decision.t, 6.0 / std::sqrt(2.0), 1e-9);
  EXPECT_EQ(decision.df, 23.0);
  // Five reruns of one seed are one draw.
  input.runs[0].reruns.assign(5, recorded + 2.0 * s);
  decision = DecidePaired(input).runs[0];
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_NEAR(decision.t, std::sqrt(2.0), 1e-9);
}

TEST(PairedRun, NearItsRecordIsWithinOnlyWhereTheMetricIsFinerThanThat) {
  PairedInput input;
  input.runs = {{.recorded = 0.9, .reruns = {0.9 + 0.0002}, .seed = "1", .margin = 0.01}};
  // 0.0002 is less than 0.025 * 0.01, and no variance is known.
  EXPECT_EQ(DecidePaired(input).runs[0].verdict, MetricVerdict::kWithin);
  EXPECT_LT(DecidePaired(input).runs[0].ci_high, 0.01);
  input.quantum = 0.0002;
  EXPECT_EQ(DecidePaired(input).runs[0].verdict, MetricVerdict::kInconclusive);
  input.quantum = 0.0;
  input.runs[0].reruns = {0.9 + 0.0003};
  EXPECT_EQ(DecidePaired(input).runs[0].verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(DecidePaired(input).runs[0].reason, "no_variance_basis");
}

TEST(SpreadOfSeeds, IsShrunkTowardsThePriorAndFlooredByTheQuantum) {
  const SeedSpread own = SpreadOfSeeds({1.0, 2.0, 3.0}, {}, 0.0);
  EXPECT_EQ(own.deviation, 1.0);
  EXPECT_EQ(own.df, 2.0);
  EXPECT_EQ(own.basis, "own");
  const SeedSpread pooled = SpreadOfSeeds({1.0, 2.0, 3.0}, {4.0, 8.0, 6}, 0.0);
  EXPECT_NEAR(pooled.deviation, std::sqrt((8.0 * 4.0 + 2.0) / 10.0), 1e-12);
  EXPECT_EQ(pooled.df, 10.0);
  EXPECT_EQ(SpreadOfSeeds({5.0}, {4.0, 8.0, 6}, 0.0).basis, "family");
  EXPECT_EQ(SpreadOfSeeds({5.0}, {}, 0.0).df, 0.0);
  EXPECT_NEAR(SpreadOfSeeds({2.0, 2.0}, {}, 0.12).deviation, 0.12 / std::sqrt(12.0), 1e-12);
}

}  // namespace
}  // namespace rharness
