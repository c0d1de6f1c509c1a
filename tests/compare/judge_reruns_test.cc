// The ladder for a record and its reruns: every rung, and what must never pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/compare/rerun_parts.h"

namespace rharness::reruns {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(JudgeReruns, OfNoRerunIsInfra) {
  Comparison run = RunOf({});
  run.ends.clear();
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInfra);
}

TEST(JudgeReruns, OfEqualBitsIsIdenticalWhateverWasDeclared) {
  for (const bool bitwise : {true, false}) {
    EXPECT_EQ(JudgedRerun(RunOf({Weights(Bits::kEqual)}, bitwise)).verdict, Verdict::kIdentical);
  }
}

TEST(JudgeReruns, OfEqualBitsOnOtherHardwareIsStillIdentical) {
  Comparison run = RunOf({Weights(Bits::kEqual)}, true);
  AddDifference(&run, Layer::kHardware, "cpu.model", FactWeight::kClass);
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kIdentical);
}

TEST(JudgeReruns, NeverPassAComparisonOfNothing) {
  CheckpointComparison nothing{.subject = "weights m"};
  nothing.difference.vacuous = true;
  for (const bool bitwise : {true, false}) {
    EXPECT_EQ(JudgedRerun(RunOf({}, bitwise)).verdict, Verdict::kInconclusive)
        << "facts alone say nothing";
    EXPECT_EQ(JudgedRerun(RunOf({nothing}, bitwise)).verdict, Verdict::kInconclusive);
  }
}

TEST(JudgeReruns, IsNotIdenticalWhenADeclaredOutputIsMissing) {
  Comparison run = RunOf({Weights(Bits::kEqual)});
  run.findings.push_back({.code = "missing_checkpoint", .message = "optimizer o.pt: not written"});
  run.metrics = {Metric(MetricVerdict::kWithin)};
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive);
}

TEST(JudgeReruns, OfDifferentBitsInADeterministicRunIsADeterminismViolation) {
  Comparison run = RunOf({Weights(Bits::kDiffer)}, true);
  run.metrics = {Metric(MetricVerdict::kWithin)};  // no statistics can excuse it
  const Comparison judged = JudgedRerun(run);
  EXPECT_EQ(judged.verdict, Verdict::kDrifted);
  EXPECT_EQ(judged.findings.front().code, "determinism_violation");
  EXPECT_EQ(judged.findings.back().code, "metric_within") << "severity is graded all the same";
}

TEST(JudgeReruns, OfADeterministicRunThatEndsEarlyIsADeterminismViolation) {
  Comparison run = RunOf({Weights(Bits::kEqual)}, true);
  run.curves = {{.name = "train_loss", .kind = CurveKind::kLoss, .state = CurveState::kIdentical}};
  run.curves[0].steps = {1, 2, 3};
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kIdentical);
  run.curves[0].only_a = 2;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kDrifted);
  run.declared_bitwise = run.expect_bitwise = false;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive);
}

TEST(JudgeReruns, OfDifferentBitsOnAnotherHardwareClassIsNotComparable) {
  Comparison run = RunOf({Weights(Bits::kDiffer)}, true);
  AddDifference(&run, Layer::kHardware, "gpu.model", FactWeight::kClass);
  const Comparison judged = JudgedRerun(run);
  EXPECT_EQ(judged.verdict, Verdict::kNotComparable);
  EXPECT_EQ(judged.findings.front().layer, Layer::kHardware);
}

TEST(JudgeReruns, OfDifferentBitsFromAnUnknownStartIsNotComparable) {
  for (const bool bitwise : {true, false}) {
    Comparison run = RunOf({Weights(Bits::kDiffer)}, bitwise);
    run.findings.push_back({.code = std::string(kStartNotRecorded), .message = "model.pt"});
    const Comparison judged = JudgedRerun(run);
    EXPECT_EQ(judged.verdict, Verdict::kNotComparable);
    EXPECT_EQ(judged.findings.front().code, kStartNotRecorded);
    EXPECT_TRUE(judged.findings.front().decisive);
    run.checkpoints = {Weights(Bits::kEqual)};
    EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kIdentical) << "it played no part";
  }
}

TEST(JudgeReruns, IsNotComparableWhenAnIdentityDiffersEvenIfBitsAreEqual) {
  Comparison run = RunOf({Weights(Bits::kEqual)}, true);
  AddDifference(&run, Layer::kData, "data.train.sha256", FactWeight::kIdentity);
  const Comparison judged = JudgedRerun(run);
  EXPECT_EQ(judged.verdict, Verdict::kNotComparable);
  EXPECT_EQ(judged.findings.front().layer, Layer::kData);
  EXPECT_EQ(judged.findings.front().observed, "new");
  EXPECT_EQ(judged.findings.front().limit, "old");
  EXPECT_EQ(judged.findings.front().message, "data.train.sha256 is not the recorded one");
}

TEST(JudgeReruns, IgnoresContextThatDiffers) {
  Comparison run = RunOf({Weights(Bits::kEqual)}, true);
  AddDifference(&run, Layer::kEnvironment, "software.glibc", FactWeight::kContext);
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kIdentical);
}

TEST(JudgeReruns, FollowsTheEndOfTheReruns) {
  EXPECT_EQ(JudgedRerun(Stopped(State::kInfra, "registry down")).verdict, Verdict::kInfra);
  EXPECT_EQ(JudgedRerun(Stopped(State::kFailed, "killed by SIGSEGV")).verdict, Verdict::kFailed);
  const Comparison judged =
      JudgedRerun(Stopped(State::kNotComparable, "data changed", Layer::kData));
  EXPECT_EQ(judged.verdict, Verdict::kNotComparable);
  EXPECT_EQ(judged.findings.front().layer, Layer::kData);
  EXPECT_EQ(judged.findings.front().message, "data changed");
}

TEST(JudgeReruns, GoesByTheRerunsThatCameFarWhenOthersDidNot) {
  Comparison run = RunOf({Weights(Bits::kEqual)}, true);
  run.ends.push_back({.index = 2, .state = State::kInfra, .reason = "lost"});
  const Comparison judged = JudgedRerun(run);
  EXPECT_EQ(judged.verdict, Verdict::kIdentical);
  EXPECT_EQ(judged.findings.back().code, "infra") << "the lost rerun is not hidden";
}

TEST(JudgeReruns, OfAFailedRerunIsFailedEvenBesideAGoodOne) {
  Comparison run = RunOf({Weights(Bits::kEqual)}, true);
  run.ends.push_back({.index = 2, .state = State::kFailed, .reason = "timed out"});
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kFailed);
}

TEST(JudgeReruns, IsEquivalentOnlyWhenEveryPrimaryMetricIsWithin) {
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.metrics = {Metric(MetricVerdict::kWithin), Metric(MetricVerdict::kWithin)};
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kEquivalent);
  run.metrics[1].verdict = MetricVerdict::kInconclusive;
  run.metrics[1].more_reruns = 7;
  const Comparison judged = JudgedRerun(run);
  EXPECT_EQ(judged.verdict, Verdict::kInconclusive);
  EXPECT_EQ(judged.more_reruns, 7);
}

TEST(JudgeReruns, AMetricWithoutAMarginIsNamedBesideAPass) {
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.metrics = {Metric(MetricVerdict::kWithin), Metric(MetricVerdict::kInconclusive)};
  run.metrics[1].name = "f1";
  run.metrics[1].primary = false;
  const Comparison judged = JudgedRerun(run);
  EXPECT_EQ(judged.verdict, Verdict::kEquivalent);
  EXPECT_THAT(judged.headline,
              HasSubstr("; metrics that differ and do not decide: f1 (0.95, then"));
  run.metrics[1].reruns = {0.95};
  EXPECT_THAT(JudgedRerun(run).headline, Not(HasSubstr("not judged"))) << "it is equal";
}

TEST(JudgeReruns, AShownShiftOfAMetricWithoutAMarginIsNoDriftAndNoPass) {
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.metrics = {Metric(MetricVerdict::kWithin), Metric(MetricVerdict::kDrifted, 1e-9)};
  run.metrics[1].name = "f1";
  run.metrics[1].primary = false;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive);
  EXPECT_EQ(JudgedRerun(run).findings.front().subject, "metric f1");
  EXPECT_FALSE(JudgedRerun(run).needs_confirmation);
  run.metrics[1].verdict = MetricVerdict::kNeedsConfirmation;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive);
  EXPECT_TRUE(JudgedRerun(run).needs_confirmation) << "as of any other metric";
  EXPECT_EQ(JudgedRerun(run).more_reruns, 1);
  run.metrics[1].p_difference = 0.06;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kEquivalent) << "not at 5 % among them";
}

TEST(JudgeReruns, ALastValueIsJudgedByItsCurve) {
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.metrics = {Metric(MetricVerdict::kWithin), Metric(MetricVerdict::kDrifted, 1e-9)};
  run.metrics[1].name = "train_loss";
  run.metrics[1].primary = false;
  run.curves = {{.name = "train_loss", .kind = CurveKind::kLoss, .state = CurveState::kWithin}};
  run.curves[0].steps = {1, 2};
  run.curves[0].a = {0.99, 0.95};
  run.curves[0].b = {0.99, 0.94};
  run.curves[0].differing = 1;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kEquivalent);
  EXPECT_THAT(JudgedRerun(run).headline, Not(HasSubstr("not judged")));
  run.metrics[1].recorded = 0.5;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive)
      << "a summary, and not its last value";
}

TEST(JudgeReruns, AMetricThatDiffersBesideEqualBitsIsNoPass) {
  Comparison run = RunOf({Weights(Bits::kEqual)});
  run.metrics = {Metric(MetricVerdict::kInconclusive)};
  run.metrics[0].primary = false;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive)
      << "the model is the same bit for bit, and rounding did not change the metric";
  run.curves = {{.name = "f1", .state = CurveState::kUndecided}};
  run.curves[0].differing = 3;
  run.curves[0].message = "f1 differs";
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive) << "nor beside a second one";
  run.declared_bitwise = run.expect_bitwise = true;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kDrifted) << "every declared value was promised";
}

TEST(JudgeReruns, AsksForOneMoreRerunBeforeADriftSeenOnceIsClaimed) {
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.metrics = {Metric(MetricVerdict::kNeedsConfirmation, 1e-6)};
  const Comparison judged = JudgedRerun(run);
  EXPECT_EQ(judged.verdict, Verdict::kInconclusive);
  EXPECT_TRUE(judged.needs_confirmation);
  EXPECT_EQ(judged.more_reruns, 1);
}

TEST(JudgeReruns, HoldsSeveralPrimaryMetricsToTheFamilyWiseLevel) {
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  // 0.008 passes 0.01 alone; among four metrics Holm's first step asks for 0.0025.
  run.metrics = {Metric(MetricVerdict::kDrifted, 0.008), Metric(MetricVerdict::kWithin, 0.9),
                 Metric(MetricVerdict::kWithin, 0.9), Metric(MetricVerdict::kWithin, 0.9)};
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive);
  run.metrics[0].p_difference = 0.002;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kDrifted);
}

TEST(JudgeReruns, OfANonFiniteMetricIsDriftedWhateverTheBitsSay) {
  Comparison run = RunOf({Weights(Bits::kEqual)});
  run.metrics = {Metric(MetricVerdict::kDrifted, 1.0)};
  run.metrics[0].reruns = {std::numeric_limits<double>::infinity()};
  const Comparison judged = JudgedRerun(run);
  EXPECT_EQ(judged.verdict, Verdict::kDrifted);
  EXPECT_EQ(judged.findings.front().code, "non_finite");
}

// An extreme seed lies far from the mean of its family, and reproduces all the same.
TEST(JudgeReruns, NothingThatIsBitEqualToItsRecordDrifts) {
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.metrics = {Metric(MetricVerdict::kDrifted, 1e-9)};
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kDrifted);
  run.metrics[0].reruns = {0.95, 0.95};
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive)
      << "and an equal value beside other weights shows nothing";
}

TEST(JudgeReruns, NeverPassWhereOneRerunDidNotReportADeclaredValue) {
  for (const bool bitwise : {true, false}) {
    for (const bool primary : {true, false}) {
      Comparison run = RunOf({Weights(Bits::kEqual)}, bitwise);
      run.metrics = {Metric(MetricVerdict::kInconclusive)};
      run.metrics[0].reruns = {0.95, 0.95};  // of three
      run.metrics[0].primary = primary;
      EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kIdentical);
      run.metrics[0].reason = "no_margin, missing";
      const Comparison judged = JudgedRerun(run);
      EXPECT_EQ(judged.verdict, Verdict::kInconclusive);
      EXPECT_EQ(judged.findings.front().code, "missing_metric");
    }
  }
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.metrics = {Metric(MetricVerdict::kWithin)};
  run.curves = {{.name = "train_loss", .kind = CurveKind::kLoss, .state = CurveState::kMissing}};
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive);
  EXPECT_EQ(JudgedRerun(run).findings.front().code, "missing_curve");
}

TEST(JudgeReruns, TellOfTheCurveThatTestedMetricsOutrank) {
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.metrics = {Metric(MetricVerdict::kWithin)};
  run.curves = {{.name = "train_loss", .kind = CurveKind::kLoss, .state = CurveState::kUndecided}};
  run.curves[0].steps = {1, 2, 3};
  run.curves[0].differing = 3;
  run.curves[0].message = "apart by 27480 %";
  const Comparison judged = JudgedRerun(run);
  EXPECT_EQ(judged.verdict, Verdict::kEquivalent);
  EXPECT_EQ(judged.findings.back().message, "apart by 27480 %");
}

TEST(JudgeReruns, LetsTestedMetricsDecideWhereACurveCannot) {
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.curves = {{.name = "train_loss", .kind = CurveKind::kLoss, .state = CurveState::kUndecided}};
  run.curves[0].steps = {1, 2, 3};
  run.curves[0].differing = 3;
  run.curves[0].message = "nothing says how far a reordering goes";
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive);
  run.metrics = {Metric(MetricVerdict::kWithin)};
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kEquivalent);
  run.metrics[0].standard_error = 0.0;  // a single value that no test was made of
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive);
}

}  // namespace
}  // namespace rharness::reruns
