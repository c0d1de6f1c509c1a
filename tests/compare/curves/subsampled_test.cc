// Logs of other intervals: the common steps decide where they stand for both logs, and nowhere
// else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compare/curves/curve_alignment.h"
#include "compare/curves/curve_comparison.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kUnlogged = std::numeric_limits<double>::quiet_NaN();

// A loss with the noise of batches at every step of 1 to 100, the same of each call.
double LossAt(std::int64_t step) {
  const double t = static_cast<double>(step);
  return 3.0 + 8.0 * std::exp(-0.03 * t) + 0.05 * std::sin(97.0 * t) +
         0.04 * std::sin(31.0 * t * t);
}

CurveSeries Logged(std::int64_t first, std::int64_t last, std::int64_t stride,
                   double relative = 0.0) {
  CurveSeries series{"lm loss", {}, {}, 0.0};
  for (std::int64_t step = first; step <= last; step += stride) {
    series.steps.push_back(step);
    series.values.push_back(LossAt(step) * (1.0 + relative));
  }
  return series;
}

TEST(Subsampled, EveryFifthStepIsEqualToEveryStepAtTheStepsThatBothHave) {
  for (const auto& [first, count] : {std::pair(1, 20u), std::pair(5, 20u), std::pair(3, 20u)}) {
    const auto found = CompareCurve(Logged(1, 100, 1), Logged(first, 100, 5), {}, {});
    EXPECT_EQ(found.state, CurveState::kIdentical) << found.message;
    EXPECT_TRUE(found.subsampled) << first;
    EXPECT_FALSE(found.MissesSteps());
    EXPECT_EQ(found.steps.size(), count);
    EXPECT_EQ(found.only_a, 80u);
    EXPECT_THAT(found.message, HasSubstr("equal bit for bit at the 20 aligned steps"));
  }
  EXPECT_TRUE(CompareCurve(Logged(5, 100, 5), Logged(1, 100, 1), {}, {}).subsampled);
  // Every second step against every fifth: every tenth is in both.
  const auto both = CompareCurve(Logged(2, 100, 2), Logged(5, 100, 5), {}, {});
  EXPECT_TRUE(both.subsampled);
  EXPECT_EQ(both.steps.size(), 10u);
}

TEST(Subsampled, ALogThatWasCutOffOrHasAHoleCoversNothing) {
  const auto misses = [](const CurveSeries& a, const CurveSeries& b) {
    const CurveComparison found = CompareCurve(a, b, {}, {});
    EXPECT_EQ(found.differing, 0u);
    return found.MissesSteps();
  };
  EXPECT_TRUE(misses(Logged(1, 100, 1), Logged(1, 99, 1))) << "the last step";
  EXPECT_TRUE(misses(Logged(1, 100, 1), Logged(1, 50, 1))) << "half of it";
  EXPECT_TRUE(misses(Logged(1, 100, 1), Logged(1, 91, 5))) << "every fifth, but not to the end";
  EXPECT_TRUE(misses(Logged(1, 100, 1), Logged(50, 100, 1))) << "resumed without its first half";
  EXPECT_TRUE(misses(Logged(1, 100, 1), Logged(50, 100, 5)));
  EXPECT_TRUE(misses(Logged(1, 60, 1), Logged(1, 100, 5))) << "each lacks something";
  CurveSeries holed = Logged(1, 100, 5);
  holed.steps.erase(holed.steps.begin() + 8, holed.steps.begin() + 11);
  holed.values.erase(holed.values.begin() + 8, holed.values.begin() + 11);
  EXPECT_TRUE(misses(Logged(1, 100, 1), holed));
  CurveSeries early = Logged(40, 100, 1);
  early.steps.insert(early.steps.begin(), 1);
  early.values.insert(early.values.begin(), LossAt(1));
  EXPECT_TRUE(misses(Logged(1, 100, 1), early)) << "a hole behind the first step";
}

TEST(Subsampled, WhatDiffersAtTheCommonStepsIsJudgedByThem) {
  const auto near = CompareCurve(Logged(1, 100, 1), Logged(1, 100, 5, 1e-6), {}, {});
  EXPECT_EQ(near.state, CurveState::kWithin) << near.message;
  const auto far = CompareCurve(Logged(1, 100, 1), Logged(1, 100, 5, 1e-2), {}, {});
  EXPECT_EQ(far.state, CurveState::kBeyond) << far.message;
}

// Formats with a place for every step write "nan" where nothing was logged.
TEST(Subsampled, NanBetweenRegularValuesIsAStepThatWasNotLogged) {
  CurveSeries sparse = Logged(1, 100, 1);
  for (std::size_t i = 0; i < sparse.values.size(); ++i) {
    if (i % 5 != 0) sparse.values[i] = kUnlogged;
  }
  for (const bool turned : {false, true}) {
    const auto found = turned ? CompareCurve(sparse, Logged(1, 100, 1), {}, {})
                              : CompareCurve(Logged(1, 100, 1), sparse, {}, {});
    EXPECT_EQ(found.state, CurveState::kIdentical) << found.message;
    EXPECT_TRUE(found.subsampled);
    EXPECT_FALSE(found.first_non_finite.has_value());
  }
  sparse.values[41] = kUnlogged;  // one that should be there
  sparse.values[40] = kUnlogged;
  EXPECT_FALSE(WithoutUnlogged(sparse).has_value());
  CurveSeries blown = Logged(1, 100, 1);
  for (std::size_t i = 50; i < blown.values.size(); ++i) blown.values[i] = kUnlogged;
  EXPECT_FALSE(WithoutUnlogged(blown).has_value());
  EXPECT_EQ(CompareCurve(Logged(1, 100, 1), blown, {}, {}).state, CurveState::kBeyond);
}

TEST(Subsampled, FurtherRunsOfAnotherIntervalJudgeTheStepsThatTheyHave) {
  std::vector<CurveSeries> replicates;
  for (const double relative : {1e-3, -1e-3, 2e-3, -2e-3}) {
    replicates.push_back(Logged(1, 100, 5, relative));
  }
  const auto near = CompareCurve(Logged(1, 100, 1), Logged(1, 100, 1, 5e-4), replicates, {});
  EXPECT_EQ(near.basis, "replicates") << near.message;
  EXPECT_EQ(near.state, CurveState::kWithin) << near.message;
  const auto far = CompareCurve(Logged(1, 100, 1), Logged(1, 100, 1, 0.1), replicates, {});
  EXPECT_EQ(far.state, CurveState::kBeyond) << far.message;
  // Runs that were cut off judge nothing.
  for (CurveSeries& replicate : replicates) {
    replicate.steps.resize(8);
    replicate.values.resize(8);
  }
  const auto cut = CompareCurve(Logged(1, 100, 1), Logged(1, 100, 1, 5e-4), replicates, {});
  EXPECT_NE(cut.basis, "replicates") << cut.message;
}

TEST(Subsampled, StepsAsFarApartAsTheyGoEndNothing) {
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(CoverAlike({kFirst, 0, kLast}, kFirst, kLast));
  EXPECT_FALSE(CoverAlike({0, 1, 2}, kFirst, kLast));
  EXPECT_FALSE(CoverAlike({0, 1}, 0, 1));
}

}  // namespace
}  // namespace rharness
