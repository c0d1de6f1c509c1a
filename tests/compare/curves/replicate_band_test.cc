// The band of further runs: by hand, and its rate of false alarms by simulation.
#include "compare/curves/replicate_band.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace rharness {
namespace {

using Curve = std::vector<double>;

// Two curves of one value: mean 1, standard deviation sqrt(2), and the late mean is the same value.
// Student's t on one degree is Cauchy's: its quantile is tan(pi (p - 1/2)).
TEST(ReplicateBand, OfTwoRunsIsStudentsOnOneDegree) {
  const ReplicateBand band = BandOfRuns({{0.0}, {2.0}}, 1e-9, 0.01);
  const double pi = std::acos(-1.0);
  // A quarter of 0.4 of 0.01 on two sides; a quarter of 0.6 of 0.01 on two sides.
  const double value = std::tan(pi * (0.5 - 0.25 * 0.4 * 0.01 / 2.0));
  const double late = std::tan(pi * (0.5 - 0.25 * 0.6 * 0.01 / 2.0));
  EXPECT_DOUBLE_EQ(band.middle[0], 1.0);
  EXPECT_NEAR(band.limit[0] / (value * std::sqrt(2.0) * std::sqrt(1.5)), 1.0, 1e-9);
  EXPECT_NEAR(band.late_limit / (late * std::sqrt(2.0) * std::sqrt(1.5)), 1.0, 1e-9);
  EXPECT_EQ(band.false_alarm, 0.0);
}

// Four runs at 0, 1, 2 and 6 on one value. Each score is the distance from the mean of the others
// in their standard deviations times sqrt(4 / 3); the last one's is 5 / sqrt(4 / 3) = 4.330. Their
// logarithms scatter so much that Student's t ends it: t(1 - 0.0005, 3) = 12.924 (printed tables).
TEST(ReplicateBand, OfFourRunsIsEndedByStudentsT) {
  const ReplicateBand band = BandOfRuns({{0.0}, {1.0}, {2.0}, {6.0}}, 1e-9, 0.01);
  EXPECT_NEAR(band.factor, 12.924, 1e-3);
  EXPECT_EQ(band.false_alarm, 0.01);
}

// Scores that are nearly alike: the logarithms decide, and no further run needs less than the
// largest of them. Six runs of two values, each alone far off at its own place.
TEST(ReplicateBand, LeavesEachRunOutInTurn) {
  std::vector<Curve> runs;
  for (std::size_t i = 0; i < 6; ++i) {
    Curve run(60, 0.0);
    for (std::size_t j = 0; j < run.size(); ++j)
      run[j] = 0.1 * std::sin(1.7 * static_cast<double>((i + 1) * (j + 1)));
    run[10 * i] += 1.0;
    runs.push_back(std::move(run));
  }
  const ReplicateBand band = BandOfRuns(runs, 1e-9, 0.01);
  // The score of run 0 by definition.
  const auto others = [&](std::size_t at, bool variance) {
    double mean = 0.0, square = 0.0;
    for (std::size_t i = 1; i < 6; ++i) mean += runs[i][at] / 5.0;
    for (std::size_t i = 1; i < 6; ++i) square += (runs[i][at] - mean) * (runs[i][at] - mean) / 4.0;
    return variance ? square : mean;
  };
  const double pooled = (others(0, true) + others(1, true) + others(2, true)) / 3.0;
  const double score = std::fabs(runs[0][0] - others(0, false)) / std::sqrt(pooled * 1.2);
  EXPECT_GE(band.factor, score);
  EXPECT_LT(band.factor, 10.0 * score);
}

TEST(ReplicateBand, IsLocalAndNotBelowItsFloor) {
  // Far apart at first, equal to a thousandth later: the late band knows nothing of the start.
  std::vector<Curve> runs;
  for (int i = 0; i < 5; ++i) {
    Curve run(40, 1.0);
    for (std::size_t j = 0; j < run.size(); ++j) {
      run[j] += (j < 10 ? 1.0 : 1e-3) * std::sin(7.0 * i + 3.0 * static_cast<double>(j));
    }
    runs.push_back(std::move(run));
  }
  const ReplicateBand band = BandOfRuns(runs, 1e-9, 0.01);
  EXPECT_GT(band.limit[5] / band.limit[30], 100.0);
  const ReplicateBand floored = BandOfRuns(runs, 1.0, 0.01);
  EXPECT_GE(floored.limit[30], floored.factor);
}

// A family of curves of one run: an exchangeable further run leaves the band at the stated rate or
// below it, on average over families.
double RateOf(std::size_t runs, const std::function<Curve(std::mt19937_64&)>& draw) {
  constexpr int kTrials = 3000;
  std::mt19937_64 random(17);
  int left = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<Curve> curves;
    for (std::size_t i = 0; i < runs; ++i) curves.push_back(draw(random));
    const Curve further = draw(random);
    const ReplicateBand band = BandOfRuns(curves, 1e-9, 0.01);
    bool beyond = false;
    for (std::size_t i = 0; i < further.size(); ++i) {
      beyond = beyond || std::fabs(further[i] - band.middle[i]) > band.limit[i];
    }
    const auto late = further.begin() + static_cast<std::ptrdiff_t>(band.late_first);
    const double mean =
        std::accumulate(late, further.end(), 0.0) / static_cast<double>(further.end() - late);
    left += beyond || std::fabs(mean - band.late_middle) > band.late_limit;
  }
  return static_cast<double>(left) / kTrials;
}

TEST(ReplicateBand, OfNormalAndHeavyTailedRunsHoldsItsRate) {
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> heavy(4.0);
  const auto walk = [&](std::mt19937_64& random, auto& step) {
    Curve curve;
    double level = 0.0;
    for (int i = 0; i < 24; ++i) {
      level = 0.8 * level + step(random);
      curve.push_back(level * std::exp(-0.1 * i));
    }
    return curve;
  };
  fmt::print("further runs that leave the band, 0.01 stated: runs, normal, t4\n");
  for (const std::size_t runs : {4, 6, 10}) {
    const double of_normal = RateOf(runs, [&](auto& random) { return walk(random, normal); });
    const double of_heavy = RateOf(runs, [&](auto& random) { return walk(random, heavy); });
    fmt::print("{:>4} {:.4f} {:.4f}\n", runs, of_normal, of_heavy);
    EXPECT_LE(of_normal, 0.012) << runs;
    EXPECT_LE(of_heavy, 0.016) << runs;
  }
}

}  // namespace
}  // namespace rharness
