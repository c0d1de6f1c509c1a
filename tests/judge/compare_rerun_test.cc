// Manifest beside evidence: what is equal, what differs first, and what says nothing.
#include "harness/judge/compare_rerun.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/exact.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/execution/rerun/tensor_records.h"
#include "harness/judge/decide_metrics.h"
#include "harness/judge/facts_of.h"
#include "harness/judge/judge_run.h"
#include "tests/compare/weights/gguf_file.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using ExactState = ExactComparison::State;
using RerunState = RerunEnd::State;

// The root digest of one tensor whose own digest is 64 times this digit.
std::string RootOf(char digit) {
  return CombineDigests({{"w", DType::kF32, {2}, std::string(64, digit)}});
}

Manifest Recorded() {
  Manifest manifest;
  manifest.run_id = "r";
  manifest.family = "f";
  manifest.command = {"train"};
  manifest.determinism.declared = "bitwise";
  manifest.metrics = {Metric{.name = "loss", .value = 0.5, .primary = true}};
  manifest.curves = {Curve{"train_loss", {1, 2, 3, 4, 5}, {3.0, 2.0, 1.0, 0.5, 0.25}}};
  manifest.artifacts = {Artifact{.role = "weights",
                                 .path = "model.safetensors",
                                 .sha256 = std::string(64, 'a'),
                                 .tensor_digest = RootOf('c'),
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

Comparison Compare(const Manifest& manifest, const Evidence& evidence) {
  std::vector<std::string> damage;
  Comparison comparison = CompareRerun(manifest, evidence, Places{}, "/nowhere", &damage);
  EXPECT_TRUE(damage.empty());
  comparison.metrics =
      DecideMetrics({ComparedRunOf(manifest, {evidence})}, Family({manifest})).runs.front();
  return comparison;
}

RerunEnd EndOf(const Manifest& manifest, const Evidence& evidence) {
  return Compare(manifest, evidence).ends.at(0);
}

ExactComparison Exact(const Comparison& comparison, const std::string& subject) {
  for (const ExactComparison& exact : ExactOf(comparison)) {
    if (exact.subject == subject) return exact;
  }
  ADD_FAILURE() << "no comparison of " << subject;
  return {};
}

TEST(CompareRerun, ComparesWeightsMetricsAndCurves) {
  const Manifest manifest = Recorded();
  const Comparison comparison = Compare(manifest, Seen(manifest));
  EXPECT_EQ(comparison.ends.at(0).state, RerunState::kCompared);
  const auto list = ExactOf(comparison);
  ASSERT_EQ(list.size(), 3U);
  for (const ExactComparison& exact : list) {
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
    manifest.curves[0].values.assign(5, value);
    EXPECT_EQ(Exact(Compare(manifest, Seen(manifest)), "curve train_loss").state,
              ExactState::kVacuous);
  }
}

TEST(CompareRerun, CallsACheckpointWithoutTensorsVacuous) {
  Manifest manifest = Recorded();
  manifest.artifacts[0].tensors.clear();
  manifest.artifacts[0].tensor_digest = CombineDigests({});
  EXPECT_EQ(Exact(Compare(manifest, Seen(manifest)), "weights model.safetensors").state,
            ExactState::kVacuous);
}

TEST(CompareRerun, NamesTheFirstDifferingTensorFromDigestsAlone) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.artifacts[0].tensor_digest = RootOf('e');
  evidence.artifacts[0].tensors[0].sha256 = std::string(64, 'e');
  const auto comparison = Compare(manifest, evidence);
  const ExactComparison weights = Exact(comparison, "weights model.safetensors");
  EXPECT_EQ(weights.state, ExactState::kDiffers);
  EXPECT_EQ(weights.first_difference, "tensor w");
}

TEST(CompareRerun, FindsEqualTensorsInAFileWithOtherMetadata) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.artifacts[0].sha256 = std::string(64, 'f');
  const auto comparison = Compare(manifest, evidence);
  EXPECT_EQ(Exact(comparison, "weights model.safetensors").state, ExactState::kEqual);
  ASSERT_EQ(comparison.notes.size(), 1U);
  EXPECT_NE(comparison.notes[0].find("only metadata differs"), std::string::npos);
}

// A GGUF file says with which settings its tensors are run.
TEST(CompareRerun, OpensFilesOfEqualTensorsWhoseMetadataMayBeLoaded) {
  const ScopedTempDir folder = *ScopedTempDir::Make();
  const auto artifact = [&](const std::string& name, float rope) {
    GgufFile gguf{.pairs = {GgufPair("llama.rope.freq_base", 6, BytesOf<float>({rope}))}};
    gguf.tensors = {{"w", {2}, 0, 0}};
    gguf.data = BytesOf<float>({1, 2});
    const auto path = folder.path() / name;
    EXPECT_TRUE(WriteFileAtomic(path, gguf.Bytes()).ok());
    Artifact seen{.role = "weights", .path = "model.gguf", .location = name};
    seen.sha256 = HashFile(path)->sha256;
    EXPECT_TRUE(ReadTensorRecords(path, &seen).ok());
    return seen;
  };
  Manifest manifest = Recorded();
  manifest.artifacts = {artifact("a.gguf", 1e4f)};
  Evidence evidence = Seen(manifest);
  evidence.artifacts = {artifact("b.gguf", 5e5f)};
  ASSERT_EQ(evidence.artifacts[0].tensor_digest, manifest.artifacts[0].tensor_digest);
  std::vector<std::string> damage;
  const Comparison other = CompareRerun(manifest, evidence, Places{.root = folder.path()},
                                        folder.path().string(), &damage);
  ASSERT_EQ(other.checkpoints.size(), 1U);
  EXPECT_TRUE(other.checkpoints[0].difference.bit_equal);
  ASSERT_EQ(other.checkpoints[0].not_compared.size(), 1U);
  EXPECT_NE(other.checkpoints[0].not_compared[0].find("llama.rope.freq_base"), std::string::npos);

  // Where nothing was kept the recorded digest of the metadata decides; an older record has none.
  const std::string digest = manifest.artifacts[0].beside_digest;
  manifest.artifacts[0].location.clear();
  for (const std::string& known : {digest, std::string()}) {
    manifest.artifacts[0].beside_digest = known;
    if (known.empty()) manifest.artifacts[0].beside.clear();
    const Comparison bare = Compare(manifest, evidence);
    ASSERT_EQ(bare.checkpoints.size(), 1U);
    ASSERT_EQ(bare.checkpoints[0].not_compared.size(), 1U);
    EXPECT_NE(bare.checkpoints[0].not_compared[0].find(
                  known.empty() ? "loaded with the tensors differs" : "llama.rope.freq_base"),
              std::string::npos)
        << bare.checkpoints[0].not_compared[0];
  }
  evidence.artifacts[0].sha256 = manifest.artifacts[0].sha256;
  EXPECT_TRUE(Compare(manifest, evidence).checkpoints[0].not_compared.empty());
}

TEST(CompareRerun, SaysWhatIsMissing) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.metrics.metrics.clear();
  EXPECT_EQ(Exact(Compare(manifest, evidence), "metric loss").state, ExactState::kMissing);
}

TEST(CompareRerun, SaysWhichCheckpointWasNotWritten) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.artifacts.clear();
  const auto comparison = Compare(manifest, evidence);
  EXPECT_EQ(Exact(comparison, "weights model.safetensors").state, ExactState::kMissing);
  ASSERT_FALSE(comparison.findings.empty());
  EXPECT_EQ(comparison.findings[0].code, "missing_checkpoint");
}

TEST(CompareRerun, GoesByTheRootsWhereTheListOfTensorsContradictsThem) {
  Manifest manifest = Recorded();
  manifest.artifacts[0].tensor_digest = std::string(64, '1');
  Evidence evidence = Seen(manifest);
  EXPECT_EQ(Exact(Compare(manifest, evidence), "weights model.safetensors").state,
            ExactState::kEqual);
  evidence.artifacts[0].tensor_digest = std::string(64, '2');
  const auto comparison = Compare(manifest, evidence);
  EXPECT_EQ(Exact(comparison, "weights model.safetensors").state, ExactState::kDiffers);
  EXPECT_FALSE(comparison.notes.empty()) << "and says so";
}

TEST(JudgeRun, TakesOfEachThingTheFirstRerunThatDiffersInIt) {
  const Manifest manifest = Recorded();
  Evidence second = Seen(manifest);
  second.rerun = 2;
  second.metrics.curves[0].values[3] = 0.625;
  Evidence third = Seen(manifest);
  third.rerun = 3;
  third.artifacts[0].tensor_digest = RootOf('e');
  third.artifacts[0].tensors[0].sha256 = std::string(64, 'e');
  const std::vector<Evidence> evidence = {Seen(manifest), second, third};
  std::vector<Comparison> reruns;
  for (const Evidence& one : evidence) reruns.push_back(Compare(manifest, one));
  const Comparison run =
      JudgeRun(manifest, evidence, reruns, MergeReruns(manifest, reruns),
               DecideMetrics({ComparedRunOf(manifest, evidence)}, Family({manifest})).runs.front());
  EXPECT_EQ(run.verdict, Verdict::kDrifted);
  EXPECT_EQ(run.ends.size(), 3U);
  EXPECT_EQ(Exact(run, "curve train_loss").first_difference, "step 4");
  EXPECT_EQ(Exact(run, "weights model.safetensors").first_difference, "tensor w");
  EXPECT_EQ(Exact(run, "metric loss").state, ExactState::kEqual);
}

TEST(CompareRerun, CallsAMetricMissingThatOneOfManyRerunsDidNotReport) {
  const Manifest manifest = Recorded();
  Evidence silent = Seen(manifest);
  silent.metrics.metrics.clear();
  Comparison run;
  run.metrics =
      DecideMetrics({ComparedRunOf(manifest, {Seen(manifest), silent})}, Family({manifest}))
          .runs.front();
  EXPECT_EQ(Exact(run, "metric loss").state, ExactState::kMissing);
}

// "eval": {"f1": 0.5} beside the metrics: nobody reads it, and it is another one all the same.
TEST(CompareRerun, PassesLeftOutMetricsOnlyWhereTheirTextIsTheSame) {
  Manifest manifest = Recorded();
  manifest.unread_metrics = {{"eval", "{\"f1\":0.5}"}, {"metrics.eval_seconds", "[1]"}};
  const auto judged = [&](std::optional<UnreadMembers> seen) {
    Evidence evidence = Seen(manifest);
    evidence.unread_metrics = std::move(seen);
    const std::vector<Comparison> reruns = {Compare(manifest, evidence)};
    return JudgeRun(manifest, {evidence}, reruns, MergeReruns(manifest, reruns),
                    reruns.front().metrics);
  };
  EXPECT_EQ(judged(manifest.unread_metrics).verdict, Verdict::kIdentical);
  EXPECT_EQ(judged({{{"eval", "{\"f1\":0.5}"}, {"metrics.eval_seconds", "[2]"}}}).verdict,
            Verdict::kIdentical);
  EXPECT_EQ(judged(UnreadMembers{}).verdict, Verdict::kInconclusive);
  const Comparison other = judged({{{"eval", "{\"f1\":0.4}"}}});
  EXPECT_EQ(other.verdict, Verdict::kInconclusive);
  const auto finding = std::ranges::find(other.findings, "not_compared", &Finding::code);
  ASSERT_NE(finding, other.findings.end());
  EXPECT_EQ(finding->message,
            "eval cannot be read exactly and differs: {\"f1\":0.5} recorded, {\"f1\":0.4} in the "
            "rerun");
  // What only the rerun has is its own affair, unless it is what the record has as a number.
  manifest.unread_metrics = UnreadMembers{};
  EXPECT_EQ(judged({{{"eval", "{\"f1\":0.4}"}}}).verdict, Verdict::kIdentical);
  EXPECT_EQ(judged({{{"metrics.loss", "9007199254740993"}}}).verdict, Verdict::kInconclusive);
  EXPECT_EQ(judged({{{"curves.train_loss", "{}"}}}).verdict, Verdict::kInconclusive);
  manifest.unread_metrics.reset();  // a record of before: not known
  EXPECT_EQ(judged({{{"eval", "{\"f1\":0.4}"}}}).verdict, Verdict::kIdentical);
}

TEST(CompareRerun, IsFailedWhenTheRunOrItsOutputIs) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.outcome = Outcome{.kind = OutcomeKind::kSignalled, .signal = 11};
  EXPECT_EQ(EndOf(manifest, evidence).state, RerunState::kFailed);
  evidence = Seen(manifest);
  evidence.remarks = {Finding{.code = "output_unreadable", .message = "cut off at byte 12"}};
  EXPECT_EQ(EndOf(manifest, evidence).state, RerunState::kFailed);
  EXPECT_EQ(EndOf(manifest, evidence).reason, "cut off at byte 12");
}

TEST(CompareRerun, IsNotComparableWithTheLayerOfTheObstacleElseInfrastructure) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.obstacle = "no such commit";
  evidence.obstacle_layer = Layer::kCode;
  EXPECT_EQ(EndOf(manifest, evidence).state, RerunState::kNotComparable);
  EXPECT_EQ(EndOf(manifest, evidence).layer, Layer::kCode);
  evidence.obstacle_layer.reset();
  EXPECT_EQ(EndOf(manifest, evidence).state, RerunState::kInfra);
}

TEST(CompareRerun, IsNotComparableWhenAnInputChangedUnderTheRun) {
  const Manifest manifest = Recorded();
  Evidence evidence = Seen(manifest);
  evidence.remarks = {Finding{.code = "data_changed_during_run", .layer = Layer::kData}};
  EXPECT_EQ(EndOf(manifest, evidence).state, RerunState::kNotComparable);
  EXPECT_EQ(EndOf(manifest, evidence).layer, Layer::kData);
}

TEST(DecideMetrics, ComparesWithTheRunsOfTheSameConfigurationOnly) {
  Manifest manifest = Recorded();
  manifest.metrics[0].margin = 0.1;
  std::vector<Manifest> family;
  for (const double value : {0.50, 0.51, 0.49, 0.50}) {
    Manifest member = manifest;
    member.run_id = fmt::format("r{}", family.size());
    member.metrics[0].value = value;
    family.push_back(member);
  }
  Manifest other = manifest;
  other.run_id = "other";
  other.hyperparameters["lr"] = Json(0.5);
  other.metrics[0].value = 99.0;
  family.push_back(other);
  const auto decisions =
      DecideMetrics({ComparedRunOf(manifest, {Seen(manifest)})}, Family(family)).runs.front();
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
