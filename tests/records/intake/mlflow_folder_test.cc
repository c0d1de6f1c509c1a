// MLflow's file store, laid out as its clients write it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/records/intake/source_tree.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kTaggedCommit[] = "8f1d0c2b6a7e4d3c9b5a1f0e2d4c6b8a7f9e1d3c";

class MlflowFolder : public SourceTree {
 protected:
  void SetUp() override {
    Put("1/meta.yaml",
        "artifact_location: file:///mlruns/1\nexperiment_id: '1'\nlifecycle_stage: active\n"
        "name: digits\n");
    PutRun("aaaa", "lifecycle_stage: active\n");
  }
  void PutRun(const std::string& id, const std::string& more) {
    Put("1/" + id + "/meta.yaml", "run_id: " + id +
                                      "\nstatus: 3\nstart_time: 1700000000000\n"
                                      "end_time: 1700000060000\n" +
                                      more);
    Put("1/" + id + "/params/lr", "0.01");
    Put("1/" + id + "/params/schedule", "007");
    Put("1/" + id + "/tags/mlflow.source.git.commit", kTaggedCommit);
    Put("1/" + id + "/tags/mlflow.source.git.repoURL", "https://ada:pw@git.example/d.git");
    Put("1/" + id + "/metrics/val/accuracy", "1 0.5 0\n3 0.75 2\n2 0.6 1\n");
    Put("1/" + id + "/metrics/loss", "1 2.5\n");
    Put("1/" + id + "/metrics/system/gpu", "1 50 0\n");
    Put("1/" + id + "/artifacts/model/weights.json", "[1]");
  }
  Manifest Only(const ImportOutcome& outcome) {
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
    EXPECT_EQ(outcome.runs.size(), 1u);
    return outcome.runs.empty() ? Manifest() : outcome.runs[0];
  }
};

TEST_F(MlflowFolder, BecomesARunWithItsParametersCurvesAndArtifacts) {
  const Manifest run = Only(Import());
  EXPECT_EQ(run.run_id, "mlflow-aaaa");
  EXPECT_EQ(run.family, "digits");
  EXPECT_EQ(run.duration_seconds, 60.0);
  EXPECT_EQ(run.code.commit, kTaggedCommit);
  EXPECT_EQ(run.code.repository, "https://git.example/d.git");
  EXPECT_EQ(run.hyperparameters.at("schedule").AsString(), "007");
  ASSERT_NE(CurveOf(run, "val/accuracy"), nullptr);
  EXPECT_THAT(CurveOf(run, "val/accuracy")->steps, ElementsAre(0, 1, 2));
  EXPECT_THAT(CurveOf(run, "val/accuracy")->values, ElementsAre(0.5, 0.6, 0.75));
  EXPECT_EQ(MetricOf(run, "val/accuracy"), 0.75);
  EXPECT_EQ(MetricOf(run, "loss"), 2.5);
  EXPECT_EQ(CurveOf(run, "system/gpu"), nullptr);
  ASSERT_EQ(run.artifacts.size(), 1u);
  EXPECT_EQ(run.artifacts[0].sha256.size(), 64u);
  EXPECT_THAT(WorthOf(run, "code.commit"), HasSubstr("exact tag mlflow.source.git.commit"));
  EXPECT_EQ(WorthOf(run, "command"), "missing");
}

TEST_F(MlflowFolder, CountsPointsThatWereLoggedWithoutAStep) {
  Put("1/aaaa/metrics/loss", "1 2.5\n2 2.0\n3 2.25\n");
  Put("1/aaaa/metrics/acc", "7 0.5 0\n8 0.75 0\n");
  const Manifest run = Only(Import());
  ASSERT_NE(CurveOf(run, "loss"), nullptr);
  EXPECT_THAT(CurveOf(run, "loss")->steps, ElementsAre(0, 1, 2));
  EXPECT_THAT(CurveOf(run, "loss")->values, ElementsAre(2.5, 2.0, 2.25));
  EXPECT_EQ(MetricOf(run, "loss"), 2.25);
  EXPECT_THAT(WorthOf(run, "curves.acc"), HasSubstr("hint"));
}

TEST_F(MlflowFolder, ReadsTheLargestNumberAsTheInfinityThatItStandsFor) {
  Put("1/aaaa/metrics/loss", "1 2.5 1\n2 -1.7976931348623157e+308 2\n");
  const Manifest run = Only(Import());
  EXPECT_EQ(MetricOf(run, "loss"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(CurveOf(run, "loss")->values.back(), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(HasRemark(run, "was read as one"));
}

TEST_F(MlflowFolder, TakesAParameterNamedSeedForASeed) {
  Put("1/aaaa/params/seed", "42");
  Put("1/aaaa/params/model.random_state", "7");
  const Manifest one = Only(Import());
  EXPECT_EQ(one.seeds.at("seed"), 42);
  EXPECT_EQ(one.seeds.at("model.random_state"), 7);
  EXPECT_THAT(WorthOf(one, "seeds.seed"), HasSubstr("hint"));
  Put("1/aaaa/params/seed", "43");
  Put("1/aaaa/params/model.random_state", "8");
  EXPECT_EQ(ConfigurationKey(Only(Import())), ConfigurationKey(one)) << "replicates";
}

TEST_F(MlflowFolder, WithoutARunGivesWayToWhatElseLiesThere) {
  std::filesystem::remove_all(root() / "1/aaaa");
  EXPECT_EQ(FindSourceKind("", root().string()).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ((*FindSourceKind("mlflow", root().string()))->name, "mlflow");
}

TEST_F(MlflowFolder, IsTheSameRecordAfterADrillWroteItsVerdictThere) {
  const std::string before = ToJson(Only(Import())).Dump();
  Put("1/aaaa/metrics/rharness.reproduced", "1700000090000 1 0\n");
  Put("1/aaaa/tags/rharness.verdict", "identical");
  EXPECT_EQ(ToJson(Only(Import())).Dump(), before);
}

TEST_F(MlflowFolder, HoldsADataSetsDigestToBeAHint) {
  Put("1/datasets/d1/meta.yaml",
      "digest: 1a2b3c4d\nname: digits\nsource: '{\"uri\": \"data/digits.csv\"}'\n"
      "source_type: local\n");
  Put("1/aaaa/inputs/i1/meta.yaml",
      "source_type: DATASET\nsource_id: d1\ntags:\n  mlflow.data.context: training\n");
  const Manifest run = Only(Import());
  ASSERT_EQ(run.data.size(), 1u);
  EXPECT_THAT(run.data[0].other_digest, HasSubstr("1a2b3c4d"));
  EXPECT_TRUE(run.data[0].sha256.empty());
  EXPECT_THAT(WorthOf(run, "data[0]"), HasSubstr("hint"));
}

TEST_F(MlflowFolder, LeavesOutWhatWasDeletedAndWhatIsNoRun) {
  PutRun("bbbb", "lifecycle_stage: deleted\n");
  Put("1/traces/x/meta.yaml", "a: 1\n");
  EXPECT_EQ(Only(Import()).run_id, "mlflow-aaaa");
}

TEST_F(MlflowFolder, NamesAMalformedLineAndKeepsTheOthers) {
  Put("1/aaaa/metrics/loss", "1 2.5 0\n1 two 1\n1 1.5 2\n");
  const Manifest run = Only(Import());
  EXPECT_THAT(CurveOf(run, "loss")->steps, ElementsAre(0, 2));
  EXPECT_TRUE(HasRemark(run, "metrics/loss: line 2"));
}

TEST_F(MlflowFolder, RefusesARunWithoutItsMetaAndKeepsTheOthers) {
  PutRun("cccc", "");
  Put("1/cccc/meta.yaml", "status: [");
  const ImportOutcome outcome = Import();
  EXPECT_EQ(outcome.runs.size(), 1u);
  ASSERT_EQ(outcome.refused.size(), 1u);
  EXPECT_THAT(outcome.refused[0].first, HasSubstr("1/cccc"));
}

TEST_F(MlflowFolder, FollowsNoLinkAndWaitsForNoPipe) {
  Put("../secret", "root:x");
  PutLink("1/aaaa/params/stolen", "../../../../secret");
  PutLink("1/aaaa/artifacts/stolen", "/etc");
  PutPipe("1/aaaa/params/pipe");
  const Manifest run = Only(Import());
  EXPECT_EQ(run.hyperparameters.count("stolen"), 0u);
  EXPECT_EQ(run.artifacts.size(), 1u);
  EXPECT_EQ(ToJson(run).Dump().find("root:x"), std::string::npos);
}

TEST_F(MlflowFolder, TakesTheRunsThatAreAskedFor) {
  PutRun("dddd", "lifecycle_stage: active\n");
  ImportRequest request;
  request.source = root();
  request.runs = {"dddd"};
  EXPECT_EQ(Only(ImportAll(request)).run_id, "mlflow-dddd");
  request.runs = {"nothing"};
  EXPECT_FALSE(ImportAll(request).status.ok());
}

TEST_F(MlflowFolder, GivesLoggedModelsWhereverTheyLieInTheExperiment) {
  const auto put = [&](const std::string& id, const std::string& name, const std::string& more) {
    Put("1/models/" + id + "/meta.yaml",
        "model_id: " + id + "\nname: " + name + "\ncreation_timestamp: 17\n" + more);
    Put("1/models/" + id + "/artifacts/data/w.bin", id);
  };
  const auto output = [&](const std::string& id) {
    Put("1/aaaa/outputs/" + id + "/meta.yaml", "destination_type: MODEL_OUTPUT\ndestination_id: " +
                                                   id + "\nsource_type: RUN_OUTPUT\nstep: 3\n");
  };
  put("m-one", "model", "source_run_id: aaaa\nstatus: 2\n");
  output("m-one");
  put("m-hinted", "clf", "source_run_id: aaaa\nstatus: 2\n");
  put("m-pending", "clf", "source_run_id: aaaa\nstatus: 1\n");
  put("m-other", "clf", "source_run_id: bbbb\nstatus: 2\n");
  put("m-deleted", "clf", "source_run_id: aaaa\nstatus: 2\nlifecycle_stage: deleted\n");
  output("m-deleted");
  Put("1/aaaa/outputs/evil/meta.yaml",
      "destination_type: MODEL_OUTPUT\ndestination_id: ../../../../etc\n");
  Put("1/aaaa/outputs/odd/meta.yaml", "[]");
  const Manifest run = Only(Import());
  std::vector<std::string> paths;
  for (const Artifact& artifact : run.artifacts) paths.push_back(artifact.path);
  // The run has artifacts below "model" of its own.
  EXPECT_THAT(paths, ElementsAre("model/weights.json", "model@m-one/data/w.bin", "clf/data/w.bin"));
  EXPECT_THAT(WorthOf(run, "artifacts[1]"), HasSubstr("exact logged model model (m-one)"));
  EXPECT_THAT(WorthOf(run, "artifacts[2]"), HasSubstr("hint"));
  EXPECT_TRUE(HasRemark(run, "logged model clf (m-pending) was left out"));
  EXPECT_TRUE(HasRemark(run, "logged model 'm-deleted' was deleted"));
  EXPECT_TRUE(HasRemark(run, "logged model '../../../../etc'"));
}

}  // namespace
}  // namespace rharness
