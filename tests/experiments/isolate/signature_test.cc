// What counts as the same difference, and what both ends of a noisy search come to.
#include "harness/experiments/isolate/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <limits>
#include <random>

#include "harness/experiments/isolate/calibration.h"
#include "harness/experiments/isolate/search_cost.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kYes = TrialAnswer::kReproduces;
constexpr auto kNo = TrialAnswer::kDoesNot;
constexpr auto kPartly = TrialAnswer::kPartly;
constexpr auto kOther = TrialAnswer::kOther;
constexpr auto kSkipped = TrialAnswer::kSkipped;

Comparison Ended(RerunEnd::State state = RerunEnd::State::kCompared, const std::string& why = "") {
  Comparison comparison;
  comparison.ends = {{.index = 1, .state = state, .reason = why}};
  return comparison;
}

MetricDecision Metric(const std::string& name, double recorded, double seen, double margin = 0.0) {
  return {.name = name,
          .history = {recorded},
          .reruns = {seen},
          .recorded = recorded,
          .margin = margin};
}

CheckpointComparison Weights(const std::vector<std::string>& differing) {
  CheckpointComparison checkpoint{.subject = "weights m"};
  checkpoint.difference.bit_equal = differing.empty();
  for (const std::string& name : differing)
    checkpoint.difference.differing.push_back({.name = name});
  return checkpoint;
}

TEST(Signature, TensorsThatDifferAreItWhereBitsCount) {
  Comparison comparison = Ended();
  comparison.checkpoints = {Weights({"a", "b"})};
  comparison.metrics = {Metric("loss", 1.0, 1.0001)};
  const Signature bits = SignatureOf(comparison, true);
  EXPECT_EQ(bits.changed, std::set<std::string>({"weights m: a", "weights m: b"}));
  EXPECT_TRUE(SignatureOf(comparison, false).Empty());
  EXPECT_THAT(DescribeSignature(bits), ElementsAre("2 tensors of weights m differ, first a"));
  comparison.checkpoints = {Weights({})};
  EXPECT_EQ(SignatureOf(comparison, true).changed, std::set<std::string>({"metric loss"}));
}

TEST(Signature, AMetricMovesByMoreThanItsMarginOrAHundredth) {
  const auto moved = [](double recorded, double seen, double margin) {
    Comparison comparison = Ended();
    comparison.metrics = {Metric("m", recorded, seen, margin)};
    return SignatureOf(comparison, false).moved;
  };
  EXPECT_TRUE(moved(0.9, 0.88, 0.03).empty());
  EXPECT_NEAR(moved(0.9, 0.8, 0.03).at("m"), -0.1, 1e-12);
  EXPECT_TRUE(moved(1.0, 1.005, 0.0).empty());
  EXPECT_NEAR(moved(1.0, 1.05, 0.0).at("m"), 0.05, 1e-12);
}

TEST(Signature, WhatStoppedBeingFiniteIsNamed) {
  Comparison comparison = Ended();
  comparison.metrics = {Metric("m", 1.0, std::numeric_limits<double>::quiet_NaN())};
  EXPECT_EQ(SignatureOf(comparison, false).changed,
            std::set<std::string>({"metric m: not finite"}));
}

TEST(Signature, OfWhatWasNotRerunOrHoldsNothingSaysNothing) {
  EXPECT_EQ(SignatureOf(Ended(RerunEnd::State::kInfra, "no engine"), true).not_judged, "no engine");
  EXPECT_EQ(SignatureOf(Ended(RerunEnd::State::kNotComparable, "no data"), true).not_judged,
            "no data");
  EXPECT_FALSE(SignatureOf(Ended(), true).not_judged.empty());
  const Signature failed = SignatureOf(Ended(RerunEnd::State::kFailed, "exited with 3"), true);
  EXPECT_EQ(failed.failure, "exited with 3");
  EXPECT_EQ(SignatureOf(Ended(RerunEnd::State::kFailed, "timed out after 12 s"), true).failure,
            SignatureOf(Ended(RerunEnd::State::kFailed, "timed out after 345 s"), true).failure);
  EXPECT_EQ(
      DescribeInLine(SignatureOf(Ended(RerunEnd::State::kFailed, "timed out after 12 s"), true)),
      "timed out after 12 s");
}

Signature Moved(double amount, const std::set<std::string>& changed = {}) {
  Signature signature{.changed = changed, .differences = {{"m", amount}}};
  if (amount != 0.0) signature.moved["m"] = amount;
  return signature;
}

TEST(Relate, TheSameIsAllOfItTheSameWayAndNothingBeside) {
  const Signature target = Moved(-0.2, {"weights m: a", "weights m: b"});
  EXPECT_EQ(Relate(target, target), kYes);
  EXPECT_EQ(Relate(target, Moved(-0.15, target.changed)), kYes);
  EXPECT_EQ(Relate(target, Moved(-0.05, target.changed)),
            kPartly);  // rounding beside the real thing
  EXPECT_EQ(Relate(target, Moved(0.05, target.changed)), kPartly);
  EXPECT_EQ(Relate(target, Moved(0.2, target.changed)), kOther);
  EXPECT_EQ(Relate(target, Moved(-0.2, {"weights m: a"})), kPartly);
  EXPECT_EQ(Relate(target, Moved(0.0)), kNo);
  EXPECT_EQ(Relate(target, Moved(-0.2, {"weights m: a", "weights m: c"})), kOther);
  Signature beside = target;
  beside.moved["n"] = 1.0;
  EXPECT_EQ(Relate(target, beside), kOther);
  EXPECT_EQ(Relate(Signature(), Signature()), kNo);
}

TEST(Relate, FailuresAreToldApart) {
  const Signature crash{.failure = "exited with 3"};
  EXPECT_EQ(Relate(crash, crash), kYes);
  EXPECT_EQ(Relate(crash, {.failure = "exited with 4"}), kOther);
  EXPECT_EQ(Relate(crash, Moved(0.0)), kNo);
  EXPECT_EQ(Relate(Moved(-0.2), crash), kOther);
  EXPECT_EQ(Relate(crash, {.not_judged = "no engine"}), kSkipped);
  Signature missing = Moved(-0.2);
  missing.differences.clear();
  missing.moved.clear();
  EXPECT_EQ(Relate(Moved(-0.2), missing), kSkipped);
}

TEST(Relate, AFailureIsTheSameWhereverTheRerunWorked) {
  const auto failed = [](const std::string& why) {
    return SignatureOf(Ended(RerunEnd::State::kFailed, why), true);
  };
  const Signature target =
      failed("output 'm/a': /one/runs/x/1/workspace/m/a: byte 9: ends after 12 bytes");
  EXPECT_EQ(target.failure, "output 'm/a': m/a: byte #: ends after # bytes");
  EXPECT_EQ(Relate(target, failed("output 'm/a': /a folder/why/runs/x/2/workspace/m/a: byte 9: "
                                  "ends after 12 bytes")),
            kYes);
  EXPECT_EQ(Relate(target, failed("output 'm/b': /one/runs/x/1/workspace/m/b: byte 9: "
                                  "ends after 12 bytes")),
            kOther);
  EXPECT_EQ(failed("/workspace/m: lost").failure, "m: lost");
  EXPECT_EQ(failed("no/workspace/m: lost").failure, "no/workspace/m: lost");
}

TEST(Relate, CurvesCountByTheirWay) {
  Signature target;
  target.curves["loss"] = 1;
  Signature other = target;
  EXPECT_EQ(Relate(target, other), kYes);
  other.curves["loss"] = -1;
  EXPECT_EQ(Relate(target, other), kOther);
  other.curves.clear();
  EXPECT_EQ(Relate(target, other), kNo);
}

SearchEndReruns EndOf(const std::vector<double>& values) {
  SearchEndReruns end;
  double mean = 0.0;
  int number = 0;
  for (const double value : values) {
    mean += value / static_cast<double>(values.size());
    end.each.push_back(Moved(value));
    end.outputs.push_back(
        {.rerun = ++number, .group = "g", .digests = {{"metric m", std::to_string(value)}}});
  }
  end.together = Moved(mean);
  return end;
}

TEST(Calibrate, EqualRerunsMakeOneRerunEnough) {
  const Calibration one = Calibrate(EndOf({-0.2, -0.2}), EndOf({0.0, 0.0}), nullptr);
  EXPECT_TRUE(one.exact);
  EXPECT_TRUE(one.why_not.empty());
}

TEST(Calibrate, CutsNoisyRunsInTheMiddleAndSaysHowOftenThatIsWrong) {
  const Calibration far =
      Calibrate(EndOf({-0.2, -0.22, -0.18}), EndOf({0.02, -0.02, 0.0}), nullptr);
  EXPECT_FALSE(far.exact);
  EXPECT_EQ(far.metric, "m");
  EXPECT_NEAR(far.middle, -0.1, 1e-9);
  EXPECT_NEAR(far.miss, 0.5 / 4, 1e-9) << "three reruns of an end show no less";
  EXPECT_EQ(RelateNoisy(far, Moved(-0.15)), kYes);
  EXPECT_EQ(RelateNoisy(far, Moved(-0.05)), kNo);
  EXPECT_EQ(RelateNoisy(far, {.failure = "exited with 3"}), kOther);
  EXPECT_EQ(RelateNoisy(far, {.not_judged = "x"}), kSkipped);
  const Calibration near = Calibrate(EndOf({-0.2, -0.3, -0.1}), EndOf({0.1, -0.1, 0.0}), nullptr);
  EXPECT_GT(near.miss, far.miss);
  // t of 4 degrees of freedom: 0.1 / (0.1 * sqrt(7/6)) = 0.9258; P(T > 0.9258) = 0.2034.
  EXPECT_NEAR(near.miss, 0.2034, 5e-4);
}

TEST(Calibrate, StopsWhereTheEndsAreNotWhatTheyMustBe) {
  EXPECT_EQ(Calibrate(EndOf({0.0, 0.0}), EndOf({0.0, 0.0}), nullptr).end,
            SearchEnd::kNotReproduced);
  EXPECT_EQ(Calibrate(EndOf({-0.2, -0.2}), EndOf({-0.2, -0.2}), nullptr).end,
            SearchEnd::kNotAmongThese);
  EXPECT_EQ(Calibrate(EndOf({-0.5, 0.3, -0.4}), EndOf({0.5, -0.5, 0.1}), nullptr).end,
            SearchEnd::kBudget);
  const Signature expected = Moved(0.4);
  EXPECT_EQ(Calibrate(EndOf({-0.2, -0.2}), EndOf({0.0, 0.0}), &expected).end,
            SearchEnd::kNotReproduced);
  SearchEndReruns broken = EndOf({-0.2, -0.2});
  broken.together.not_judged = "no engine";
  EXPECT_THAT(Calibrate(broken, EndOf({0.0, 0.0}), nullptr).why_not, HasSubstr("no engine"));
}

// Searches that know of their noise what three reruns of each end say of it, over distributions
// that overlap by 0.1 to 32 %.
// Reruns of which the first ones fail.
SearchEndReruns Failing(int reruns, int failed) {
  SearchEndReruns end;
  for (int i = 0; i < reruns; ++i) {
    end.each.push_back(i < failed ? Signature{.failure = "the run exited with 1"} : Moved(0.0));
  }
  end.together = end.each.front();
  return end;
}

TEST(Calibrate, AFailureThatComesAndGoesIsNoiseAtTheRateAtWhichItCame) {
  const Calibration flaky = Calibrate(Failing(8, 5), Failing(8, 0), nullptr);
  ASSERT_EQ(flaky.why_not, "");
  EXPECT_FALSE(flaky.exact);
  EXPECT_NEAR(flaky.miss, 3.5 / 9, 1e-9);
  EXPECT_NEAR(flaky.false_reproduces, 0.5 / 9, 1e-9);
  EXPECT_EQ(RelateNoisy(flaky, Signature{.failure = "the run exited with 1"}), kYes);
  EXPECT_EQ(RelateNoisy(flaky, Signature{.failure = "the run exited with 2"}), kOther);
  EXPECT_EQ(RelateNoisy(flaky, Moved(0.0)), kNo);
  EXPECT_TRUE(Calibrate(Failing(3, 3), Failing(3, 0), nullptr).exact);
  EXPECT_THAT(Calibrate(Failing(8, 3), Failing(8, 0), nullptr).why_not, HasSubstr("3 of 8 reruns"));
}

TEST(Calibrate, IsGoodEnoughForTheStatedChanceOfAWrongCause) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0.0, 1.0);
  std::array<int, 4> named{};
  std::array<int, 4> wrong{};
  for (std::size_t i = 0; i < 1600; ++i) {
    const std::size_t cell = i % 4;
    const double apart =
        2.0 + 1.5 * static_cast<double>(cell);  // of the ends' means, in standard deviations
    const std::size_t cause = i % 7;
    const auto draw = [&](bool there) { return (there ? -apart : 0.0) + noise(random); };
    const auto draws = [&](bool there) {
      std::vector<double> values;
      for (int rerun = 0; rerun < 3; ++rerun) values.push_back(draw(there));
      return EndOf(values);
    };
    const Calibration calibration = Calibrate(draws(true), draws(false), nullptr);
    if (!calibration.why_not.empty()) continue;
    const SearchRules rules{
        .false_reproduces = calibration.miss, .miss = calibration.miss, .ends_known = true};
    const auto run = [&](const Positions& at) {
      return RelateNoisy(calibration, Moved(draw(at[cause] == 1)));
    };
    const PlayedSearch played = PlaySearch(Positions(7, 1), rules, run, 3000);
    if (played.state.end != SearchEnd::kNamed) continue;
    ++named[cell];
    if (played.state.causes != std::vector<CauseSet>({{{{cause, 1}}}})) ++wrong[cell];
  }
  for (std::size_t cell = 0; cell < 4; ++cell) {
    std::printf("ends %.1f deviations apart: %d wrong of %d named\n",
                2.0 + 1.5 * static_cast<double>(cell), wrong[cell], named[cell]);
    EXPECT_GT(named[cell], 200);
    EXPECT_LE(wrong[cell], named[cell] / 20);
  }
}

}  // namespace
}  // namespace rharness
