// The band of replicates: by hand, and its rate of false alarms by simulation.
#include "compare/curves/replicate_band.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

namespace rharness {
namespace {

using Curve = std::vector<double>;

ReplicateBand Band(const Curve& a, const std::vector<Curve>& replicates,
                   double false_alarm = 0.01) {
  return BandOfReplicates(a, replicates, 1e-3, false_alarm, kPublishedGrowth);
}

// 10^(2.326348 * 0.235538 * sqrt(1 + 1 / runs)), from the normal table.
TEST(ReplicateBand, OfOneToFourTakesItsFactorFromThePublishedSpread) {
  const Curve a = {1, 1, 1, 1};
  const ReplicateBand one = Band(a, {{1, 1.5, 0.75, 1}});
  EXPECT_NEAR(one.factor, std::pow(10.0, 2.326348 * 0.235538 * std::sqrt(2.0)), 1e-4);
  EXPECT_EQ(one.false_alarm, 0.0);
  const Curve range = {0.001, 0.5, 0.5, 0.5};
  for (std::size_t i = 0; i < range.size(); ++i) {
    EXPECT_NEAR(one.limit[i], one.factor * range[i], 1e-12) << i;
  }
  const ReplicateBand two = Band(a, {{1, 1.5, 0.75, 1}, {1, 0.75, 1, 1}});
  EXPECT_NEAR(two.factor, std::pow(10.0, 2.326348 * 0.235538 * std::sqrt(1.5)), 1e-4);
  EXPECT_NEAR(two.limit[3], two.factor * 0.75, 1e-12);
}

// Distances 1, 2, 3, 4 and 5 to one side: without the last the range is 4, without another one 5.
TEST(ReplicateBand, OfFiveScoresEachAgainstTheOthers) {
  const Curve a = {0, 0};
  std::vector<Curve> replicates;
  Curve logs;
  for (const double distance : {3.0, 1.0, 5.0, 2.0, 4.0}) {
    replicates.push_back({0.0, distance});
    logs.push_back(std::log(distance / (distance == 5.0 ? 4.0 : 5.0)));
  }
  double mean = 0.0;
  for (const double value : logs) mean += value / 5.0;
  double variance = 0.0;
  for (const double value : logs) variance += (value - mean) * (value - mean) / 4.0;
  // t(0.99, 4) = 3.746947.
  const double expected = std::exp(mean + 3.746947 * std::sqrt(variance) * std::sqrt(1.2));
  const ReplicateBand band = Band(a, replicates);
  EXPECT_NEAR(band.factor, expected, 1e-5 * expected);
  EXPECT_NEAR(band.limit[1], 5.0 * expected, 1e-4 * expected);
  EXPECT_NEAR(band.false_alarm, 1.0 / 6.0, 1e-12);
}

TEST(ReplicateBand, OfManyTakesAnOrderStatisticAlone) {
  std::vector<Curve> replicates;
  for (int i = 1; i <= 19; ++i) replicates.push_back({static_cast<double>(i)});
  const ReplicateBand band = Band({0.0}, replicates, 0.1);
  // Rank 18 of 19 scores; the two largest are 18 / 19 and 19 / 18, and no factor is below 1.
  EXPECT_EQ(band.factor, 1.0);
  EXPECT_NEAR(band.false_alarm, 0.1, 1e-12);
  EXPECT_NEAR(Band({0.0}, replicates, 0.05).factor, 19.0 / 18.0, 1e-12);
}

class Noise {
 public:
  double Uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }
  double Normal() {
    return std::sqrt(-2.0 * std::log(Uniform())) * std::cos(2.0 * std::numbers::pi * Uniform());
  }

 private:
  std::mt19937_64 random_{7};
};

// How runs leave the common curve: a random walk of a size of their own, from a step on.
struct Divergence {
  std::function<double(Noise&)> size;
  int latest_start = 0;
};

Curve Diverging(Noise& noise, const Divergence& divergence) {
  constexpr int kSteps = 40;
  const double scale = divergence.size(noise);
  const int start = static_cast<int>(noise.Uniform() * (divergence.latest_start + 1));
  Curve curve;
  double walk = 0.0;
  for (int step = 0; step < kSteps; ++step) {
    if (step >= start) walk += scale * noise.Normal();
    curve.push_back(walk);
  }
  return curve;
}

double FalseAlarms(int replicates, double false_alarm, int trials, const Divergence& size,
                   double* stated) {
  Noise noise;
  int alarms = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const Curve a = Diverging(noise, size);
    std::vector<Curve> others;
    for (int i = 0; i < replicates; ++i) others.push_back(Diverging(noise, size));
    const ReplicateBand band = BandOfReplicates(a, others, 1e-12, false_alarm, kPublishedGrowth);
    const Curve b = Diverging(noise, size);
    bool beyond = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      beyond = beyond || std::fabs(b[i] - a[i]) > band.limit[i];
    }
    alarms += beyond;
    *stated = band.false_alarm;
  }
  return static_cast<double>(alarms) / trials;
}

// Four standard errors of a proportion are added to each bound.
double Margin(double rate, int trials) { return 4.0 * std::sqrt(rate * (1.0 - rate) / trials); }

TEST(ReplicateBand, KeepsItsStatedRateWhateverTheDistribution) {
  constexpr int kTrials = 4000;
  const Divergence mild{[](Noise& noise) { return std::exp(0.4 * noise.Normal()); }, 0};
  const Divergence wild{
      [](Noise& noise) { return std::fabs(std::tan(std::numbers::pi * (noise.Uniform() - 0.5))); },
      10};
  for (const double wanted : {0.05, 0.01}) {
    for (const int replicates : {5, 9, 19}) {
      double stated = 0.0;
      const double rate_mild = FalseAlarms(replicates, wanted, kTrials, mild, &stated);
      const double rate_wild = FalseAlarms(replicates, wanted, kTrials, wild, &stated);
      fmt::print(
          "{:.2f} wanted, {:>2} replicates: stated {:.3f}, log-normal {:.4f}, Cauchy {:.4f}\n",
          wanted, replicates, stated, rate_mild, rate_wild);
      EXPECT_NEAR(stated, std::max(wanted, 1.0 / (replicates + 1)), 1e-12);
      EXPECT_LE(rate_mild, stated + Margin(stated, kTrials));
      EXPECT_LE(rate_wild, stated + Margin(stated, kTrials));
      // What is wanted of log-normal scores is kept nearly, because random walks give others.
      EXPECT_LE(rate_mild, 2.0 * wanted);
    }
  }
}

}  // namespace
}  // namespace rharness
