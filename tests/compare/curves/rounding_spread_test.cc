// Reruns held to runs that differ by rounding alone: by hand, and both errors by simulation.
#include "compare/curves/rounding_spread.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace rharness {
namespace {

using testing::HasSubstr;

CurveSeries ValidationLoss(std::vector<double> values) {
  CurveSeries series{.name = "val_loss"};
  for (std::size_t i = 0; i < values.size(); ++i) {
    series.steps.push_back(static_cast<std::int64_t>(i + 1));
  }
  series.values = std::move(values);
  return series;
}

Judged JudgedOf(const std::vector<double>& a) {
  Judged judged;
  for (std::size_t i = 0; i < a.size(); ++i) {
    judged.at.push_back(i);
    judged.steps.push_back(static_cast<std::int64_t>(i + 1));
  }
  judged.a = judged.b = a;
  return judged;
}

// Trainings of one seed: a curve of its own that falls from 3 to 1, and rounding that grows from
// nothing until it is as chaotic as it gets.
class Trainings {
 public:
  explicit Trainings(unsigned seed) : random_(seed) {}

  static constexpr int kValues = 40;
  double Level(int i, double seed) const {
    return 1.0 + 2.0 * std::exp(-i / 8.0) + 0.05 * std::sin(i * (1.0 + 0.1 * seed));
  }
  CurveSeries Run(double seed, double shift = 0.0) {
    std::vector<double> values;
    double state = normal_(random_);
    for (int i = 0; i < kValues; ++i) {
      state = 0.8 * state + 0.6 * normal_(random_);
      const double grown = 0.0004 / (1.0 + std::exp(6.0 - 0.5 * i)) + 1e-6;
      values.push_back(Level(i, seed) * (1.0 + shift) + grown * state);
    }
    return ValidationLoss(std::move(values));
  }
  std::vector<std::vector<CurveSeries>> Group(double seed, int runs) {
    std::vector<std::vector<CurveSeries>> group;
    for (int i = 0; i < runs; ++i) group.push_back({Run(seed)});
    return group;
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

CurveState StateOf(const CurveSeries& a, const CurveSeries& b, const RoundingRuns& rounding) {
  return CompareRerunCurves({a}, {b}, rounding, {}).front().state;
}

TEST(RoundingSpread, OfOneGroupIsThatGroupAroundItsMean) {
  const std::vector<std::vector<double>> runs = {{5, 1, 0}, {7, 2, 0}, {6, 6, 3}};
  std::vector<CurveSeries> group;
  for (const auto& run : runs) group.push_back(ValidationLoss(run));
  const RoundingSpread spread = SpreadOf({group}, JudgedOf({1, 2, 3}));
  ASSERT_EQ(spread.degrees, 2U);
  const std::vector<std::vector<double>> centred = {{-1, -2, -1}, {1, -1, -1}, {0, 3, 2}};
  for (std::size_t run = 0; run < 3; ++run) {
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(spread.runs[run][i], centred[run][i], 1e-12);
  }
}

// Two pairs, 2 and 4 apart: variances 2 and 8 on one degree each, 5 on two.
TEST(RoundingSpread, PoolsWhatIsWithinGroupsWhateverLiesBetweenThem) {
  const RoundingSpread spread = SpreadOf({{ValidationLoss({100}), ValidationLoss({102})},
                                          {ValidationLoss({-50}), ValidationLoss({-46})},
                                          {ValidationLoss({1})}},
                                         JudgedOf({7}));
  ASSERT_EQ(spread.degrees, 2U);
  ASSERT_EQ(spread.runs.size(), 3U);
  double sum = 0, square = 0;
  for (const auto& run : spread.runs) {
    sum += run[0];
    square += run[0] * run[0];
  }
  EXPECT_NEAR(sum, 0.0, 1e-12);
  EXPECT_NEAR(square / 2.0, 5.0, 1e-12);
}

TEST(RoundingSpread, CountsEqualRunsOnceAndNoneThatStopped) {
  const RoundingSpread spread = SpreadOf({{ValidationLoss({1, 2}), ValidationLoss({1, 2}),
                                           ValidationLoss({1, NAN}), ValidationLoss({1, 3})}},
                                         JudgedOf({1, 2}));
  EXPECT_EQ(spread.degrees, 1U);
  EXPECT_EQ(spread.repeated, 1U);
  EXPECT_EQ(spread.incomplete, 1U);
}

// A run that did not heed the hook: what is judged is judged as without.
TEST(RoundingSpread, NeverTakesBitEqualRunsForAnEnvelope) {
  Trainings trainings(3);
  const CurveSeries a = trainings.Run(1), b = trainings.Run(1), same = trainings.Run(1);
  const RoundingRuns equal{{{{same}, {same}, {same}, {same}}}, "3 replicates"};
  const auto with = CompareRerunCurves({a}, {b}, equal, {}).front();
  const auto without = CompareCurves({a}, {b}, {}, {}).front();
  EXPECT_EQ(with.basis, without.basis);
  EXPECT_NE(with.basis, "rounding");
  EXPECT_EQ(with.state, without.state);
  EXPECT_EQ(with.message, without.message);
}

TEST(RoundingSpread, SaysFromWhereItsBandIs) {
  Trainings trainings(4);
  const RoundingRuns rounding{{trainings.Group(9, 4)}, "3 replicates made on this stack"};
  const auto within = CompareRerunCurves({trainings.Run(1)}, {trainings.Run(1)}, rounding, {});
  EXPECT_EQ(within[0].state, CurveState::kWithin);
  EXPECT_EQ(within[0].basis, "rounding");
  EXPECT_THAT(within[0].message, HasSubstr("band of 3 replicates made on this stack"));
  const auto beyond =
      CompareRerunCurves({trainings.Run(1)}, {trainings.Run(1, 0.05)}, rounding, {});
  EXPECT_EQ(beyond[0].state, CurveState::kBeyond);
  EXPECT_THAT(beyond[0].message, HasSubstr("it leaves the band of 3 replicates made on this"));
}

TEST(RoundingSpread, LeavesACurveAsItIsBelowThreeReplicates) {
  Trainings trainings(5);
  const RoundingRuns two{{trainings.Group(9, 3)}, "2 replicates"};
  const CurveSeries a = trainings.Run(1), b = trainings.Run(1, 0.03);
  const auto with = CompareRerunCurves({a}, {b}, two, {}).front();
  EXPECT_EQ(with.message, CompareCurves({a}, {b}, {}, {}).front().message);
  EXPECT_NE(with.basis, "rounding");
}

// The pair and the group are of other seeds; three made, two and two, five made.
TEST(RoundingSpread, HoldsItsRateAndFindsShifts) {
  constexpr int kTrials = 600;
  const std::vector<std::vector<int>> designs = {{4}, {3, 2}, {6}};
  for (const std::vector<int>& design : designs) {
    Trainings trainings(7);
    int alarms = 0, within = 0, found = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      RoundingRuns rounding;
      double seed = 20.0;
      for (const int runs : design) rounding.groups.push_back(trainings.Group(seed++, runs));
      const CurveSeries a = trainings.Run(trial % 5);
      const CurveState same = StateOf(a, trainings.Run(trial % 5), rounding);
      alarms += same == CurveState::kBeyond;
      within += same == CurveState::kWithin;
      found += StateOf(a, trainings.Run(trial % 5, 0.04), rounding) == CurveState::kBeyond;
    }
    fmt::print("{} runs in {} groups: {} of {} beyond, {} within; shifted by 4 %: {} beyond\n",
               design.front(), design.size(), alarms, kTrials, within, found);
    EXPECT_LE(alarms, 0.01 * kTrials);
    EXPECT_GE(within, 0.9 * kTrials);
    EXPECT_GE(found, 0.9 * kTrials);
  }
}

}  // namespace
}  // namespace rharness
