// The ladder of a comparison of two things, rung by rung.
#include "compare/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/judge_findings.h"

namespace rharness {
namespace {

CheckpointComparison Weights(bool equal) {
  CheckpointComparison weights{.subject = "weights m.safetensors"};
  weights.difference.compared = 4;
  weights.difference.bit_equal = equal;
  if (!equal) {
    TensorDifference& tensor = weights.difference.differing.emplace_back();
    tensor.name = "fc2.weight";
    tensor.elements = 640;
    tensor.differing = 3;
    tensor.first_index = 17;
    tensor.max_ulp = 2;
    tensor.max_abs = 1e-9;
  }
  return weights;
}

CurveComparison Loss(CurveState state) {
  CurveComparison curve{.name = "lm loss", .kind = CurveKind::kLoss, .state = state};
  curve.steps = {1, 2, 3};
  curve.a = {3, 2, 1};
  curve.b = {3, 2, 1};
  curve.message = "the loss says so";
  if (state != CurveState::kIdentical) curve.differing = 1, curve.first_difference = 3;
  return curve;
}

MetricDecision Accuracy(double a, double b, MetricVerdict verdict) {
  MetricDecision metric;
  metric.name = "accuracy";
  metric.history = {a};
  metric.reruns = {b};
  metric.verdict = verdict;
  metric.difference = b - a;
  return metric;
}

Comparison Judged(Comparison comparison) {
  JudgeComparison(&comparison);
  return comparison;
}

TEST(JudgeComparison, FindsEqualWeightsIdentical) {
  const Comparison judged = Judged({.checkpoints = {Weights(true)}});
  EXPECT_EQ(judged.verdict, Verdict::kIdentical);
  EXPECT_FALSE(judged.headline.empty());
}

CurveComparison Other(const std::string& name, CurveKind kind, CurveState state, int differing) {
  CurveComparison curve = Loss(CurveState::kIdentical);
  curve.name = name;
  curve.kind = kind;
  curve.state = state;
  curve.differing = static_cast<std::uint64_t>(differing);
  curve.message = name + " says so";
  return curve;
}

// An accuracy beside further runs.
CurveComparison Judgeable(CurveState state) {
  CurveComparison curve = Other("eval_accuracy", CurveKind::kMetric, state, 3);
  curve.basis = "replicates";
  return curve;
}

TEST(JudgeComparison, ACurveThatIsNoLossDecidesByFurtherRuns) {
  const auto judged = [](std::vector<CurveComparison> curves) {
    return Judged({.expect_bitwise = false, .curves = std::move(curves)});
  };
  const Comparison far = judged({Judgeable(CurveState::kBeyond)});
  EXPECT_EQ(far.verdict, Verdict::kDrifted);
  EXPECT_EQ(far.headline, "eval_accuracy says so");
  EXPECT_EQ(judged({Loss(CurveState::kWithin), Judgeable(CurveState::kBeyond)}).verdict,
            Verdict::kDrifted);
  EXPECT_EQ(judged({Judgeable(CurveState::kWithin)}).verdict, Verdict::kEquivalent);
  EXPECT_EQ(judged({Judgeable(CurveState::kUndecided)}).verdict, Verdict::kInconclusive);
  EXPECT_EQ(judged({Loss(CurveState::kWithin), Judgeable(CurveState::kUndecided)}).verdict,
            Verdict::kEquivalent)
      << "beside a loss it advises";
  const CurveComparison norm = Other("grad norm", CurveKind::kMetric, CurveState::kUndecided, 3);
  EXPECT_EQ(judged({Judgeable(CurveState::kWithin), norm}).verdict, Verdict::kInconclusive)
      << "nothing judges the other one, and there is no loss";
  CurveComparison alone = Judgeable(CurveState::kBeyond);
  alone.basis = "none";
  EXPECT_EQ(judged({alone}).verdict, Verdict::kInconclusive);
}

TEST(JudgeComparison, ALogOfAnotherIntervalIsIdenticalAndOneThatEndsEarlyIsOpen) {
  CurveComparison loss = Loss(CurveState::kIdentical);
  loss.only_a = 12;
  EXPECT_EQ(Judged({.curves = {loss}}).verdict, Verdict::kInconclusive);
  loss.subsampled = true;
  EXPECT_EQ(Judged({.curves = {loss}}).verdict, Verdict::kIdentical);
  EXPECT_EQ(Judged({.declared_bitwise = true, .curves = {loss}}).verdict, Verdict::kIdentical);
  CurveComparison near = Loss(CurveState::kWithin);
  near.only_b = 12;
  EXPECT_EQ(Judged({.expect_bitwise = false, .curves = {near}}).verdict, Verdict::kInconclusive);
  near.subsampled = true;
  EXPECT_EQ(Judged({.expect_bitwise = false, .curves = {near}}).verdict, Verdict::kEquivalent);
}

TEST(JudgeComparison, AnAdvisingCurveThatChangedBesideAnEqualLossIsNamedAndNoRounding) {
  const Comparison judged =
      Judged({.expect_bitwise = false,
              .curves = {Loss(CurveState::kIdentical),
                         Other("num-zeros", CurveKind::kMetric, CurveState::kUndecided, 3)}});
  EXPECT_EQ(judged.verdict, Verdict::kInconclusive);
  EXPECT_EQ(judged.headline, "num-zeros says so");
  EXPECT_EQ(judged.findings.front().subject, "curve num-zeros");
  EXPECT_EQ(judged.findings.front().observed, "3 of 3 steps");
  // Where the loss moved within its band, rounding is what moved both.
  const Comparison rounded =
      Judged({.expect_bitwise = false,
              .curves = {Loss(CurveState::kWithin),
                         Other("num-zeros", CurveKind::kMetric, CurveState::kUndecided, 3)}});
  EXPECT_EQ(rounded.verdict, Verdict::kEquivalent);
}

TEST(JudgeComparison, EqualConstantCurvesDoNotHideThatTwoLogsAreOne) {
  const auto zeros = Other("lm loss", CurveKind::kLoss, CurveState::kVacuous, 0);
  const auto memory = Other("mem-bytes", CurveKind::kResource, CurveState::kIdentical, 0);
  EXPECT_EQ(Judged({.curves = {zeros}}).verdict, Verdict::kInconclusive);
  EXPECT_EQ(Judged({.curves = {zeros, memory}}).verdict, Verdict::kIdentical);
  EXPECT_EQ(Judged({.curves = {memory}}).verdict, Verdict::kInconclusive) << "memory alone is none";
  const auto time = Other("iteration-time", CurveKind::kResource, CurveState::kUndecided, 1);
  EXPECT_EQ(Judged({.curves = {zeros, memory, time}}).verdict, Verdict::kInconclusive);
}

TEST(JudgeComparison, NamesTheFirstDifferingTensorWhereBitsAreExpected) {
  const Comparison judged = Judged({.expect_bitwise = true, .checkpoints = {Weights(false)}});
  EXPECT_EQ(judged.verdict, Verdict::kDrifted);
  EXPECT_EQ(judged.findings.front().code, "bits_differ");
  EXPECT_NE(judged.headline.find("fc2.weight at index 17"), std::string::npos) << judged.headline;
}

TEST(JudgeComparison, LeavesDifferingWeightsOpenWhereNothingElseJudgesThem) {
  const Comparison judged = Judged({.expect_bitwise = false, .checkpoints = {Weights(false)}});
  EXPECT_EQ(judged.verdict, Verdict::kInconclusive);
}

// A tensor of four is this far away, relative to its norm; NaN: digests alone were at hand.
CheckpointComparison WeightsApart(double distance) {
  CheckpointComparison weights = Weights(false);
  TensorDifference& tensor = weights.difference.differing.front();
  tensor.norm_a = tensor.norm_b = 2.0;
  tensor.norm_difference = 2.0 * distance;
  if (std::isnan(distance)) tensor.elements = 0;
  return weights;
}

Comparison EqualLossBeside(double distance, double loss, DType dtype = DType::kF32) {
  Comparison comparison{.expect_bitwise = false,
                        .checkpoints = {WeightsApart(distance)},
                        .curves = {Loss(CurveState::kIdentical)}};
  comparison.curves.front().a[1] = comparison.curves.front().b[1] = loss;
  comparison.checkpoints.front().difference.differing.front().dtype = dtype;
  return Judged(std::move(comparison));
}

TEST(JudgeComparison, PassesNoWeightsThatContradictLossesThatAreEqual) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  constexpr double kSingle = 0.12345679F;  // the digits of fp32
  constexpr double kDouble = 0.12345678901234567;
  for (const double loss : {kSingle, kDouble}) {
    const Comparison judged = EqualLossBeside(0.03, loss);
    EXPECT_EQ(judged.verdict, Verdict::kInconclusive);
    EXPECT_EQ(judged.findings.front().code, kWeightsContradictLosses);
    EXPECT_EQ(judged.headline,
              "weights m.safetensors: fc2.weight is 0.03 of its norm away, 1 of 4 tensors differ, "
              "and yet curve lm loss is equal to the bit: these are not the weights that it is of, "
              "or a part of them is not");
  }
  EXPECT_EQ(EqualLossBeside(kUnknown, kDouble).verdict, Verdict::kInconclusive);
  // Rounding, losses of few digits, and what is not learned contradict nothing.
  EXPECT_EQ(EqualLossBeside(1e-6, kDouble).verdict, Verdict::kEquivalent);
  EXPECT_EQ(EqualLossBeside(0.03, 0.123).verdict, Verdict::kEquivalent);
  EXPECT_EQ(EqualLossBeside(0.5, 0.123).verdict, Verdict::kEquivalent) << "1 of its norm at least";
  EXPECT_EQ(EqualLossBeside(0.03, 0.12346).verdict, Verdict::kInconclusive);
  EXPECT_EQ(EqualLossBeside(kUnknown, kSingle).verdict, Verdict::kEquivalent);
  EXPECT_EQ(EqualLossBeside(0.03, kDouble, DType::kU8).verdict, Verdict::kEquivalent);
}

TEST(JudgeComparison, AsksOfLossesThatAreMetricsAlikeAndNotWhereOneMoved) {
  const auto metric = [](const std::string& name, double a, double b) {
    MetricDecision made = Accuracy(a, b, MetricVerdict::kWithin);
    made.name = name;
    made.primary = true;
    made.standard_error = 0.1;
    return made;
  };
  Comparison comparison{.expect_bitwise = false,
                        .checkpoints = {WeightsApart(0.03)},
                        .metrics = {metric("accuracy", 11.0 / 12, 11.0 / 12)}};
  EXPECT_EQ(Judged(comparison).verdict, Verdict::kEquivalent) << "a ratio of counts comes twice";
  comparison.metrics.push_back(metric("test_loss", 0.123456789, 0.123456789));
  EXPECT_EQ(Judged(comparison).headline.find("weights m.safetensors: fc2.weight is 0.03 of"), 0U);
  comparison.metrics.push_back(metric("train_loss", 0.123456789, 0.123456788));
  EXPECT_EQ(Judged(comparison).verdict, Verdict::kEquivalent);
}

TEST(JudgeComparison, TakesNoEqualPartOfTheWeightsForTheWhole) {
  const Comparison judged =
      Judged({.expect_bitwise = false, .checkpoints = {Weights(true), Weights(false)}});
  EXPECT_EQ(judged.verdict, Verdict::kInconclusive);
  EXPECT_EQ(judged.headline.find("weights m.safetensors: "), 0U) << judged.headline;
}

TEST(JudgeComparison, CallsDifferingWeightsEquivalentWhenTheLossIsWithinItsBand) {
  const Comparison judged = Judged({.expect_bitwise = false,
                                    .checkpoints = {Weights(false)},
                                    .curves = {Loss(CurveState::kWithin)}});
  EXPECT_EQ(judged.verdict, Verdict::kEquivalent);
}

TEST(JudgeComparison, DriftsOnALossBeyondItsBandWhateverTheMetricsSay) {
  const Comparison judged = Judged({.expect_bitwise = false,
                                    .curves = {Loss(CurveState::kBeyond)},
                                    .metrics = {Accuracy(0.9, 0.9, MetricVerdict::kWithin)}});
  EXPECT_EQ(judged.verdict, Verdict::kDrifted);
  EXPECT_EQ(judged.findings.front().code, "curve_beyond_band");
  // One pair is one look: what it asks for is said.
  EXPECT_TRUE(judged.needs_confirmation);
  EXPECT_EQ(judged.findings.back().code, "single_pair");
}

TEST(JudgeComparison, NeverLetsAResourceCurveDecide) {
  CurveComparison time = Loss(CurveState::kBeyond);
  time.name = "iteration-time";
  time.kind = CurveKind::kResource;
  const Comparison judged =
      Judged({.expect_bitwise = true, .curves = {Loss(CurveState::kIdentical), time}});
  EXPECT_EQ(judged.verdict, Verdict::kIdentical);
}

TEST(JudgeComparison, DoesNotPassOnVacuousCurvesAlone) {
  for (const bool bitwise : {false, true}) {
    const Comparison judged =
        Judged({.expect_bitwise = bitwise, .curves = {Loss(CurveState::kVacuous)}});
    EXPECT_NE(judged.verdict, Verdict::kIdentical);
    EXPECT_NE(judged.verdict, Verdict::kEquivalent);
    EXPECT_EQ(judged.findings.back().code, "vacuous_curve");
  }
}

TEST(JudgeComparison, DoesNotPassACurveThatEndsEarly) {
  CurveComparison cut = Loss(CurveState::kIdentical);
  cut.only_a = 40;
  EXPECT_EQ(Judged({.expect_bitwise = false, .curves = {cut}}).verdict, Verdict::kInconclusive);
}

TEST(JudgeComparison, DriftsWhenAFiniteLossStopsBeingFinite) {
  CurveComparison curve = Loss(CurveState::kUndecided);
  curve.first_non_finite = 2;
  const Comparison judged = Judged({.expect_bitwise = false, .curves = {curve}});
  EXPECT_EQ(judged.verdict, Verdict::kDrifted);
  EXPECT_EQ(judged.findings.front().code, "non_finite");
}

TEST(JudgeComparison, RefusesToCompareRunsOnOtherDataEvenIfTheyAgree) {
  Comparison comparison{.checkpoints = {Weights(true)}};
  comparison.layers[0] = {.layer = Layer::kData, .state = LayerState::kDiffers, .compared = 1};
  comparison.layers[0].differences.push_back(
      {Layer::kData, "data.train.sha256", FactWeight::kIdentity, "aa", "bb"});
  const Comparison judged = Judged(comparison);
  EXPECT_EQ(judged.verdict, Verdict::kNotComparable);
  EXPECT_EQ(judged.findings.front().layer, Layer::kData);
}

TEST(JudgeComparison, SaysWhenTwoThingsHaveNothingInCommon) {
  CheckpointComparison disjoint{.subject = "weights"};
  disjoint.difference.only_a = {"a"};
  disjoint.difference.only_b = {"b"};
  for (const Comparison& comparison : {Comparison{}, Comparison{.checkpoints = {disjoint}}}) {
    const Comparison judged = Judged(comparison);
    EXPECT_EQ(judged.verdict, Verdict::kNotComparable);
    EXPECT_EQ(judged.findings.front().code, "nothing_in_common");
  }
}

TEST(JudgeComparison, KeepsAnUnreadableSideNotComparable) {
  Comparison comparison;
  comparison.findings.push_back(
      {.code = "unreadable", .message = "before.json: is empty", .decisive = true});
  const Comparison judged = Judged(comparison);
  EXPECT_EQ(judged.verdict, Verdict::kNotComparable);
  EXPECT_EQ(judged.headline, "before.json: is empty");
}

TEST(JudgeComparison, ComparesMetricsByTheirBitsWhereBitsAreExpected) {
  const double above = std::nextafter(0.9, 1.0);
  const auto with = [](double a, double b) {
    return Judged(
               {.expect_bitwise = true, .metrics = {Accuracy(a, b, MetricVerdict::kInconclusive)}})
        .verdict;
  };
  EXPECT_EQ(with(0.9, 0.9), Verdict::kIdentical);
  EXPECT_EQ(with(0.9, above), Verdict::kDrifted);
  EXPECT_EQ(with(0.0, -0.0), Verdict::kDrifted);
}

TEST(JudgeComparison, IgnoresOptimizerStateUnlessBitsAreExpected) {
  CheckpointComparison optimizer = Weights(false);
  optimizer.weights = false;
  optimizer.subject = "optimizer state m.pt";
  for (const bool bitwise : {true, false}) {
    const Comparison judged = Judged({.expect_bitwise = bitwise,
                                      .checkpoints = {Weights(true), optimizer},
                                      .curves = {Loss(CurveState::kIdentical)}});
    EXPECT_EQ(judged.verdict, bitwise ? Verdict::kDrifted : Verdict::kEquivalent);
  }
}

TEST(JudgeComparison, ComparesEnvironmentsByTheirFacts) {
  Comparison comparison;
  comparison.layers[2] = {.layer = Layer::kEnvironment, .state = LayerState::kSame, .compared = 3};
  EXPECT_EQ(Judged(comparison).verdict, Verdict::kIdentical);
  comparison.layers[2].differences.push_back(
      {Layer::kEnvironment, "software.cuda", FactWeight::kContext, "12.8", "13.0"});
  const Comparison judged = Judged(comparison);
  EXPECT_EQ(judged.verdict, Verdict::kDrifted);
  EXPECT_EQ(judged.findings.front().subject, "software.cuda");
}

TEST(JudgeComparison, FindsNothingShownByTheFactsOfRecordsOrOfUnlikeThings) {
  Comparison comparison;
  comparison.layers[2] = {.layer = Layer::kEnvironment, .state = LayerState::kSame, .compared = 3};
  comparison.a.kind = comparison.b.kind = SideKind::kEnvironment;
  EXPECT_EQ(Judged(comparison).verdict, Verdict::kIdentical);
  comparison.b.kind = SideKind::kFingerprint;
  EXPECT_EQ(Judged(comparison).verdict, Verdict::kInconclusive);
  comparison.a.kind = comparison.b.kind = SideKind::kManifest;
  EXPECT_EQ(Judged(comparison).verdict, Verdict::kInconclusive);
}

TEST(Tally, CountsEveryVerdictAndTakesTheWorstExitCode) {
  ComparisonSet set;
  set.comparisons.resize(3);
  set.comparisons[0].verdict = Verdict::kIdentical;
  set.comparisons[1].verdict = Verdict::kEquivalent;
  set.comparisons[2].verdict = Verdict::kNotComparable;
  Tally(&set);
  EXPECT_EQ(set.exit_code, 3);
  EXPECT_EQ(set.counts.size(), kVerdicts.size());
  EXPECT_EQ(set.counts["equivalent"], 1);
  EXPECT_EQ(set.counts["drifted"], 0);
}

}  // namespace
}  // namespace rharness
