// Monte Carlo: do the stated error rates hold when the decision is applied again and again?
//
// Each trial draws a family (20 configurations of 3 runs, variances scaled inverse chi-squared on 8
// df), fits the prior to it, draws one more configuration and decides. Looks and fleets have their
// own file.
#include "tests/compare/metrics/simulation.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "compare/metrics/decision.h"

namespace rharness {
namespace {

constexpr int kTrials = 10000;
constexpr double kAlphaDrift = 0.01;
constexpr double kAlphaEquivalence = 0.05;

// What an independent simulation (20,000 trials a cell, numpy) found for the same rule.
struct Reference {
  double false_alarm;
  double false_accept;
  double within;
};

struct Cell {
  int n;
  int k;
  double margin;  // in family deviations
  Reference reference;
};

struct Rates {
  double false_alarm = 0.0;   // P(drifted) when nothing changed
  double false_accept = 0.0;  // P(within) when the shift is the margin
  double within = 0.0;        // P(within) when nothing changed
};

// The whole policy: one more rerun where the decision asks for confirmation.
MetricVerdict Decide(MetricInput input, double mean, double deviation, NormalSource* source) {
  const MetricVerdict verdict = DecideMetric(input).verdict;
  if (verdict != MetricVerdict::kNeedsConfirmation) return verdict;
  input.reruns.push_back(source->Sample(1, mean, deviation).front());
  return DecideMetric(input).verdict;
}

Rates Simulate(const Cell& cell, double alpha_scale, std::uint64_t seed) {
  NormalSource source(seed);
  int alarms = 0;
  int accepts = 0;
  int within = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    MetricInput input;
    input.prior = DrawFamily(&source);
    input.margin = cell.margin;
    input.alpha_drift = kAlphaDrift * alpha_scale;
    input.alpha_equivalence = kAlphaEquivalence * alpha_scale;
    const double deviation = DrawDeviation(&source);
    input.history = source.Sample(cell.n, 0.0, deviation);
    input.reruns = source.Sample(cell.k, 0.0, deviation);
    const MetricVerdict unchanged = Decide(input, 0.0, deviation, &source);
    if (unchanged == MetricVerdict::kDrifted) ++alarms;
    if (unchanged == MetricVerdict::kWithin) ++within;
    const double shift = trial % 2 == 0 ? cell.margin : -cell.margin;
    input.reruns = source.Sample(cell.k, shift, deviation);
    if (Decide(input, shift, deviation, &source) == MetricVerdict::kWithin) ++accepts;
  }
  return {static_cast<double>(alarms) / kTrials, static_cast<double>(accepts) / kTrials,
          static_cast<double>(within) / kTrials};
}

TEST(ErrorRates, HoldForNormalNoiseInEveryCellAndAgreeWithTheReference) {
  const Cell cells[] = {{1, 1, 4.5, {0.0047, 0.0206, 0.473}}, {1, 3, 4.0, {0.0120, 0.0520, 0.814}},
                        {3, 1, 4.0, {0.0032, 0.0263, 0.677}}, {3, 3, 3.0, {0.0111, 0.0498, 0.862}},
                        {5, 3, 2.5, {0.0110, 0.0487, 0.809}}, {5, 5, 2.5, {0.0103, 0.0519, 0.900}},
                        {10, 5, 2.0, {0.0101, 0.0466, 0.853}}};
  std::printf(" n  k margin | false alarm (bound, reference) | false accept | within unchanged\n");
  std::uint64_t seed = 20260;
  for (const Cell& cell : cells) {
    const Rates rates = Simulate(cell, 1.0, ++seed);
    const Reference& reference = cell.reference;
    const double accept_bound =
        Bound(cell.k == 1 ? kAlphaEquivalence / 2.0 : kAlphaEquivalence, kTrials);
    std::printf("%2d %2d %6.1f | %.4f (%.4f, %.4f) | %.4f (%.4f, %.4f) | %.3f (%.3f)\n", cell.n,
                cell.k, cell.margin, rates.false_alarm, Bound(kAlphaDrift, kTrials),
                reference.false_alarm, rates.false_accept, accept_bound, reference.false_accept,
                rates.within, reference.within);
    const auto close = [](double share, double expected) {
      return std::fabs(share - expected) <= FourErrors(expected, kTrials);
    };
    EXPECT_LE(rates.false_alarm, Bound(kAlphaDrift, kTrials)) << cell.n << " against " << cell.k;
    EXPECT_LE(rates.false_accept, accept_bound) << cell.n << " against " << cell.k;
    // The reference lets the prior narrow a variance that is well known by itself; we do not.
    if (cell.n + cell.k - 2 >= 8) {
      EXPECT_LT(rates.false_alarm, reference.false_alarm) << cell.n << "," << cell.k;
      EXPECT_LT(rates.false_accept, reference.false_accept) << cell.n << "," << cell.k;
      EXPECT_GT(rates.within, 0.85 * reference.within) << cell.n << "," << cell.k;
      continue;
    }
    EXPECT_TRUE(close(rates.false_alarm, reference.false_alarm)) << cell.n << "," << cell.k;
    EXPECT_TRUE(close(rates.false_accept, reference.false_accept)) << cell.n << "," << cell.k;
    EXPECT_TRUE(close(rates.within, reference.within)) << cell.n << "," << cell.k;
  }
}

// With the prior as FitVariancePrior has it the rates are below the stated ones.
TEST(ErrorRates, HoldWithAFittedPrior) {
  constexpr int kFewer = 4000;
  NormalSource source(20290);
  int alarms = 0;
  int accepts = 0;
  for (int trial = 0; trial < kFewer; ++trial) {
    MetricInput input;
    input.prior = FitVariancePrior(DrawVariances(&source), std::vector<double>(20, 2.0));
    input.margin = 3.0;
    const double deviation = DrawDeviation(&source);
    input.history = source.Sample(3, 0.0, deviation);
    input.reruns = source.Sample(3, 0.0, deviation);
    if (DecideMetric(input).verdict == MetricVerdict::kDrifted) ++alarms;
    for (double& value : input.reruns) value += 3.0;
    if (DecideMetric(input).verdict == MetricVerdict::kWithin) ++accepts;
  }
  std::printf("fitted prior: false alarm %.4f, false accept %.4f\n",
              static_cast<double>(alarms) / kFewer, static_cast<double>(accepts) / kFewer);
  EXPECT_LE(static_cast<double>(alarms) / kFewer, Bound(kAlphaDrift, kFewer));
  EXPECT_LE(static_cast<double>(accepts) / kFewer, Bound(kAlphaEquivalence, kFewer));
}

TEST(ErrorRates, WouldBeSeenToBreakIfTheyWereDoubled) {
  const Rates rates = Simulate({3, 3, 3.0, {}}, 2.0, 20270);
  std::printf("doubled: false alarm %.4f, false accept %.4f\n", rates.false_alarm,
              rates.false_accept);
  EXPECT_GT(rates.false_alarm, Bound(kAlphaDrift, kTrials));
  EXPECT_GT(rates.false_accept, Bound(kAlphaEquivalence, kTrials));
  EXPECT_GT(Simulate({3, 1, 4.0, {}}, 2.0, 20271).false_accept,
            Bound(kAlphaEquivalence / 2.0, kTrials));
}

}  // namespace
}  // namespace rharness
