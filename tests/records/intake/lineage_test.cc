// What importers know of lineage: which stage made data, on which data set a metric was measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/records/intake/croissant.h"
#include "harness/records/intake/imported_run.h"
#include "tests/records/intake/dvc_repository.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class DvcLineage : public DvcRepositoryTest {
 protected:
  // prepare.py makes clean.csv of raw.csv; train reads clean.csv.
  void SetUp() override {
    Put(".dvc/config", "");
    Put("raw.csv", "raw");
    Put("raw.csv.dvc", "outs:\n" + Entry("raw.csv", "raw"));
    Put("prepare.py", "code 1");
    Put("clean.csv", "clean");
    Put("model", "m");
    Put(".gitignore", "/raw.csv\n/clean.csv\n/model\n");
    Lock("code 1", "clean");
  }
  void Lock(const std::string& code, const std::string& read) {
    PutLock("  prepare:\n    cmd: python3 prepare.py\n    deps:\n" + Entry("prepare.py", code) +
            Entry("raw.csv", "raw") + "    outs:\n" + Entry("clean.csv", "clean") +
            "  train:\n    cmd: python3 train.py\n    deps:\n" + Entry("clean.csv", read) +
            "    outs:\n" + Entry("model", "m"));
  }
  Manifest Train() {
    const ImportOutcome outcome = Import();
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
    for (const Manifest& run : outcome.runs) {
      if (run.run_id.starts_with("dvc-train-")) return run;
    }
    ADD_FAILURE() << "no run of train";
    return {};
  }
};

TEST_F(DvcLineage, OfAnOutIsItsStageAndTheCommitThatHasWhatTheStageRead) {
  Git({"init", "-q"});
  const std::string commit = Commit();
  const Manifest run = Train();
  ASSERT_THAT(run.data, SizeIs(1));
  ASSERT_TRUE(run.data[0].made_by);
  EXPECT_EQ(run.data[0].made_by->repository, root().string());
  EXPECT_EQ(run.data[0].made_by->commit, commit);
  EXPECT_THAT(run.data[0].made_by->version, StartsWith("DVC stage prepare-"));
  EXPECT_THAT(WorthOf(run, "data[0].made_by"), HasSubstr("hint dvc.lock"));
}

TEST_F(DvcLineage, HasNoCommitWhereTheStageReadAnotherVersion) {
  Lock("code 0", "clean");
  Git({"init", "-q"});
  Commit();
  const Manifest run = Train();
  ASSERT_TRUE(run.data.at(0).made_by);
  EXPECT_EQ(run.data[0].made_by->commit, "");
  EXPECT_THAT(run.data[0].made_by->version, StartsWith("DVC stage prepare-"));
}

TEST_F(DvcLineage, IsNotSaidOfDataThatTheStageDidNotWrite) {
  Lock("code 1", "something older");
  EXPECT_FALSE(Train().data.at(0).made_by);
}

TEST_F(DvcLineage, NeedsNoGit) {
  const Manifest run = Train();
  ASSERT_TRUE(run.data.at(0).made_by);
  EXPECT_EQ(run.data[0].made_by->repository, "");
}

class MlflowLineage : public SourceTree {
 protected:
  void SetUp() override {
    Put("1/meta.yaml",
        "artifact_location: file:///mlruns/1\nexperiment_id: '1'\nlifecycle_stage: active\n"
        "name: digits\n");
    Put("1/aaaa/meta.yaml", "run_id: aaaa\nstatus: 3\nlifecycle_stage: active\n");
    PutInput("d1", "train", "digest1", "training");
    PutInput("d2", "holdout", "digest2", "testing");
    Put("1/aaaa/metrics/loss", "1 0.5 0\n");
    Put("1/aaaa/metrics/test_accuracy", "1 0.75 0\n");
  }
  void PutInput(const std::string& id, const std::string& name, const std::string& digest,
                const std::string& context) {
    Put("1/datasets/" + id + "/meta.yaml",
        "name: " + name + "\ndigest: " + digest + "\nsource_type: code\nsource: '{}'\n");
    Put("1/aaaa/inputs/" + id + "/meta.yaml", "source_type: DATASET\nsource_id: " + id +
                                                  "\ntags:\n  mlflow.data.context: " + context +
                                                  "\n");
  }
  Manifest Only() {
    const ImportOutcome outcome = Import();
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
    return outcome.runs.empty() ? Manifest() : outcome.runs[0];
  }
  static std::string SetOf(const Manifest& run, const std::string& name) {
    for (const Metric& metric : run.metrics) {
      if (metric.name == name) return metric.evaluated_on;
    }
    return "no such metric";
  }
};

TEST_F(MlflowLineage, OfAContextOfEvaluationIsAHintForMetricsThatAreNamedSo) {
  const Manifest run = Only();
  EXPECT_EQ(SetOf(run, "test_accuracy"), "holdout");
  EXPECT_EQ(SetOf(run, "loss"), "");
  EXPECT_THAT(WorthOf(run, "metrics.test_accuracy.evaluated_on"), HasSubstr("hint the run's one"));
}

TEST_F(MlflowLineage, OfTwoContextsOfEvaluationIsNotGuessed) {
  PutInput("d3", "other", "digest3", "eval");
  EXPECT_EQ(SetOf(Only(), "test_accuracy"), "");
}

TEST_F(MlflowLineage, IsTheDataSetThatAMetricWasLoggedWith) {
  Put("1/aaaa/metrics/loss", "1 0.5 0 train digest1\n");
  PutInput("d3", "other", "digest3", "eval");
  Put("1/aaaa/metrics/test_accuracy", "1 0.5 0 holdout digest2\n1 0.6 1 other digest3\n");
  const Manifest run = Only();
  EXPECT_EQ(SetOf(run, "loss"), "train");
  EXPECT_EQ(SetOf(run, "test_accuracy"), "") << "logged with two";
  EXPECT_TRUE(HasRemark(run, "logged with several data sets"));
}

TEST(CroissantLineage, IsWhatGeneratedAFileOrTheWholeSet) {
  const std::string commit(40, 'd');
  const auto json = ParseJson(
      R"({"@type": "sc:Dataset", "name": "digits",
          "prov:wasGeneratedBy": {"@type": "prov:Activity", "prov:label": "Clean 1.2"},
          "distribution": [
            {"@type": "cr:FileObject", "@id": "a", "contentUrl": "a.csv"},
            {"@type": "cr:FileObject", "@id": "b", "contentUrl": "b.csv", "prov:wasGeneratedBy":
              [{"@id": "https://ada:pw@git.example/etl/tree/)" +
          commit + R"(", "prov:label": "Split"}]}]})",
      "c.json");
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  const auto croissant = ParseCroissant(*json, "c.json");
  ASSERT_TRUE(croissant.ok());
  const ScopedTempDir folder = *ScopedTempDir::Make();
  Manifest manifest;
  manifest.run_id = "one";
  const auto use = ApplyCroissant(*croissant, folder.path(), folder.path(), WallTime{}, &manifest);
  ASSERT_TRUE(use.ok()) << use.error().ToString();
  ASSERT_THAT(manifest.data, SizeIs(2));
  EXPECT_EQ(manifest.data[0].made_by, (MadeBy{"", "", "Clean 1.2"}));
  EXPECT_EQ(manifest.data[1].made_by, (MadeBy{"https://git.example/etl", commit, "Split"}));
}

TEST(ImportedLineage, TakesNothingThatNoManifestMayHold) {
  ImportedRun run("dvc", "here", "one");
  run.AddData(DataItem{.name = "a", .path = "a.csv"}, Exact("x"));
  run.SetMadeBy("a", {"--upload-pack=x", "c0ffee", ""}, Exact("x"));
  run.SetMadeBy("b", {"etl", "", ""}, Exact("x"));
  run.AddMetric("acc", 1.0, Exact("x"));
  run.SetEvalSet("acc", "a", Exact("x"));
  const Manifest manifest = std::move(run).Take();
  EXPECT_FALSE(manifest.data.at(0).made_by);
  EXPECT_EQ(manifest.metrics.at(0).evaluated_on, "");
  EXPECT_TRUE(HasRemark(manifest, "whose digest is not known"));
  EXPECT_TRUE(ParseManifest(ToJson(manifest), "m").ok());
}

}  // namespace
}  // namespace rharness
