// Curves that are no losses, judged by further runs: accuracies, norms, counts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "compare/curves/curve_comparison.h"

namespace rharness {
namespace {

CurveSeries MetricSeries(const std::string& name, std::vector<double> values,
                         double quantum = 0.0) {
  CurveSeries series{name, {}, std::move(values), quantum};
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    series.steps.push_back(static_cast<std::int64_t>(100 * (i + 1)));
  }
  return series;
}

using Draw = std::function<std::vector<double>(std::mt19937_64&)>;

// Share of 500 answers, rising from a third to `best`; runs differ a little themselves.
Draw Accuracy(double best, double between_runs) {
  return [=](std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    const double own = between_runs * normal(random);
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) {
      const double share = std::clamp(best - (best - 0.33) * std::exp(-0.2 * i) + own, 0.0, 1.0);
      std::binomial_distribution<int> answers(500, share);
      values.push_back(answers(random) / 500.0);
    }
    return values;
  };
}

// A gradient norm: log-normal with a spike now and then.
std::vector<double> GradientNorm(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) {
    const double spike = uniform(random) < 0.02 ? 3.0 + 5.0 * uniform(random) : 1.0;
    values.push_back((1.0 + 2.0 * std::exp(-0.05 * i)) * std::exp(0.15 * normal(random)) * spike);
  }
  return values;
}

struct MetricRates {
  double beyond = 0.0;
  double within = 0.0;
  double found = 0.0;  // of runs whose last quarter was changed
};

MetricRates MetricRatesOf(const std::string& name, const Draw& draw, int replicates,
                          const std::function<double(double)>& change, double quantum = 0.0) {
  constexpr int kTrials = 200;
  std::mt19937_64 random(20261127);
  MetricRates rates;
  const auto curve = [&](std::vector<double> values) {
    for (double& value : values) {
      if (quantum > 0.0) value = std::round(value / quantum) * quantum;
    }
    return MetricSeries(name, std::move(values), quantum);
  };
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<CurveSeries> others;
    for (int i = 0; i < replicates; ++i) others.push_back(curve(draw(random)));
    const CurveSeries a = curve(draw(random));
    std::vector<double> b = draw(random);
    const CurveState plain = CompareCurve(a, curve(b), others, {}).state;
    rates.beyond += plain == CurveState::kBeyond ? 1.0 / kTrials : 0.0;
    rates.within += plain == CurveState::kWithin ? 1.0 / kTrials : 0.0;
    for (std::size_t i = 3 * b.size() / 4; i < b.size(); ++i) b[i] = change(b[i]);
    const CurveState changed = CompareCurve(a, curve(b), others, {}).state;
    rates.found += changed == CurveState::kBeyond ? 1.0 / kTrials : 0.0;
  }
  fmt::print("{} with {} replicates: A/A {:.4f}, within {:.3f}, found {:.3f}\n", name, replicates,
             rates.beyond, rates.within, rates.found);
  return rates;
}

TEST(MetricCurves, AnAccuracyThatFallsOverItsLastQuarterIsBeyondItsLike) {
  const auto fallen = [](double value) { return value - 0.30; };  // 0.88 to 0.58
  for (const int replicates : {3, 4, 5, 9}) {
    const MetricRates rates =
        MetricRatesOf("eval_accuracy", Accuracy(0.88, 0.005), replicates, fallen);
    EXPECT_LE(rates.beyond, 0.01) << replicates;
    EXPECT_GE(rates.found, replicates == 3 ? 0.9 : 1.0 - 1e-9) << replicates;
  }
}

// Of a share near 1 whole stretches of all runs are equal; one answer more or less is none.
TEST(MetricCurves, OneAnswerIsNoDriftWhereAllRunsGiveTheSame) {
  const auto lost = [](double value) { return value - 0.2; };
  for (const double best : {1.0, 0.998, 0.99}) {
    for (const int replicates : {3, 5}) {
      const MetricRates rates = MetricRatesOf("accuracy", Accuracy(best, 0.0), replicates, lost);
      EXPECT_LE(rates.beyond, 0.01) << best;
      EXPECT_GE(rates.found, 0.95) << best;
    }
  }
}

TEST(MetricCurves, PrintedTooCoarselyToPassTheyMayStillBeFarOff) {
  const auto fallen = [](double value) { return value - 0.30; };
  const MetricRates rates = MetricRatesOf("accuracy", Accuracy(0.88, 0.005), 5, fallen, 0.01);
  EXPECT_LE(rates.beyond, 0.01);
  EXPECT_EQ(rates.within, 0.0) << "a hundredth of 0.88 is more than what must show";
  EXPECT_GE(rates.found, 0.999);
}

TEST(MetricCurves, SpikesOfAGradientNormAreNoDrift) {
  const auto doubled = [](double value) { return 2.0 * value; };
  for (const int replicates : {3, 5, 9}) {
    const MetricRates rates = MetricRatesOf("grad norm", GradientNorm, replicates, doubled);
    EXPECT_LE(rates.beyond, 0.01) << replicates;
  }
}

// 20 curves of one run that are no losses, and one of them is enough: all together at 1 %.
TEST(MetricCurves, ShareTheirRateOfFalseAlarms) {
  std::mt19937_64 random(11);
  std::vector<std::vector<CurveSeries>> runs(6);
  for (std::vector<CurveSeries>& run : runs) {
    for (int i = 0; i < 20; ++i) {
      run.push_back(
          MetricSeries(fmt::format("accuracy of task {}", i), Accuracy(0.8, 0.01)(random)));
    }
    run.push_back(MetricSeries("loss", Accuracy(0.8, 0.01)(random)));
  }
  const auto found = CompareCurves(runs[0], runs[1], {runs.begin() + 2, runs.end()}, {});
  ASSERT_EQ(found.size(), 21u);
  EXPECT_EQ(found[0].name, "loss");
  EXPECT_EQ(found[0].false_alarm, 0.01);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_EQ(found[i].false_alarm, 0.01 / 20.0);
}

}  // namespace
}  // namespace rharness
