// Monte Carlo of what is decided while reruns come in, and over a fleet. The references are an
// independent simulation of the same designs (numpy, 20,000 trials a cell).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "compare/metrics/fleet_shift.h"
#include "compare/metrics/sequential_decision.h"
#include "compare/stats/moments.h"
#include "compare/stats/sequential.h"
#include "compare/stats/student_t.h"
#include "tests/compare/metrics/simulation.h"

namespace rharness {
namespace {

constexpr int kLookTrials = 4000;
constexpr int kHistory = 3;
constexpr double kMargin = 3.0;

struct Ended {
  MetricVerdict verdict = MetricVerdict::kInconclusive;
  int reruns = 0;
};

// Looks as planned; futility is not binding, so it is not followed.
Ended Planned(const MetricInput& all, const LookPlan& plan) {
  for (const int k : plan.looks) {
    MetricInput input = all;
    input.reruns.resize(static_cast<std::size_t>(k));
    const Result<LookDecision> decision = DecideAtLook(input, plan);
    EXPECT_TRUE(decision.ok());
    if (decision->action == LookAction::kStop) return {decision->metric.verdict, k};
  }
  return {MetricVerdict::kInconclusive, plan.looks.back()};
}

// The same, giving up where no verdict is in sight.
Ended GivingUp(const MetricInput& all, const LookPlan& plan) {
  for (const int k : plan.looks) {
    MetricInput input = all;
    input.reruns.resize(static_cast<std::size_t>(k));
    const Result<LookDecision> decision = DecideAtLook(input, plan);
    EXPECT_TRUE(decision.ok());
    if (decision->action != LookAction::kContinue) return {decision->metric.verdict, k};
  }
  return {MetricVerdict::kInconclusive, plan.looks.back()};
}

// The whole error rate at every look: the mistake that the plan avoids.
Ended Peeking(const MetricInput& all, const LookPlan& plan) {
  for (const int k : plan.looks) {
    MetricInput input = all;
    input.reruns.resize(static_cast<std::size_t>(k));
    if (k == 1) input.alpha_equivalence *= 2.0;
    const MetricVerdict verdict = DecideMetric(input).verdict;
    if (verdict == MetricVerdict::kNeedsConfirmation) return {MetricVerdict::kDrifted, k};
    if (verdict != MetricVerdict::kInconclusive) return {verdict, k};
  }
  return {MetricVerdict::kInconclusive, plan.looks.back()};
}

struct LookRates {
  double drifted = 0.0;
  double within = 0.0;
  double mean_reruns = 0.0;
};

template <class Rule>
LookRates Simulate(const Rule& rule, double shift, std::uint64_t seed) {
  NormalSource source(seed);
  const LookPlan plan;
  LookRates rates;
  for (int trial = 0; trial < kLookTrials; ++trial) {
    MetricInput input;
    input.prior = DrawFamily(&source);
    input.margin = kMargin;
    const double deviation = DrawDeviation(&source);
    input.history = source.Sample(kHistory, 0.0, deviation);
    input.reruns = source.Sample(plan.looks.back(), shift, deviation);
    const Ended ended = rule(input, plan);
    rates.drifted += ended.verdict == MetricVerdict::kDrifted ? 1.0 / kLookTrials : 0.0;
    rates.within += ended.verdict == MetricVerdict::kWithin ? 1.0 / kLookTrials : 0.0;
    rates.mean_reruns += static_cast<double>(ended.reruns) / kLookTrials;
  }
  return rates;
}

void Print(const char* rule, const LookRates& null, const LookRates& margin, const LookRates& far) {
  std::printf(
      "%-8s false alarm %.4f, false accept %.4f, within unchanged %.3f (%.2f reruns), "
      "drift at twice the margin %.3f (%.2f reruns)\n",
      rule, null.drifted, margin.within, null.within, null.mean_reruns, far.drifted,
      far.mean_reruns);
}

TEST(ErrorRates, HoldOverPlannedLooksAndAgreeWithTheReference) {
  const LookRates null = Simulate(Planned, 0.0, 301);
  const LookRates margin = Simulate(Planned, kMargin, 302);
  const LookRates far = Simulate(Planned, 2.0 * kMargin, 303);
  Print("planned", null, margin, far);
  EXPECT_LE(null.drifted, Bound(0.01, kLookTrials));
  EXPECT_LE(margin.within, Bound(0.05, kLookTrials));
  EXPECT_NEAR(null.drifted, 0.0107, FourErrors(0.0107, kLookTrials));
  EXPECT_NEAR(margin.within, 0.0297, FourErrors(0.0297, kLookTrials));
  EXPECT_NEAR(null.within, 0.834, FourErrors(0.834, kLookTrials));
  EXPECT_NEAR(null.mean_reruns, 3.15, 0.08);  // four errors of a count with a deviation of 1.5
  EXPECT_NEAR(far.drifted, 0.994, FourErrors(0.994, kLookTrials));
}

TEST(ErrorRates, AreNotRaisedByGivingUpEarly) {
  const LookRates null = Simulate(GivingUp, 0.0, 304);
  const LookRates margin = Simulate(GivingUp, kMargin, 305);
  const LookRates far = Simulate(GivingUp, 2.0 * kMargin, 306);
  Print("futility", null, margin, far);
  EXPECT_LE(null.drifted, Bound(0.01, kLookTrials));
  EXPECT_LE(margin.within, Bound(0.05, kLookTrials));
  EXPECT_GT(far.drifted, 0.95);
}

TEST(ErrorRates, AreBrokenByPeekingAsTheReferenceSays) {
  const LookRates null = Simulate(Peeking, 0.0, 311);
  const LookRates margin = Simulate(Peeking, kMargin, 312);
  const LookRates far = Simulate(Peeking, 2.0 * kMargin, 313);
  Print("peeking", null, margin, far);
  EXPECT_GT(null.drifted, Bound(0.01, kLookTrials));
  EXPECT_GT(margin.within, Bound(0.05, kLookTrials));
  EXPECT_NEAR(null.drifted, 0.0268, FourErrors(0.0268, kLookTrials));
  EXPECT_NEAR(margin.within, 0.0993, FourErrors(0.0993, kLookTrials));
}

TEST(ErrorRates, OfTheMixtureProcessHoldAtAllTimesTogether) {
  NormalSource source(321);
  constexpr int kSeries = 4000;
  constexpr double kAlpha = 0.05;
  int alarms = 0;
  int caught = 0;
  for (int i = 0; i < kSeries; ++i) {
    const auto quiet =
        stats::NormalMixtureProcess(source.Sample(100, 7.0, 2.0), 7.0, 2.0, 2.0, kAlpha);
    const auto moved =
        stats::NormalMixtureProcess(source.Sample(100, 8.0, 2.0), 7.0, 2.0, 2.0, kAlpha);
    alarms += quiet.first_alarm.has_value() ? 1 : 0;
    caught += moved.first_alarm.has_value() ? 1 : 0;
  }
  std::printf("mixture process: false alarms %.4f, caught %.3f\n", 1.0 * alarms / kSeries,
              1.0 * caught / kSeries);
  EXPECT_LE(1.0 * alarms / kSeries, Bound(kAlpha, kSeries));
  EXPECT_GT(1.0 * caught / kSeries, 0.9);
}

// Forty runs with three historical values and one rerun each; one family a fleet.
struct Fleet {
  std::vector<FleetRun> runs;
  std::vector<MetricInput> inputs;
  std::vector<double> deviations;
};

constexpr int kRuns = 40;

Fleet DrawFleet(double shift_of_all, double drifted_share, NormalSource* source) {
  Fleet fleet;
  const VariancePrior prior = DrawFamily(source);
  for (int i = 0; i < kRuns; ++i) {
    const double deviation = DrawDeviation(source);
    const double own = i < drifted_share * kRuns ? 6.0 * deviation : 0.0;
    MetricInput input;
    input.prior = prior;
    input.margin = kMargin;
    input.history = source->Sample(kHistory, 0.0, deviation);
    input.reruns = source->Sample(1, shift_of_all * deviation + own, deviation);
    const stats::MeanTest test = stats::ModeratedTest(stats::ComputeMoments(input.reruns),
                                                      stats::ComputeMoments(input.history),
                                                      {prior.s0_squared, prior.df}, 0.0);
    const double variance = 1.0 + 1.0 / kHistory;
    const double sd = test.standard_error / std::sqrt(variance);
    fleet.runs.push_back({std::to_string(i), test.difference / sd, variance, test.p_two_sided});
    fleet.inputs.push_back(std::move(input));
    fleet.deviations.push_back(deviation);
  }
  return fleet;
}

TEST(FleetShiftRates, OfTheSharedShiftAgreeWithTheReference) {
  constexpr int kFleets = 3000;
  NormalSource source(331);
  const auto share = [&](double shift, MetricVerdict verdict) {
    int count = 0;
    for (int i = 0; i < kFleets; ++i) {
      const FleetShift result = DecideFleetShift(DrawFleet(shift, 0.0, &source).runs, {}, {});
      count += result.verdict == verdict ? 1 : 0;
    }
    return static_cast<double>(count) / kFleets;
  };
  const double alarm = share(0.0, MetricVerdict::kDrifted);
  const double within = share(0.0, MetricVerdict::kWithin);
  const double accept = share(0.5, MetricVerdict::kWithin);
  const double power = share(0.8, MetricVerdict::kDrifted);
  std::printf(
      "fleet: false alarm %.4f (0.0087), within %.3f (0.527), false accept %.4f (0.058), "
      "power at 0.8 %.3f (0.932)\n",
      alarm, within, accept, power);
  EXPECT_LE(alarm, Bound(0.01, kFleets));
  EXPECT_LE(accept, Bound(0.05, kFleets));
  EXPECT_NEAR(alarm, 0.0087, FourErrors(0.0087, kFleets));
  EXPECT_NEAR(within, 0.527, FourErrors(0.527, kFleets));
  EXPECT_NEAR(accept, 0.058, FourErrors(0.058, kFleets));
  EXPECT_NEAR(power, 0.932, FourErrors(0.932, kFleets));
}

struct Confirmed {
  double false_share = 0.0;  // mean over fleets of false flags among all flags
  double found = 0.0;        // share of the drifted runs
  double extra_reruns = 0.0;
};

Confirmed ConfirmFlags(double drifted_share, int fleets, std::uint64_t seed) {
  NormalSource source(seed);
  Confirmed rates;
  for (int i = 0; i < fleets; ++i) {
    const Fleet fleet = DrawFleet(0.0, drifted_share, &source);
    int right = 0;
    int wrong = 0;
    const FleetShift result = DecideFleetShift(fleet.runs, {}, {});
    for (const std::string& id : result.to_confirm) {
      const auto at = static_cast<std::size_t>(std::stoi(id));
      const bool drifted = static_cast<double>(at) < drifted_share * kRuns;
      MetricInput input = fleet.inputs[at];
      const double mean = drifted ? 6.0 * fleet.deviations[at] : 0.0;
      input.reruns.push_back(source.Sample(1, mean, fleet.deviations[at]).front());
      if (!IsConfirmed(DecideMetric(input))) continue;
      ++(drifted ? right : wrong);
    }
    rates.false_share += static_cast<double>(wrong) / std::max(1, right + wrong) / fleets;
    rates.found += right / std::max(1.0, drifted_share * kRuns) / fleets;
    rates.extra_reruns += static_cast<double>(result.to_confirm.size()) / fleets;
  }
  return rates;
}

TEST(FleetShiftRates, OfConfirmedFlagsAgreeWithTheReference) {
  constexpr int kFleets = 1500;
  const Confirmed null = ConfirmFlags(0.0, kFleets, 341);
  const Confirmed some = ConfirmFlags(0.2, kFleets, 342);
  std::printf(
      "flags: all null %.4f false (0.037), %.2f extra; a fifth drifted %.4f false (0.013), "
      "found %.3f (0.897), %.1f extra (7.7)\n",
      null.false_share, null.extra_reruns, some.false_share, some.found, some.extra_reruns);
  EXPECT_LE(null.false_share, Bound(0.05, kFleets));
  EXPECT_NEAR(null.false_share, 0.037, FourErrors(0.037, kFleets));
  EXPECT_LE(some.false_share, 0.05);
  EXPECT_NEAR(some.false_share, 0.013, FourErrors(0.013, kFleets));
  // Runs of one fleet share their prior: a fleet counts as one trial and more than one error.
  EXPECT_NEAR(some.found, 0.897, FourErrors(0.897, kFleets));
  EXPECT_NEAR(some.extra_reruns, 7.7, 0.3);
}

}  // namespace
}  // namespace rharness
