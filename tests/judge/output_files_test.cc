// Declared outputs that no reader opens, of a record and its rerun and of two records.
#include "harness/judge/output_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/exact.h"
#include "harness/judge/compare_rerun.h"
#include "harness/judge/decide_metrics.h"
#include "harness/judge/judge_run.h"
#include "harness/judge/rerun_outputs.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using State = ExactComparison::State;

Artifact File(std::string role, std::string path, char digit) {
  return {.role = std::move(role), .path = std::move(path), .sha256 = std::string(64, digit)};
}

Manifest RunWith(std::vector<Artifact> artifacts, const std::string& declared = "statistical") {
  Manifest manifest;
  manifest.run_id = "r";
  manifest.family = "f";
  manifest.command = {"train"};
  manifest.determinism.declared = declared;
  manifest.metrics = {Metric{.name = "accuracy", .value = 0.9, .primary = true}};
  manifest.artifacts = std::move(artifacts);
  return manifest;
}

// Of a rerun that left these files and reported the recorded value.
Comparison Judged(const Manifest& manifest, std::vector<Artifact> seen) {
  Evidence evidence;
  evidence.run_id = manifest.run_id;
  evidence.rerun = 1;
  evidence.outcome.kind = OutcomeKind::kExited;
  evidence.metrics.metrics["accuracy"] = 0.9;
  evidence.metrics.curves = manifest.curves;
  evidence.artifacts = std::move(seen);
  std::vector<std::string> damage;
  const std::vector<Comparison> reruns = {
      CompareRerun(manifest, evidence, {}, "/nowhere", &damage)};
  return JudgeRun(
      manifest, {evidence}, reruns, MergeReruns(manifest, reruns),
      DecideMetrics({ComparedRunOf(manifest, {evidence})}, Family({manifest})).runs.front());
}

ExactComparison ExactAt(const Comparison& comparison, const std::string& subject) {
  for (const ExactComparison& exact : ExactOf(comparison)) {
    if (exact.subject == subject) return exact;
  }
  ADD_FAILURE() << "no comparison of " << subject;
  return {};
}

TEST(OutputFiles, AreComparedByTheDigestOfTheirBytes) {
  const Manifest manifest = RunWith({File("other", "model.pkl", 'a')});
  const Comparison same = Judged(manifest, {File("other", "model.pkl", 'a')});
  EXPECT_EQ(same.verdict, Verdict::kIdentical);
  EXPECT_EQ(ExactAt(same, "other model.pkl").state, State::kEqual);
  EXPECT_EQ(ExactAt(same, "other model.pkl").compared_by, ComparedBy::kFileDigest);
  const Comparison other = Judged(manifest, {File("other", "model.pkl", 'b')});
  EXPECT_EQ(other.verdict, Verdict::kInconclusive);
  EXPECT_EQ(ExactAt(other, "other model.pkl").state, State::kDiffers);
  EXPECT_THAT(other.headline, HasSubstr("other model.pkl: other bytes"));
  EXPECT_THAT(other.headline, HasSubstr("write its arrays as safetensors"));
  EXPECT_THAT(other.headline, HasSubstr("--artifact log=model.pkl"));
}

TEST(OutputFiles, OfARunThatPromisedItsBitsAreADeterminismViolationWhereTheyDiffer) {
  const Manifest manifest = RunWith({File("other", "model.pkl", 'a')}, "bitwise");
  const Comparison judged = Judged(manifest, {File("other", "model.pkl", 'b')});
  EXPECT_EQ(judged.verdict, Verdict::kDrifted);
  EXPECT_EQ(judged.findings.front().code, "determinism_violation");
}

TEST(OutputFiles, OfRolesThatMayDifferMakeARunEquivalent) {
  for (const std::string declared : {"bitwise", "statistical"}) {
    const Manifest manifest = RunWith({File("log", "train.log", 'a')}, declared);
    EXPECT_EQ(Judged(manifest, {File("log", "train.log", 'b')}).verdict, Verdict::kEquivalent);
    EXPECT_EQ(Judged(manifest, {File("log", "train.log", 'a')}).verdict, Verdict::kIdentical);
  }
  // A file of metrics is numbers and times: its numbers are compared one by one.
  const Manifest metrics = RunWith({File("metrics", "eval.json", 'a')});
  EXPECT_EQ(Judged(metrics, {File("metrics", "eval.json", 'b')}).verdict, Verdict::kEquivalent);
}

TEST(OutputFiles, ThatAreTheMetricsFileAreComparedByItsValues) {
  Manifest manifest = RunWith({File("other", "metrics.json", 'a')});
  manifest.metrics_path = "metrics.json";
  const Comparison judged = Judged(manifest, {File("other", "metrics.json", 'b')});
  EXPECT_EQ(judged.verdict, Verdict::kIdentical);
  EXPECT_THAT(judged.notes, testing::Contains("other metrics.json: compared by its values"));
}

TEST(OutputFiles, ThatAreMissingOrHaveNoDigestNeverPass) {
  const Manifest manifest = RunWith({File("other", "model.pkl", 'a')});
  const Comparison absent = Judged(manifest, {});
  EXPECT_EQ(absent.verdict, Verdict::kInconclusive);
  EXPECT_EQ(absent.findings.front().code, "missing_output");
  EXPECT_EQ(ExactAt(absent, "other model.pkl").state, State::kMissing);
  Manifest unhashed = manifest;
  unhashed.artifacts[0].sha256.clear();
  EXPECT_EQ(Judged(unhashed, {File("other", "model.pkl", 'a')}).verdict, Verdict::kInconclusive);
  // A log says nothing by being there; what a tracker keeps is written by no rerun.
  EXPECT_EQ(Judged(RunWith({File("log", "train.log", 'a')}), {}).verdict, Verdict::kIdentical);
  const Comparison kept = Judged(RunWith({File("model", "model/MLmodel", 'a')}), {});
  EXPECT_EQ(kept.verdict, Verdict::kIdentical);
  EXPECT_THAT(kept.notes, testing::Contains(HasSubstr("model model/MLmodel: not compared")));
}

TEST(OutputFiles, OfCheckpointsWhoseTensorsAreNotReadAreFiles) {
  const Manifest manifest = RunWith({File("weights", "model.joblib", 'a')});
  const Comparison same = Judged(manifest, {File("weights", "model.joblib", 'a')});
  EXPECT_EQ(same.verdict, Verdict::kIdentical);
  EXPECT_EQ(ExactAt(same, "weights model.joblib").compared_by, ComparedBy::kFileDigest);
  EXPECT_EQ(Judged(manifest, {File("weights", "model.joblib", 'b')}).verdict,
            Verdict::kInconclusive);
  Manifest sharded = manifest;
  sharded.artifacts[0].parts = {{"part-1.bin", 8, std::string(64, '1')}};
  std::vector<Artifact> seen = sharded.artifacts;
  EXPECT_EQ(Judged(sharded, seen).verdict, Verdict::kIdentical);
  seen[0].parts[0].sha256 = std::string(64, '2');
  EXPECT_EQ(Judged(sharded, seen).verdict, Verdict::kInconclusive) << "its shard is another one";
}

TEST(OutputFiles, OfTwoRecordsMustBeOnBothSides) {
  const Manifest a = RunWith({File("other", "vocab.txt", 'a')});
  Manifest b = a;
  b.artifacts.push_back(File("other", "extra.bin", 'c'));
  b.artifacts.push_back(File("log", "train.log", 'd'));
  Comparison comparison;
  CompareOutputFiles(a, b, &comparison);
  ASSERT_EQ(comparison.checkpoints.size(), 1U);
  EXPECT_TRUE(comparison.checkpoints[0].difference.bit_equal);
  ASSERT_EQ(comparison.findings.size(), 1U);
  EXPECT_EQ(comparison.findings[0].code, "missing_output");
  EXPECT_EQ(comparison.findings[0].message, "other extra.bin: in B alone");
}

TEST(OutputFiles, OfRerunsAreAmongWhatTheyShouldAgreeIn) {
  Evidence evidence;
  evidence.artifacts = {File("other", "model.pkl", 'a'), File("log", "train.log", 'b')};
  const RerunOutputs outputs = OutputsOf(evidence);
  ASSERT_EQ(outputs.digests.size(), 1U);
  EXPECT_EQ(outputs.digests.at("other model.pkl"), std::string(64, 'a'));
}

// Two reruns of one run, of which the loss of the first is far off, and of the second too or not.
Comparison LossesOfTwo(double first, double second) {
  Manifest manifest = RunWith({});
  Curve loss{.name = "train_loss", .steps = {}, .values = {}};
  for (int step = 1; step <= 20; ++step) {
    loss.steps.push_back(step);
    loss.values.push_back(3.0 / step);
  }
  manifest.curves = {loss};
  std::vector<Comparison> reruns;
  for (const double factor : {first, second}) {
    Evidence evidence;
    evidence.outcome.kind = OutcomeKind::kExited;
    evidence.rerun = static_cast<int>(reruns.size()) + 1;
    evidence.metrics.curves = manifest.curves;
    for (double& value : evidence.metrics.curves[0].values) value *= factor;
    std::vector<std::string> damage;
    reruns.push_back(CompareRerun(manifest, evidence, {}, "/nowhere", &damage));
  }
  Comparison merged = MergeReruns(manifest, reruns);
  JudgeComparison(&merged);
  return merged;
}

TEST(MergeReruns, ClaimsADriftByACurveWhereEveryRerunShowsIt) {
  EXPECT_EQ(LossesOfTwo(2.0, 2.0).verdict, Verdict::kDrifted);
  for (const auto& [first, second] : {std::pair(2.0, 1.0), std::pair(1.0, 2.0)}) {
    const Comparison one = LossesOfTwo(first, second);
    EXPECT_EQ(one.verdict, Verdict::kInconclusive);
    EXPECT_EQ(one.findings.front().code, "missing_confirmation");
    EXPECT_THAT(one.headline, HasSubstr("train_loss is beyond its band in 1 of 2 reruns"));
  }
}

}  // namespace
}  // namespace rharness
