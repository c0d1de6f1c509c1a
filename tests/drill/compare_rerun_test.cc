// Manifest beside evidence: what is equal, what differs first, and what says nothing.
#include "harness/drill/compare_rerun.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/drill/facts_of.h"

namespace rharness {
namespace {

using ExactState = ExactComparison::State;
using RerunState = RerunComparison::State;

Manifest Recorded() {
  Manifest manifest;
  manifest.run_id = "r";
  manifest.family = "f";
  manifest.command = {"train"};
  manifest.determinism.declared = "bitwise";
  manifest.metrics = {Metric{.name = "loss", .value = 0.5, .primary = true}};
  manifest.curves = {Curve{"train_loss", {1, 2, 3}, {3.0, 2.0, 1.0}}};
  manifest.artifacts = {Artifact{.role = "weights",
                                 .path = "model.safetensors",
                                 .sha256 = std::string(64, 'a'),
                                 .tensor_digest = std::string(64, 'b'),
                                 .tensors = {{"w", "F32", {2}, std::string(64, 'c')}}}};
  return manifest;
}

Evidence Seen(const Manifest& manifest) {
  Evidence evidence;
  evidence.run_id = manifest.run_id;
  evidence.rerun = 1;
  evidence.outcome.kind = OutcomeKind::kExited;
  evidence.metrics.metrics["loss"] = 0.5;
  evidence.metrics.curves = manifest.curves;
  evidence.artifacts = manifest.artifacts;
  return evidence;
}

RerunComparison Compare(const Manifest& manifest, const Evidence& evidence) {
  return CompareRerun(manifest, evidence, Places{}, "/nowhere");
}

const ExactComparison& Exact(const RerunComparison& comparison, const std::string& subject) {
  for (const ExactComparison& exact : comparison.exact) {
    if (exact.subject == subject) return exact;
  }
  ADD_FAILURE() << "no comparison of " << subject;
  static const ExactComparison kNone;
  return kNone;
}

TEST(CompareRerun, ComparesWeightsMetricsAndCurves) {
  const Manifest manifest = Recorded();
  const RerunComparison comparison = Compare(manifest, Seen(manifest));
  EXPECT_EQ(comparison.state, RerunState::kCompared);
  ASSERT_EQ(comparison.exact.size(), 3U);
  for (const ExactComparison& exact : comparison.exact) {
    EXPECT_EQ(exact.state, ExactState::kEqual) << exact.subject;
  }
}

TEST(CompareRerun, NamesTheFirstDivergingStepOfACurve) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.metrics.curves[0].values[1] = std::nextafter(2.0, 3.0);
  const auto comparison = Compare(manifest, evidence);
  EXPECT_EQ(Exact(comparison, "curve train_loss").state, ExactState::kDiffers);
  EXPECT_EQ(Exact(comparison, "curve train_loss").first_difference, "step 2");
}

TEST(CompareRerun, SeesACurveThatEndsEarly) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.metrics.curves[0].steps.pop_back();
  evidence.metrics.curves[0].values.pop_back();
  EXPECT_EQ(Exact(Compare(manifest, evidence), "curve train_loss").state, ExactState::kDiffers);
}

TEST(CompareRerun, TellsZeroFromMinusZeroAndFindsNanEqualOnlyBitForBit) {
  Manifest manifest = Recorded();
  manifest.metrics[0].value = 0.0;
  Evidence evidence = Seen(manifest);
  evidence.metrics.metrics["loss"] = -0.0;
  EXPECT_EQ(Exact(Compare(manifest, evidence), "metric loss").state, ExactState::kDiffers);
  manifest.metrics[0].value = std::numeric_limits<double>::quiet_NaN();
  evidence.metrics.metrics["loss"] = manifest.metrics[0].value;
  EXPECT_EQ(Exact(Compare(manifest, evidence), "metric loss").state, ExactState::kEqual);
  evidence.metrics.metrics["loss"] = -manifest.metrics[0].value;
  EXPECT_EQ(Exact(Compare(manifest, evidence), "metric loss").state, ExactState::kDiffers);
}

TEST(CompareRerun, CallsAConstantCurveVacuous) {
  for (const double value : {1.0, std::numeric_limits<double>::quiet_NaN()}) {
    Manifest manifest = Recorded();
    manifest.curves[0].values = {value, value, value};
    EXPECT_EQ(Exact(Compare(manifest, Seen(manifest)), "curve train_loss").state,
              ExactState::kVacuous);
  }
}

TEST(CompareRerun, CallsACheckpointWithoutTensorsVacuous) {
  Manifest manifest = Recorded();
  manifest.artifacts[0].tensors.clear();
  EXPECT_EQ(Exact(Compare(manifest, Seen(manifest)), "weights model.safetensors").state,
            ExactState::kVacuous);
}

TEST(CompareRerun, NamesTheFirstDifferingTensorFromDigestsAlone) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.artifacts[0].tensor_digest = std::string(64, 'd');
  evidence.artifacts[0].tensors[0].sha256 = std::string(64, 'e');
  const auto comparison = Compare(manifest, evidence);
  const ExactComparison& weights = Exact(comparison, "weights model.safetensors");
  EXPECT_EQ(weights.state, ExactState::kDiffers);
  EXPECT_EQ(weights.first_difference, "tensor w");
}

TEST(CompareRerun, FindsEqualTensorsInAFileWithOtherMetadata) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.artifacts[0].sha256 = std::string(64, 'f');
  const auto comparison = Compare(manifest, evidence);
  const ExactComparison& weights = Exact(comparison, "weights model.safetensors");
  EXPECT_EQ(weights.state, ExactState::kEqual);
  EXPECT_NE(weights.detail.find("only metadata"), std::string::npos);
}

TEST(CompareRerun, SaysWhatIsMissing) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.metrics.metrics.clear();
  EXPECT_EQ(Exact(Compare(manifest, evidence), "metric loss").state, ExactState::kMissing);
}

TEST(CompareRerun, IsFailedWhenTheRunOrItsOutputIs) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.outcome = Outcome{.kind = OutcomeKind::kSignalled, .signal = 11};
  EXPECT_EQ(Compare(manifest, evidence).state, RerunState::kFailed);
  evidence = Seen(manifest);
  evidence.remarks = {Remark{.code = "output_unreadable", .message = "cut off at byte 12"}};
  EXPECT_EQ(Compare(manifest, evidence).state, RerunState::kFailed);
  EXPECT_EQ(Compare(manifest, evidence).reason, "cut off at byte 12");
}

TEST(CompareRerun, IsNotComparableWithTheLayerOfTheObstacleElseInfrastructure) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.obstacle = "no such commit";
  evidence.obstacle_layer = "code";
  EXPECT_EQ(Compare(manifest, evidence).state, RerunState::kNotComparable);
  EXPECT_EQ(Compare(manifest, evidence).layer, Layer::kCode);
  evidence.obstacle_layer.clear();
  EXPECT_EQ(Compare(manifest, evidence).state, RerunState::kInfra);
}

TEST(CompareRerun, IsNotComparableWhenAnInputChangedUnderTheRun) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.remarks = {Remark{.code = "data_changed_during_run", .layer = "data"}};
  EXPECT_EQ(Compare(manifest, evidence).state, RerunState::kNotComparable);
  EXPECT_EQ(Compare(manifest, evidence).layer, Layer::kData);
}

TEST(DecideMetrics, ComparesWithTheRunsOfTheSameConfigurationOnly) {
  Manifest manifest = Recorded();
  manifest.metrics[0].margin = 0.1;
  std::vector<Manifest> family;
  for (const double value : {0.50, 0.51, 0.49, 0.50}) {
    Manifest member = manifest;
    member.metrics[0].value = value;
    family.push_back(member);
  }
  Manifest other = manifest;
  other.hyperparameters["lr"] = Json(0.5);
  other.metrics[0].value = 99.0;
  family.push_back(other);
  const auto decisions = DecideMetrics(manifest, Family(family), {Seen(manifest)});
  ASSERT_EQ(decisions.size(), 1U);
  EXPECT_EQ(decisions[0].history.size(), 4U);
  EXPECT_DOUBLE_EQ(decisions[0].mean_history, 0.5);
  EXPECT_EQ(decisions[0].reruns, (std::vector<double>{0.5}));
}

TEST(FactsOf, LetsListedFilesOutrankTheCommit) {
  Manifest manifest = Recorded();
  manifest.code.commit = std::string(40, 'a');
  const auto weight = [&] {
    for (const Fact& fact : FactsOf(manifest)) {
      if (fact.key == "code.commit") return fact.weight;
    }
    ADD_FAILURE() << "no commit";
    return FactWeight::kClass;
  };
  EXPECT_EQ(weight(), FactWeight::kIdentity);
  manifest.code.files = {{"train.py", std::string(64, 'a')}};
  EXPECT_EQ(weight(), FactWeight::kContext);
}

TEST(FactsOf, MakesTheCpuModelTheClassOfABitwiseCpuRunUnlessItIsPortable) {
  Manifest manifest = Recorded();
  manifest.environment.hardware.cpu.model = "some CPU";
  const auto weight = [&] {
    for (const Fact& fact : FactsOf(manifest)) {
      if (fact.key == "cpu.model") return fact.weight;
    }
    ADD_FAILURE() << "no CPU model";
    return FactWeight::kIdentity;
  };
  EXPECT_EQ(weight(), FactWeight::kClass);
  manifest.determinism.scope = "architecture";
  EXPECT_EQ(weight(), FactWeight::kContext);
  manifest.determinism = {.declared = "statistical"};
  EXPECT_EQ(weight(), FactWeight::kContext);
}

}  // namespace
}  // namespace rharness
