// The ladder for a record and its reruns: every rung, and what must never pass.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/comparison.h"

namespace rharness {
namespace {

using State = RerunEnd::State;

enum class Bits { kEqual, kDiffer };

CheckpointComparison Weights(Bits bits) {
  CheckpointComparison weights{.subject = "weights model.safetensors"};
  weights.difference.compared = 4;
  weights.difference.bit_equal = bits == Bits::kEqual;
  if (bits == Bits::kDiffer) {
    TensorDifference& tensor = weights.difference.differing.emplace_back();
    tensor.name = "fc1.weight";
    tensor.elements = 640;
    tensor.differing = 3;
    tensor.max_ulp = 1;
  }
  return weights;
}

MetricDecision Metric(MetricVerdict verdict, double p = 0.5) {
  MetricDecision metric;
  metric.name = "test_accuracy";
  metric.verdict = verdict;
  metric.history = {0.95, 0.96};
  metric.reruns = {0.94};
  metric.recorded = 0.95;
  metric.difference = -0.015;
  metric.standard_error = 0.01;
  metric.p_difference = p;
  metric.margin = 0.01;
  return metric;
}

Comparison RunOf(std::vector<CheckpointComparison> checkpoints, bool bitwise = false) {
  Comparison run;
  run.is_rerun = true;
  run.declared_bitwise = run.expect_bitwise = bitwise;
  run.ends = {{.index = 1, .state = State::kCompared}};
  for (std::size_t i = 0; i < kLayers.size(); ++i) {
    run.layers[i].layer = kLayers[i];
    run.layers[i].state = LayerState::kSame;
    run.layers[i].compared = 1;
  }
  run.checkpoints = std::move(checkpoints);
  return run;
}

Comparison Stopped(State state, std::string reason, std::optional<Layer> layer = {}) {
  Comparison run = RunOf({});
  run.ends = {{.index = 1, .state = state, .reason = std::move(reason), .layer = layer}};
  return run;
}

void AddDifference(Comparison* run, Layer layer, std::string key, FactWeight weight) {
  LayerComparison& comparison = run->layers[static_cast<std::size_t>(layer)];
  comparison.state = LayerState::kDiffers;
  comparison.differences.push_back({layer, std::move(key), weight, "old", "new"});
}

// Judged, with a first finding that is decisive and says something.
Comparison JudgedRerun(Comparison run) {
  JudgeComparison(&run);
  EXPECT_FALSE(run.findings.empty());
  if (!run.findings.empty()) {
    EXPECT_TRUE(run.findings.front().decisive);
    EXPECT_FALSE(run.findings.front().message.empty());
  }
  return run;
}

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
  EXPECT_EQ(judged.findings.back().code, "infrastructure") << "the lost rerun is not hidden";
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

TEST(JudgeReruns, IgnoresSecondaryMetrics) {
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.metrics = {Metric(MetricVerdict::kWithin), Metric(MetricVerdict::kDrifted, 1e-9)};
  run.metrics[1].primary = false;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kEquivalent);
}

TEST(JudgeReruns, ASecondaryMetricThatDiffersIsNotIdentical) {
  Comparison run = RunOf({Weights(Bits::kEqual)});
  run.metrics = {Metric(MetricVerdict::kInconclusive)};
  run.metrics[0].primary = false;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kEquivalent) << "the model is the same bit for bit";
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

// A loss that is beyond its band, by accepted upgrades unless said otherwise.
CurveComparison Beyond(std::string basis = "upgrades") {
  CurveComparison curve{
      .name = "train_loss", .kind = CurveKind::kLoss, .state = CurveState::kBeyond};
  curve.steps = {1, 2, 3};
  curve.a = {3, 2, 1};
  curve.b = {6, 4, 2};
  curve.differing = 3;
  curve.basis = std::move(basis);
  curve.statistic = 4.0;
  curve.message = "the loss is off.";
  return curve;
}

Comparison SeenTwice(Comparison run) {
  run.ends.push_back({.index = 2, .state = State::kCompared});
  return run;
}

TEST(JudgeReruns, NeverPassACurveThatRoundingDoesNotExplainWhateverMetricsSay) {
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.metrics = {Metric(MetricVerdict::kWithin)};
  run.metrics[0].difference = 0.005;
  run.curves = {Beyond()};
  // Metrics within what was declared and a band without a stated rate: neither settles it.
  for (const Comparison& open : {JudgedRerun(run), JudgedRerun(SeenTwice(run))}) {
    EXPECT_EQ(open.verdict, Verdict::kInconclusive);
    EXPECT_EQ(open.findings.front().code, "curve_unexplained");
    EXPECT_NE(open.headline.find("--replicates 3"), std::string::npos) << open.headline;
    EXPECT_FALSE(open.needs_confirmation);
  }
  run.metrics[0].default_margin = true;  // nobody said that this much does not matter
  EXPECT_EQ(JudgedRerun(SeenTwice(run)).verdict, Verdict::kDrifted);
  run.metrics[0].default_margin = false;
  run.metrics[0].difference = 0.02;  // beyond its margin
  EXPECT_EQ(JudgedRerun(SeenTwice(run)).verdict, Verdict::kDrifted);
}

TEST(JudgeReruns, DriftByACurveThatRunsSiblingsOrItsSizeShowToBeBeyond) {
  Comparison run = SeenTwice(RunOf({Weights(Bits::kDiffer)}));
  run.metrics = {Metric(MetricVerdict::kWithin)};
  run.metrics[0].difference = 0.005;
  std::vector<CurveComparison> shown = {Beyond("replicates"), Beyond("rounding"), Beyond("margin"),
                                        Beyond("upgrades")};
  shown[2].nature = DifferenceNature::kShifted;  // off by ten margins
  shown[3].open_margin = 0.01;                   // siblings were asked
  for (const CurveComparison& curve : shown) {
    run.curves = {curve};
    const Comparison judged = JudgedRerun(run);
    EXPECT_EQ(judged.verdict, Verdict::kDrifted) << curve.basis;
    EXPECT_EQ(judged.findings.front().code, "curve_beyond_band");
  }
}

TEST(JudgeReruns, AskForOneMoreRerunBeforeADriftByACurveIsClaimed) {
  for (const char* basis : {"upgrades", "replicates", "rounding", "margin"}) {
    Comparison run = RunOf({Weights(Bits::kDiffer)});
    run.curves = {Beyond(basis)};
    const Comparison once = JudgedRerun(run);
    EXPECT_EQ(once.verdict, Verdict::kInconclusive) << basis;
    EXPECT_TRUE(once.needs_confirmation);
    EXPECT_EQ(once.more_reruns, 1);
    const Comparison twice = JudgedRerun(SeenTwice(run));
    EXPECT_EQ(twice.verdict, Verdict::kDrifted);
    EXPECT_FALSE(twice.needs_confirmation);
  }
  // Beside something else that is open, too: what was not read hides no drift.
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.checkpoints[0].not_compared = {"config.json was not compared"};
  run.curves = {Beyond()};
  EXPECT_TRUE(JudgedRerun(run).needs_confirmation);
}

TEST(JudgeReruns, ACurveOfAMetricDecidesByTheBandOfFurtherRuns) {
  Comparison run = SeenTwice(RunOf({Weights(Bits::kDiffer)}));
  run.curves = {Beyond("replicates")};
  run.curves[0].kind = CurveKind::kMetric;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kDrifted);
  run.curves[0].state = CurveState::kWithin;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kEquivalent);
  run.curves[0].kind = CurveKind::kResource;
  run.curves[0].state = CurveState::kBeyond;
  EXPECT_NE(JudgedRerun(run).verdict, Verdict::kDrifted);
}

TEST(JudgeReruns, AConstantCurveNeitherPassesNorStandsInTheWay) {
  CurveComparison rate{
      .name = "learning_rate", .kind = CurveKind::kMetric, .state = CurveState::kVacuous};
  rate.vacuity = "constant";
  rate.steps = {1, 2, 3};
  Comparison alone = RunOf({});
  alone.curves = {rate};
  EXPECT_EQ(JudgedRerun(alone).verdict, Verdict::kInconclusive);
  Comparison equal = RunOf({Weights(Bits::kEqual)}, true);
  equal.curves = {rate};
  EXPECT_EQ(JudgedRerun(equal).verdict, Verdict::kIdentical);
  Comparison within = RunOf({Weights(Bits::kDiffer)});
  within.curves = {rate};
  within.metrics = {Metric(MetricVerdict::kWithin)};
  EXPECT_EQ(JudgedRerun(within).verdict, Verdict::kEquivalent);
}

// A file that no reader opens: "other" unless its role lets it differ.
CheckpointComparison File(Bits bits, bool matters = true) {
  CheckpointComparison file{.subject = matters ? "other model.pkl" : "log train.log"};
  file.weights = false;
  file.from_digests = file.is_file = true;
  file.matters = matters;
  file.digest_a = std::string(64, 'a');
  file.digest_b = std::string(64, bits == Bits::kEqual ? 'a' : 'b');
  file.difference.bit_equal = bits == Bits::kEqual;
  if (bits == Bits::kDiffer && matters) file.not_compared = {"model.pkl has other bytes"};
  return file;
}

TEST(JudgeReruns, NeverPassAFileThatNoReaderOpensAndThatDiffers) {
  EXPECT_EQ(JudgedRerun(RunOf({File(Bits::kEqual)})).verdict, Verdict::kIdentical);
  EXPECT_EQ(JudgedRerun(RunOf({File(Bits::kEqual)}, true)).verdict, Verdict::kIdentical);
  Comparison open = RunOf({Weights(Bits::kEqual), File(Bits::kDiffer)});
  open.metrics = {Metric(MetricVerdict::kWithin)};
  EXPECT_EQ(JudgedRerun(open).verdict, Verdict::kInconclusive);
  EXPECT_EQ(JudgedRerun(open).headline, "model.pkl has other bytes");
  const Comparison promised = JudgedRerun(RunOf({Weights(Bits::kEqual), File(Bits::kDiffer)}, true));
  EXPECT_EQ(promised.verdict, Verdict::kDrifted);
  EXPECT_EQ(promised.findings.front().code, "determinism_violation");
}

TEST(JudgeReruns, OfALogThatDiffersAreEquivalentAndNotIdentical) {
  for (const bool bitwise : {true, false}) {
    const Comparison judged =
        JudgedRerun(RunOf({Weights(Bits::kEqual), File(Bits::kDiffer, false)}, bitwise));
    EXPECT_EQ(judged.verdict, Verdict::kEquivalent);
    EXPECT_NE(judged.headline.find("log train.log"), std::string::npos) << judged.headline;
    EXPECT_EQ(JudgedRerun(RunOf({Weights(Bits::kEqual), File(Bits::kEqual, false)}, bitwise)).verdict,
              Verdict::kIdentical);
  }
  EXPECT_EQ(JudgedRerun(RunOf({Weights(Bits::kDiffer), File(Bits::kDiffer, false)}, true)).verdict,
            Verdict::kDrifted);
  // That two logs are equal shows nothing of a model.
  EXPECT_EQ(JudgedRerun(RunOf({File(Bits::kEqual, false)})).verdict, Verdict::kInconclusive);
}

// Stores that cannot hold an infinity keep the largest number in its place.
TEST(JudgeReruns, TakeNoPlaceholderForAMeasurement) {
  const double largest = std::numeric_limits<double>::max();
  const double single = static_cast<double>(std::numeric_limits<float>::max());
  for (const double placeholder : {largest, -largest, single}) {
    Comparison run = RunOf({});
    run.metrics = {Metric(MetricVerdict::kInconclusive)};
    run.metrics[0].history = run.metrics[0].reruns = {placeholder};
    run.metrics[0].recorded = placeholder;
    EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive) << placeholder;
  }
  Comparison run = RunOf({});
  run.metrics = {Metric(MetricVerdict::kDrifted)};
  run.metrics[0].reruns = {largest};
  EXPECT_EQ(JudgedRerun(run).findings.front().code, "non_finite");
}

}  // namespace
}  // namespace rharness
