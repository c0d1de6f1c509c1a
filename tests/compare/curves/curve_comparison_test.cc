// Two curves: states, vacuity, bases, limits and what the sentences say.
#include "compare/curves/curve_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace rharness {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Steps 5, 10, 15, ...
CurveSeries Series(std::string name, std::vector<double> values, double quantum = 0.0) {
  CurveSeries series{std::move(name), {}, std::move(values), quantum};
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    series.steps.push_back(static_cast<std::int64_t>(5 * (i + 1)));
  }
  return series;
}

CurveSeries Loss(std::vector<double> values, double quantum = 0.0) {
  return Series("lm loss", std::move(values), quantum);
}

const std::vector<double> kFalling = {10.5, 10.25, 10.0, 9.75, 9.5, 9.25};

std::vector<double> Scaled(std::vector<double> values, std::size_t from, double relative) {
  for (std::size_t i = from; i < values.size(); ++i) values[i] *= 1.0 + relative;
  return values;
}

TEST(CompareCurve, FindsEqualCurvesIdentical) {
  const CurveComparison found = CompareCurve(Loss(kFalling), Loss(kFalling), {}, {});
  EXPECT_EQ(found.state, CurveState::kIdentical);
  EXPECT_EQ(found.basis, "bits");
  EXPECT_EQ(found.message, "lm loss is equal bit for bit on all 6 aligned steps.");
  EXPECT_TRUE(found.band.empty());
}

TEST(CompareCurve, SeesOneBit) {
  std::vector<double> values = kFalling;
  values[3] = std::nextafter(values[3], 0.0);
  const CurveComparison found = CompareCurve(Loss(kFalling), Loss(values), {}, {});
  EXPECT_EQ(found.state, CurveState::kWithin);
  EXPECT_EQ(found.differing, 1u);
  EXPECT_EQ(found.first_difference, 20);
}

TEST(CompareCurve, AlignsByStepAndCountsTheRest) {
  CurveSeries a = Loss(kFalling);
  CurveSeries b = Loss(kFalling);
  a.steps.front() = 1;
  b.steps.push_back(100);
  b.values.push_back(5.0);
  const CurveComparison found = CompareCurve(a, b, {}, {});
  EXPECT_EQ(found.state, CurveState::kIdentical);
  EXPECT_EQ(found.steps, (std::vector<std::int64_t>{10, 15, 20, 25, 30}));
  EXPECT_EQ(found.only_a, 1u);
  EXPECT_EQ(found.only_b, 2u);
  EXPECT_THAT(found.message, HasSubstr("1 and 2 further steps are in A or B alone."));
}

TEST(CompareCurve, NeverPassesACurveThatCannotTell) {
  struct Case {
    CurveSeries a;
    CurveSeries b;
    const char* vacuity;
  };
  const std::vector<Case> cases = {
      {Loss({0, 0, 0, 0, 0}), Loss({0, 0, 0, 0, 0}), "constant"},
      {Loss({2, 2, 2, 2, 2}), Loss({3, 3, 3, 3, 3}), "constant"},
      {Loss({4, 3, 2, 1}), Loss({4, 3, 2, 1}), "too_short"},
      {Loss({}), Loss({}), "too_short"},
      {Loss({4, kNan, 2, 1, 1}), Loss({4, kNan, 2, 1, 1}), "too_short"},
      {Loss({kNan, kNan, kNan, kNan, kNan}), Loss({kNan, kNan, kNan, kNan, kNan}), "not_finite"},
      // 0.5 % of 1.0 is half a printed unit.
      {Loss({1.2, 1.1, 1, 0.9, 0.8}, 0.01), Loss({1.2, 1.1, 1, 0.9, 0.8}, 0.01), "too_coarse"},
      // 5 decimals are enough for a loss of 10 and not for one that has come down to 0.001.
      {Loss({10, 1, 0.001, 0.001, 0.0012}, 1e-5), Loss({10, 1, 0.001, 0.001, 0.0012}, 1e-5),
       "too_coarse"},
      // More zeros than values, each coarse.
      {Loss({0, 0, 0, 0.5, 0.6}, 0.01), Loss({0, 0, 0, 0.5, 0.6}, 0.01), "too_coarse"},
  };
  for (const Case& one : cases) {
    const CurveComparison found = CompareCurve(one.a, one.b, {one.a, one.b}, {});
    EXPECT_EQ(found.state, CurveState::kVacuous) << found.message;
    EXPECT_EQ(found.vacuity, one.vacuity) << found.message;
    EXPECT_THAT(found.message, HasSubstr("cannot tell"));
  }
}

TEST(CompareCurve, TakesTheSizeOfACurveThatCrossesZeroFromItsValuesAwayFromZero) {
  const std::vector<double> values = {-1.001, 0, 0.999, 0, -0.5, 0.501};
  const CurveComparison fine = CompareCurve(Loss(values, 1e-3), Loss(values, 1e-3), {}, {});
  EXPECT_EQ(fine.state, CurveState::kIdentical) << fine.message;
}

TEST(CompareCurve, FindsALossThatTurnsNonFiniteBeyondAnyBand) {
  std::vector<double> values = kFalling;
  values[4] = kNan;
  values[5] = HUGE_VAL;
  const CurveComparison found = CompareCurve(Loss(kFalling), Loss(values), {}, {});
  EXPECT_EQ(found.state, CurveState::kBeyond);
  EXPECT_EQ(found.first_non_finite, 25);
  EXPECT_EQ(found.message, "lm loss is finite in A and not in B at step 25 (9.5 in A, nan in B).");
  const CurveComparison short_one = CompareCurve(Loss({2, 1}), Loss({2, kNan}), {}, {});
  EXPECT_EQ(short_one.state, CurveState::kBeyond);
}

TEST(CompareCurve, TakesANonFiniteResourceForOneThatWasNotLogged) {
  std::vector<double> values = kFalling;
  values[0] = kNan;
  const auto found =
      CompareCurve(Series("iteration-time", kFalling), Series("iteration-time", values), {}, {});
  EXPECT_EQ(found.kind, CurveKind::kResource);
  EXPECT_EQ(found.state, CurveState::kUndecided);
}

// One-sided tolerance factor for 99 % with confidence 95 % at n = 14: 3.585 (Odeh and Owen 1980).
TEST(GrowthModel, LimitIsTheToleranceLimitOfTheRecord) {
  const double expected = std::pow(10.0, -4.565909 + 3.585 * 0.235538);
  EXPECT_NEAR(GrowthLimit(kPublishedGrowth, 0.01) / expected, 1.0, 5e-4);
  EXPECT_NEAR(expected, 1.9e-4, 1e-6);
  EXPECT_TRUE(std::isnan(GrowthLimit(kPublishedGrowth, 0.0)));
  EXPECT_TRUE(std::isnan(GrowthLimit(GrowthRecord{}, 0.01)));
}

TEST(CompareCurve, PutsADifferenceBelowTheGrowthLimitWithinAndOneAboveBeyond) {
  const auto within = CompareCurve(Loss(kFalling), Loss(Scaled(kFalling, 2, 1.8e-4)), {}, {});
  EXPECT_EQ(within.state, CurveState::kWithin) << within.message;
  EXPECT_EQ(within.basis, "growth_model");
  EXPECT_EQ(within.false_alarm, 0.01);
  EXPECT_NEAR(within.statistic, 1.8 / 1.9, 0.01);
  EXPECT_NEAR(within.max_rel, 1.8e-4, 1e-12);
  const auto beyond = CompareCurve(Loss(kFalling), Loss(Scaled(kFalling, 2, 2e-3)), {}, {});
  EXPECT_EQ(beyond.state, CurveState::kBeyond);
  EXPECT_EQ(beyond.first_difference, 15);
  EXPECT_EQ(beyond.first_beyond, 15);
  EXPECT_EQ(beyond.message,
            "lm loss first differs at step 15 (10 in A, 10.02 in B) and leaves the band at step 15 "
            "(10 in A, 10.02 in B): apart by 0.02 or 0.2 %, against a limit of 0.0019 from the "
            "divergence that one upgrade showed in 14 published models.");
}

TEST(CompareCurve, GrantsOneUnitOfThePrintedPlace) {
  std::vector<double> values = kFalling;
  values[1] += 0.01;
  EXPECT_EQ(CompareCurve(Loss(kFalling, 0.01), Loss(values, 0.01), {}, {}).state,
            CurveState::kWithin);
  values[1] += 0.01;
  EXPECT_EQ(CompareCurve(Loss(kFalling, 0.01), Loss(values, 0.01), {}, {}).state,
            CurveState::kBeyond);
}

TEST(CompareCurve, ClaimsNothingOfWhatThePublishedRecordDoesNotCover) {
  const auto reason = [](CurveSeries a) {
    CurveSeries b = a;
    b.values.back() *= 1.1;
    const CurveComparison found = CompareCurve(a, b, {}, {});
    EXPECT_EQ(found.state, CurveState::kUndecided);
    EXPECT_EQ(found.basis, "none");
    EXPECT_EQ(found.false_alarm, 0.0);
    EXPECT_TRUE(found.band.empty());
    EXPECT_THAT(found.message, HasSubstr("--replicate"));
    return found.message;
  };
  CurveSeries later = Loss(kFalling);
  later.steps.back() = 101;
  EXPECT_THAT(reason(later), HasSubstr("covers steps 1 to 100 and this curve steps 5 to 101"));
  EXPECT_THAT(reason(Loss({3, 2.5, 2, 1.5, 1})), HasSubstr("losses of 6.5 to 14"));
  CurveSeries dense;
  dense.name = "loss";
  for (int i = 1; i <= 50; ++i) {
    dense.steps.push_back(i);
    dense.values.push_back(10.0 - 0.01 * i);
  }
  EXPECT_THAT(reason(dense), HasSubstr("at most 25 values a curve and this one 50"));
  EXPECT_THAT(reason(Series("eval_accuracy", kFalling)), HasSubstr("for losses alone"));
}

TEST(CompareCurve, WritesLargeDifferencesWithoutAnExponent) {
  const std::vector<double> a = {3.0, 2.5, 2.0, 1.5, 1.0};
  const auto found = CompareCurve(Loss(a), Loss(Scaled(a, 4, 1.5)), {}, {});
  EXPECT_THAT(found.message, HasSubstr("apart by 150 % at most (step 25)"));
  const std::vector<double> bytes(5, 1754654208.0);
  const auto constant =
      CompareCurve(Series("mem-bytes", bytes), Series("mem-bytes", bytes), {}, {});
  EXPECT_EQ(constant.message, "mem-bytes cannot tell: it is 1754654208 throughout.");
}

TEST(CompareCurve, TakesItsBandFromReplicates) {
  const std::vector<double> a = {3.0, 2.5, 2.0, 1.5, 1.0};
  const CurveSeries replicate = Loss(Scaled(a, 1, 1e-3));
  const auto near = CompareCurve(Loss(a), Loss(Scaled(a, 1, -2e-3)), {replicate}, {});
  EXPECT_EQ(near.state, CurveState::kWithin) << near.message;
  EXPECT_EQ(near.basis, "replicates");
  EXPECT_EQ(near.false_alarm, 0.0);
  EXPECT_THAT(near.rule, HasSubstr("no rate of false alarms is stated"));
  // The largest difference is that of step 10, 0.0025; one replicate gives a factor of 5.9553.
  EXPECT_NEAR(near.band[4], 0.0025 * 5.9553, 1e-6);
  const auto far = CompareCurve(Loss(a), Loss(Scaled(a, 2, 0.02)), {replicate}, {});
  EXPECT_EQ(far.state, CurveState::kBeyond);
  EXPECT_EQ(far.first_beyond, 15);
  EXPECT_THAT(far.message, HasSubstr("from 2 runs of the same configuration."));
}

TEST(CompareCurve, LearnsNothingFromReplicatesThatAreEqualOrIncomplete) {
  const std::vector<double> a = {3.0, 2.5, 2.0, 1.5, 1.0};
  CurveSeries incomplete = Loss(Scaled(a, 1, 1e-3));
  incomplete.values[3] = kNan;
  const auto found = CompareCurve(Loss(a), Loss(Scaled(a, 1, 1e-6)), {Loss(a), incomplete}, {});
  EXPECT_EQ(found.state, CurveState::kUndecided);
  EXPECT_THAT(found.message, HasSubstr("1 replicates lack a finite value on some step"));
  EXPECT_THAT(found.message, HasSubstr("1 replicates equal another run to the last bit"));
}

TEST(CompareCurves, PairsByNameWithLossesFirst) {
  const std::vector<CurveSeries> a = {Series("mem-bytes", kFalling), Series("b accuracy", kFalling),
                                      Series("a accuracy", kFalling), Series("z loss", kFalling),
                                      Series("y loss", kFalling)};
  const std::vector<CurveSeries> b = {Series("z loss", Scaled(kFalling, 0, 0.01)),
                                      Series("b accuracy", kFalling), Series("mem-bytes", kFalling),
                                      Series("x loss", kFalling)};
  const std::vector<CurveComparison> found = CompareCurves(a, b, {}, {});
  ASSERT_EQ(found.size(), 6u);
  std::string text;
  for (const CurveComparison& one : found) {
    text += one.name + " " + std::string(CurveStateName(one.state)) + "\n";
  }
  EXPECT_EQ(text,
            "x loss missing\ny loss missing\nz loss beyond\na accuracy missing\n"
            "b accuracy identical\nmem-bytes identical\n");
  EXPECT_EQ(found[0].message, "x loss is in B alone.");
  EXPECT_EQ(found[1].message, "y loss is in A alone.");
  EXPECT_EQ(found[1].only_a, 6u);
}

TEST(CompareCurves, GivesEachNameItsReplicates) {
  const std::vector<double> a = {3.0, 2.5, 2.0, 1.5, 1.0};
  const std::vector<CurveSeries> run = {Series("other", a), Loss(Scaled(a, 1, 1e-3))};
  const auto found = CompareCurves({Loss(a)}, {Loss(Scaled(a, 1, 1e-3))}, {run}, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].basis, "replicates");
}

TEST(CompareCurve, ComparesAMillionSteps) {
  constexpr std::int64_t kSteps = 1'000'000;
  CurveSeries a{"loss", {}, {}, 0.0};
  for (std::int64_t i = 0; i < kSteps; ++i) {
    a.steps.push_back(i);
    a.values.push_back(2.0 + 8.0 / (1.0 + 0.001 * static_cast<double>(i)));
  }
  std::vector<CurveSeries> replicates(5, a);
  for (std::size_t r = 0; r < 5; ++r) {
    for (double& value : replicates[r].values) {
      value *= 1.0 + 1e-6 * (r % 2 == 0 ? 1.0 : -1.0) * static_cast<double>(r + 1);
    }
  }
  CurveSeries b = a;
  for (std::size_t i = 700'000; i < b.values.size(); ++i) b.values[i] *= 1.01;
  const CurveComparison found = CompareCurve(a, b, replicates, {});
  EXPECT_EQ(found.state, CurveState::kBeyond);
  EXPECT_EQ(found.first_beyond, 700'000);
  EXPECT_EQ(found.differing, 300'000u);
}

}  // namespace
}  // namespace rharness
