// Monte Carlo: do the stated error rates hold when the decision is applied again and again?
//
// Each trial draws a family (20 configurations of 3 runs, variances scaled inverse chi-squared on 8
// df), fits the prior to it, draws one more configuration and decides. Own generator transforms, so
// that the figures are the same with every standard library.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <vector>

#include "compare/metrics/decision.h"

namespace rharness {
namespace {

constexpr int kTrials = 10000;
constexpr double kAlphaDrift = 0.01;
constexpr double kAlphaEquivalence = 0.05;

class NormalSource {
 public:
  explicit NormalSource(std::uint64_t seed) : engine_(seed) {}

  double Next() {  // Box and Muller, one value of each pair kept for the next call
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
    const double angle = 2.0 * std::numbers::pi * Uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

  double ChiSquared(int df) {
    double sum = 0.0;
    for (int i = 0; i < df; ++i) {
      const double z = Next();
      sum += z * z;
    }
    return sum;
  }

  std::vector<double> Sample(int size, double mean, double deviation) {
    std::vector<double> values;
    for (int i = 0; i < size; ++i) values.push_back(mean + deviation * Next());
    return values;
  }

 private:
  double Uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  std::mt19937_64 engine_;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

struct Cell {
  int n;
  int k;
  double margin;  // in family deviations
};

struct Rates {
  double false_alarm = 0.0;   // P(drifted) when nothing changed
  double false_accept = 0.0;  // P(within) when the shift is the margin
  double within = 0.0;        // P(within) when nothing changed
};

double DrawDeviation(NormalSource* source) { return std::sqrt(8.0 / source->ChiSquared(8)); }

VariancePrior DrawFamily(NormalSource* source) {
  std::vector<double> variances;
  for (int i = 0; i < 20; ++i) {
    const double deviation = DrawDeviation(source);
    variances.push_back(deviation * deviation * source->ChiSquared(2) / 2.0);
  }
  return FitVariancePrior(variances, std::vector<double>(20, 2.0));
}

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

// A stated rate plus four standard errors of the simulation.
double Bound(double alpha) { return alpha + 4.0 * std::sqrt(alpha * (1.0 - alpha) / kTrials); }

TEST(ErrorRates, HoldForNormalNoiseInEveryCell) {
  const Cell cells[] = {{1, 1, 4.5}, {1, 3, 4.0}, {3, 1, 4.0}, {3, 3, 3.0},
                        {5, 3, 2.5}, {5, 5, 2.5}, {10, 5, 2.0}};
  std::printf(" n  k margin | false alarm (bound) | false accept (bound) | within unchanged\n");
  std::uint64_t seed = 20260;
  for (const Cell& cell : cells) {
    const Rates rates = Simulate(cell, 1.0, ++seed);
    const double accept_bound = Bound(cell.k == 1 ? kAlphaEquivalence / 2.0 : kAlphaEquivalence);
    std::printf("%2d %2d %6.1f | %.4f      (%.4f) | %.4f       (%.4f) | %.3f\n", cell.n, cell.k,
                cell.margin, rates.false_alarm, Bound(kAlphaDrift), rates.false_accept,
                accept_bound, rates.within);
    EXPECT_LE(rates.false_alarm, Bound(kAlphaDrift)) << cell.n << " against " << cell.k;
    EXPECT_LE(rates.false_accept, accept_bound) << cell.n << " against " << cell.k;
    EXPECT_GE(rates.within, 0.4) << "a rule that accepts nothing would hold its rates, too";
  }
}

TEST(ErrorRates, WouldBeSeenToBreakIfTheyWereDoubled) {
  const Rates rates = Simulate({3, 3, 3.0}, 2.0, 20270);
  std::printf("doubled: false alarm %.4f, false accept %.4f\n", rates.false_alarm,
              rates.false_accept);
  EXPECT_GT(rates.false_alarm, Bound(kAlphaDrift));
  EXPECT_GT(rates.false_accept, Bound(kAlphaEquivalence));
  EXPECT_GT(Simulate({3, 1, 4.0}, 2.0, 20271).false_accept, Bound(kAlphaEquivalence / 2.0));
}

}  // namespace
}  // namespace rharness
