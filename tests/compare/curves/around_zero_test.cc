// Losses that cross 0: what is relative to |a| says nothing of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compare/curves/curve_alignment.h"
#include "compare/curves/curve_comparison.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kZeroSteps = 100;

CurveSeries ZeroSeries(const std::string& name, std::vector<double> values) {
  CurveSeries series{name, {}, std::move(values), 0.0};
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    series.steps.push_back(static_cast<std::int64_t>(i) + 1);
  }
  return series;
}

// What a policy gradient logs: stationary noise around nearly 0 with some memory.
std::vector<double> PolicyLoss(std::mt19937_64& random, double memory, bool heavy = false,
                               int steps = kZeroSteps) {
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> student(3.0);
  std::vector<double> values;
  double at = normal(random);
  for (int i = 0; i < steps; ++i) {
    const double noise = heavy ? student(random) / std::sqrt(3.0) : normal(random);
    at = memory * at + std::sqrt(1.0 - memory * memory) * noise;
    values.push_back(-0.002 + 0.02 * at);
  }
  return values;
}

// A log-likelihood of a density, 3 to -0.5, the same of every call but for its noise.
std::vector<double> Likelihood(std::mt19937_64& random, double noise) {
  std::normal_distribution<double> normal;
  std::vector<double> values;
  for (int i = 0; i < kZeroSteps; ++i) {
    values.push_back(-0.5 + 3.5 * std::exp(-0.05 * i) + noise * normal(random));
  }
  return values;
}

std::vector<double> Moved(std::vector<double> values, double by, std::size_t from = 0) {
  for (std::size_t i = from; i < values.size(); ++i) values[i] += by;
  return values;
}

// Two seeds of one training, 600 times: neither alone nor by its like is one of them drifted.
TEST(AroundZero, TwoSeedsAreNotBeyondHoweverFarTheyAreApartRelativeToZero) {
  for (const auto& [memory, heavy, steps] : {std::tuple(0.0, false, 100),
                                             {0.8, false, 100},
                                             {0.9, false, 100},
                                             {0.0, true, 100},
                                             {0.5, true, 100},
                                             {0.0, false, 20}}) {
    std::mt19937_64 random(20261127);
    int beyond = 0, within = 0;
    constexpr int kTrials = 600;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto found =
          CompareCurve(ZeroSeries("policy_loss", PolicyLoss(random, memory, heavy, steps)),
                       ZeroSeries("policy_loss", PolicyLoss(random, memory, heavy, steps)), {}, {});
      beyond += found.state == CurveState::kBeyond;
      within += found.state == CurveState::kWithin;
    }
    fmt::print("memory {} heavy {} steps {}: beyond {} within {} of {}\n", memory, heavy, steps,
               beyond, within, kTrials);
    EXPECT_LE(beyond, 2) << memory << heavy << steps;  // 0.3 %
    EXPECT_EQ(within, 0) << "nothing is shown";
  }
}

TEST(AroundZero, TheSameRunWithRoundingIsWithinByItsSpread) {
  std::mt19937_64 random(3);
  const std::vector<double> values = PolicyLoss(random, 0.0);
  std::vector<double> rounded = values;
  for (double& value : rounded) value += 1e-7 * (random() % 3 == 0 ? 1.0 : -1.0);
  const auto found =
      CompareCurve(ZeroSeries("policy_loss", values), ZeroSeries("policy_loss", rounded), {}, {});
  EXPECT_EQ(found.state, CurveState::kWithin) << found.message;
  EXPECT_EQ(found.basis, "margin");
  EXPECT_GT(found.spread, 0.04);
  EXPECT_THAT(found.rule, HasSubstr("the spread of a's values (it crosses 0)"));
  // 0 is no size: the largest share of |a| is no measure of anything.
  EXPECT_THAT(found.message, Not(HasSubstr("%  at most")));
}

TEST(AroundZero, AnOffsetOnTheSameBatchesIsFound) {
  std::mt19937_64 random(4);
  const std::vector<double> values = PolicyLoss(random, 0.0);
  const auto found = CompareCurve(ZeroSeries("policy_loss", values),
                                  ZeroSeries("policy_loss", Moved(values, 0.004, 50)), {}, {});
  EXPECT_EQ(found.state, CurveState::kBeyond) << found.message;
}

TEST(AroundZero, WhatIsGrossInTermsOfTheSpreadNeedsNoFurtherRuns) {
  std::mt19937_64 random(5);
  const std::vector<double> a = PolicyLoss(random, 0.0), b = PolicyLoss(random, 0.0);
  const auto state = [&](std::vector<double> values) {
    return CompareCurve(ZeroSeries("policy_loss", a), ZeroSeries("policy_loss", std::move(values)),
                        {}, {});
  };
  EXPECT_EQ(state(b).state, CurveState::kUndecided) << state(b).message;
  EXPECT_EQ(state(Moved(b, 0.2)).state, CurveState::kBeyond);
  EXPECT_EQ(state(Moved(b, 0.2, 75)).state, CurveState::kBeyond) << "its last quarter alone";
  EXPECT_EQ(state(std::vector<double>(kZeroSteps, 0.0)).state, CurveState::kBeyond) << "it is dead";
  std::vector<double> wild = b;
  for (double& value : wild) value *= 30.0;
  EXPECT_EQ(state(wild).state, CurveState::kBeyond);
  EXPECT_TRUE(state(wild).first_beyond.has_value());
}

TEST(AroundZero, FurtherRunsDecideAndALikelihoodThatTheyLieCloseOnPasses) {
  std::mt19937_64 random(6);
  std::vector<CurveSeries> replicates;
  for (int i = 0; i < 5; ++i) replicates.push_back(ZeroSeries("nll", Likelihood(random, 0.01)));
  const CurveSeries a = ZeroSeries("nll", Likelihood(random, 0.01));
  const std::vector<double> b = Likelihood(random, 0.01);
  const auto near = CompareCurve(a, ZeroSeries("nll", b), replicates, {});
  EXPECT_EQ(near.state, CurveState::kWithin) << near.message;
  EXPECT_EQ(near.basis, "replicates");
  const auto far = CompareCurve(a, ZeroSeries("nll", Moved(b, 0.1, 75)), replicates, {});
  EXPECT_EQ(far.state, CurveState::kBeyond) << far.message;
}

TEST(AroundZero, SeedsOfAPolicyGradientLeaveTheBandOfTheirLikeNoMoreOftenThanStated) {
  std::mt19937_64 random(7);
  constexpr int kTrials = 400;
  int beyond = 0, found = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<CurveSeries> replicates;
    for (int i = 0; i < 5; ++i) {
      replicates.push_back(ZeroSeries("policy_loss", PolicyLoss(random, 0.5, true)));
    }
    const CurveSeries a = ZeroSeries("policy_loss", PolicyLoss(random, 0.5, true));
    const std::vector<double> b = PolicyLoss(random, 0.5, true);
    beyond +=
        CompareCurve(a, ZeroSeries("policy_loss", b), replicates, {}).state == CurveState::kBeyond;
    // Three standard deviations of one value, eight of a mean over 25.
    found += CompareCurve(a, ZeroSeries("policy_loss", Moved(b, 0.06, 75)), replicates, {}).state ==
             CurveState::kBeyond;
  }
  fmt::print("A/A {} of {}, shifted {}\n", beyond, kTrials, found);
  EXPECT_LE(beyond, kTrials / 100);
  EXPECT_GE(found, 8 * kTrials / 10);
}

TEST(AroundZero, ALossOfZeroWithRoundingOnBothSidesCrossesNothing) {
  EXPECT_FALSE(CrossesZero({2.0, 1.0, 0.5, 0.1, -1e-8}));
  EXPECT_FALSE(CrossesZero({0.0, 0.0, 0.0}));
  EXPECT_FALSE(CrossesZero({-3.0, -2.5, -2.0}));
  EXPECT_TRUE(CrossesZero({700.0, 3.0, 2.0, -1.0, -3.0}));
  EXPECT_DOUBLE_EQ(SpreadOfValues({1.0, 3.0, -1.0}), 4.0);
}

// A sign that was lost is no small thing: neither curve crosses 0 itself.
TEST(AroundZero, ALossOfTheOtherSignIsGrosslyApart) {
  std::vector<double> a, b;
  for (int i = 0; i < 20; ++i) a.push_back(2.0 + std::exp(-0.2 * i)), b.push_back(-a.back());
  EXPECT_EQ(CompareCurve(ZeroSeries("loss", a), ZeroSeries("loss", b), {}, {}).state,
            CurveState::kBeyond);
}

}  // namespace
}  // namespace rharness
