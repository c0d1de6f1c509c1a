// Two curves: states, vacuity, bases, limits and what the sentences say.
#include "compare/curves/curve_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
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
  EXPECT_EQ(found.state, CurveState::kWithin) << found.message;
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
      {Loss({2, 2, 2, 2, 2}), Loss({2.1, 2.1, 2.1, 2.1, 2.1}), "constant"},
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

// A loss that falls over 60 values with the noise of batches; the same batches for the same seed.
std::vector<double> Training(double noise = 0.05) {
  std::vector<double> values;
  std::uint64_t state = 7;
  for (int i = 0; i < 60; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const double uniform = static_cast<double>(state >> 11) * 0x1p-53 - 0.5;
    values.push_back(8.0 + 3.0 * std::exp(-0.05 * i) + noise * uniform);
  }
  return values;
}

// With differences of this relative size and no direction.
std::vector<double> Jittered(std::vector<double> values, double relative) {
  std::uint64_t state = 11;
  for (double& value : values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value *= 1.0 + relative * 2.0 * (static_cast<double>(state >> 11) * 0x1p-53 - 0.5);
  }
  return values;
}

TEST(CompareCurve, PutsWhatAcceptedUpgradesDoWithinAndSaysWhatItLooksLike) {
  const auto rounding = CompareCurve(Loss(Training()), Loss(Jittered(Training(), 1e-5)), {}, {});
  EXPECT_EQ(rounding.state, CurveState::kWithin) << rounding.message;
  EXPECT_EQ(rounding.basis, "upgrades");
  EXPECT_EQ(rounding.nature, DifferenceNature::kRounding);
  EXPECT_EQ(rounding.false_alarm, 0.0) << "no rate is stated from four upgrades";
  EXPECT_THAT(rounding.message, HasSubstr("as small as rounding makes it"));
  const auto stream = CompareCurve(Loss(Training()), Loss(Jittered(Training(), 4e-4)), {}, {});
  EXPECT_EQ(stream.state, CurveState::kWithin) << stream.message;
  EXPECT_EQ(stream.nature, DifferenceNature::kNewStream);
  EXPECT_THAT(stream.message, HasSubstr("new stream of random numbers"));
}

TEST(CompareCurve, FindsADirectionThatNoiseDoesNotHave) {
  const auto shifted =
      CompareCurve(Loss(Training()), Loss(Scaled(Jittered(Training(), 2e-4), 30, 2e-3)), {}, {});
  EXPECT_EQ(shifted.state, CurveState::kBeyond) << shifted.message;
  EXPECT_EQ(shifted.nature, DifferenceNature::kShifted);
  EXPECT_GT(shifted.shift, 1e-3);
  EXPECT_GE(shifted.shift_first, 150);
  EXPECT_GT(shifted.statistic, 1.0);
  EXPECT_THAT(shifted.message, HasSubstr("on average over steps"));
  std::vector<double> spike = Training();
  spike[20] *= 1.01;
  const auto spiked = CompareCurve(Loss(Training()), Loss(spike), {}, {});
  EXPECT_EQ(spiked.state, CurveState::kBeyond);
  EXPECT_EQ(spiked.nature, DifferenceNature::kSpike);
  EXPECT_EQ(spiked.first_beyond, 105);
}

TEST(CompareCurve, TellsOtherBatchesBySizeBesideItsOwnNoise) {
  const auto found = CompareCurve(Loss(Training()), Loss(Jittered(Training(), 5e-3)), {}, {});
  EXPECT_EQ(found.state, CurveState::kBeyond) << found.message;
  EXPECT_EQ(found.nature, DifferenceNature::kOtherBatches);
  EXPECT_THAT(found.message, HasSubstr("as other batches would make it"));
}

// Batches so noisy that a difference of 2 % is small beside them, and hides what matters.
TEST(CompareCurve, LeavesOpenWhatScattersTooMuchAndSaysNothingOfItsNature) {
  const auto found = CompareCurve(Loss(Training(4.0)), Loss(Jittered(Training(4.0), 0.02)), {}, {});
  EXPECT_EQ(found.state, CurveState::kUndecided) << found.message;
  EXPECT_EQ(found.nature, DifferenceNature::kNone);
  EXPECT_THAT(found.message, HasSubstr("would not show"));
}

TEST(CompareCurve, TellsSmallerStepsByTheirTrace) {
  // Three per cent fewer steps: the trend is behind, the batches' noise is where it was.
  std::vector<double> behind = Training();
  for (std::size_t i = 0; i < behind.size(); ++i) {
    const double t = static_cast<double>(i);
    behind[i] += 3.0 * (std::exp(-0.05 * 0.97 * t) - std::exp(-0.05 * t));
  }
  const auto found = CompareCurve(Loss(Training()), Loss(behind), {}, {});
  EXPECT_EQ(found.state, CurveState::kBeyond) << found.message;
  EXPECT_EQ(found.nature, DifferenceNature::kProgress);
  EXPECT_NEAR(found.progress, -0.03, 0.006);
  EXPECT_THAT(found.message, HasSubstr("B is behind by"));
}

TEST(CompareCurve, JudgesALossOnEvaluationDataByAMargin) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(3.0 + 2.0 * std::exp(-0.3 * i));
  const auto near =
      CompareCurve(Series("val_loss", values), Series("val_loss", Scaled(values, 3, 2e-3)), {}, {});
  EXPECT_EQ(near.state, CurveState::kWithin) << near.message;
  EXPECT_EQ(near.basis, "margin");
  EXPECT_THAT(near.rule, HasSubstr("default margin of 1 %"));
  EXPECT_EQ(near.nature, DifferenceNature::kNone) << "nothing says that this is rounding";
  const auto far =
      CompareCurve(Series("val_loss", values), Series("val_loss", Scaled(values, 3, 3e-2)), {}, {});
  EXPECT_EQ(far.state, CurveState::kBeyond) << far.message;
  const auto open = CompareCurve(Series("val_loss", values),
                                 Series("val_loss", Jittered(values, 1.2e-2)), {}, {});
  EXPECT_EQ(open.state, CurveState::kUndecided) << open.message;
  CurveRules declared;
  declared.margin = 1e-3;
  declared.margin_declared = true;
  const auto strict = CompareCurve(Series("val_loss", values),
                                   Series("val_loss", Scaled(values, 3, 2e-3)), {}, declared);
  EXPECT_EQ(strict.state, CurveState::kBeyond) << strict.message;
  EXPECT_THAT(strict.message, HasSubstr("declared margin of 0.1 %"));
}

TEST(CompareCurve, NeverLeavesAGrossDifferenceOpen) {
  const std::vector<std::vector<double>> shapes = {
      Training(), {4, 3, 2, 1}, {2, 2, 2, 2, 2, 2}, {0.7, 0.6, 0.5}};
  for (const std::vector<double>& values : shapes) {
    for (const char* name : {"loss", "val_loss"}) {
      for (const double factor : {2.0, 0.0, -1.0}) {
        const auto found = CompareCurve(Series(name, values),
                                        Series(name, Scaled(values, 0, factor - 1.0)), {}, {});
        EXPECT_EQ(found.state, CurveState::kBeyond) << found.message;
        EXPECT_TRUE(found.first_beyond.has_value());
      }
    }
  }
  const auto zeros = CompareCurve(Loss({0, 0, 0, 0, 0}), Loss({1, 1, 1, 1, 1}), {}, {});
  EXPECT_EQ(zeros.state, CurveState::kVacuous) << "of nothing there is no share";
  const auto metric = CompareCurve(Series("eval_accuracy", kFalling),
                                   Series("eval_accuracy", Scaled(kFalling, 0, 1.0)), {}, {});
  EXPECT_EQ(metric.state, CurveState::kUndecided) << "what is no loss advises";
  EXPECT_THAT(metric.message, HasSubstr("for losses alone"));
}

// Seeds of a small model: its runs lie far apart themselves.
TEST(CompareCurve, LeavesWhatIsGrossToTheBandOfRunsThatAreGrosslyApartThemselves) {
  const auto run = [](int i) {
    return Loss(Jittered(Scaled(Training(), 0, 0.03 * ((i % 5) - 2)), 0.4 + 0.01 * i));
  };
  const CurveSeries b = Loss(Jittered(Training(), 0.43));
  EXPECT_EQ(CompareCurve(Loss(Training()), b, {}, {}).state, CurveState::kBeyond);
  std::vector<CurveSeries> replicates;
  for (int i = 0; i < 5; ++i) replicates.push_back(run(i));
  const auto found = CompareCurve(Loss(Training()), b, replicates, {});
  EXPECT_NE(found.state, CurveState::kBeyond) << found.message;
  EXPECT_EQ(found.basis, "replicates");
  const auto doubled = CompareCurve(Loss(Training()), Loss(Scaled(Training(), 0, 1.0)),
                                    {Loss(Jittered(Training(), 1e-3))}, {});
  EXPECT_EQ(doubled.state, CurveState::kBeyond) << "its replicate is close";
}

TEST(CompareCurves, TellsALogThatStoppedFromALossThatOverflowed) {
  const auto cut = [](std::vector<double> values, double with) {
    for (std::size_t i = 40; i < values.size(); ++i) values[i] = with;
    return values;
  };
  const std::vector<CurveSeries> a = {Loss(Training()), Series("iteration-time", Training())};
  const auto stopped = CompareCurves(
      a, {Loss(cut(Training(), kNan)), Series("iteration-time", cut(Training(), kNan))}, {}, {});
  EXPECT_EQ(stopped[0].state, CurveState::kUndecided) << stopped[0].message;
  EXPECT_EQ(stopped[0].stopped_after, 200);
  EXPECT_THAT(stopped[0].message, HasSubstr("B's log stops after step 200"));
  const auto overflow =
      CompareCurves(a, {Loss(cut(Training(), kNan)), Series("iteration-time", Training())}, {}, {});
  EXPECT_EQ(overflow[0].state, CurveState::kBeyond) << overflow[0].message;
  const auto together = CompareCurves(
      {Loss(Training()), Series("grad norm", Training())},
      {Loss(cut(Training(), kNan)), Series("grad norm", cut(Training(), kNan))}, {}, {});
  EXPECT_EQ(together[0].state, CurveState::kBeyond) << "a loss and its gradients overflow together";
  const auto infinite = CompareCurves(
      a, {Loss(cut(Training(), HUGE_VAL)), Series("iteration-time", cut(Training(), kNan))}, {},
      {});
  EXPECT_EQ(infinite[0].state, CurveState::kBeyond) << "an infinity was computed";
}

TEST(CompareCurve, LeavesOutStepsThatNeitherSideLogged) {
  std::vector<double> a = Training(), b = Jittered(Training(), 1e-5);
  for (std::size_t i = 0; i < 20; ++i) a[i] = b[i] = kNan;
  const auto found = CompareCurve(Loss(a), Loss(b), {}, {});
  EXPECT_EQ(found.state, CurveState::kWithin) << found.message;
  b = Jittered(Training(), 1e-5);
  const auto more = CompareCurve(Loss(a), Loss(b), {}, {});
  EXPECT_EQ(more.state, CurveState::kUndecided) << more.message;
  EXPECT_THAT(more.message, HasSubstr("A alone is not finite on 20 of 60 steps"));
}

TEST(CompareCurve, WritesLargeDifferencesWithoutAnExponent) {
  const std::vector<double> a = {3.0, 2.5, 2.0, 1.5, 1.0};
  const auto found =
      CompareCurve(Series("accuracy", a), Series("accuracy", Scaled(a, 4, 1.5)), {}, {});
  EXPECT_THAT(found.message, HasSubstr("apart by 150 % at most (step 25)"));
  const std::vector<double> bytes(5, 1754654208.0);
  const auto constant =
      CompareCurve(Series("mem-bytes", bytes), Series("mem-bytes", bytes), {}, {});
  EXPECT_EQ(constant.message, "mem-bytes cannot tell: it is 1754654208 throughout.");
}

TEST(CompareCurve, TakesItsBandFromReplicates) {
  std::vector<CurveSeries> replicates;
  for (int i = 1; i <= 4; ++i) {
    replicates.push_back(
        Loss(Jittered(Scaled(Training(), 0, (i % 2 == 0 ? 1e-4 : -1e-4) * i), 1e-3 * i)));
  }
  const auto near =
      CompareCurve(Loss(Training()), Loss(Scaled(Training(), 0, 5e-4)), replicates, {});
  EXPECT_EQ(near.state, CurveState::kWithin) << near.message;
  EXPECT_EQ(near.basis, "replicates");
  EXPECT_EQ(near.false_alarm, 0.01);
  EXPECT_EQ(near.middle.size(), near.steps.size());
  const auto far =
      CompareCurve(Loss(Training()), Loss(Scaled(Training(), 0, 0.04)), replicates, {});
  EXPECT_EQ(far.state, CurveState::kBeyond) << far.message;
  EXPECT_THAT(far.message, HasSubstr("5 runs of the same configuration"));
  // What one replicate says is not enough to call a further run another thing.
  const auto one =
      CompareCurve(Loss(Training()), Loss(Scaled(Training(), 0, 0.04)), {replicates.front()}, {});
  EXPECT_EQ(one.state, CurveState::kUndecided) << one.message;
}

TEST(CompareCurve, LearnsNothingFromReplicatesThatAreEqualOrIncomplete) {
  CurveSeries incomplete = Loss(Scaled(Training(), 1, 1e-3));
  incomplete.values[3] = kNan;
  const auto found = CompareCurve(Loss(Training()), Loss(Jittered(Training(), 1e-6)),
                                  {Loss(Training()), incomplete}, {});
  EXPECT_EQ(found.basis, "upgrades");
  EXPECT_THAT(found.rule, HasSubstr("1 replicate that had no finite value on some step"));
  EXPECT_THAT(found.rule, HasSubstr("1 replicate that equalled another run to the last bit"));
}

TEST(CompareCurves, PairsByNameWithLossesFirst) {
  const std::vector<CurveSeries> a = {Series("mem-bytes", kFalling), Series("b accuracy", kFalling),
                                      Series("a accuracy", kFalling), Series("z loss", kFalling),
                                      Series("y loss", kFalling)};
  const std::vector<CurveSeries> b = {Series("z loss", Scaled(kFalling, 0, 0.05)),
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
  const std::vector<CurveSeries> run = {Series("other", a), Loss(Scaled(a, 1, 2e-3))};
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
