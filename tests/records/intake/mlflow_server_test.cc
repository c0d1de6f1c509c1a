// MLflow's tracking server by REST: one that answers well, and ones that do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "harness/base/digest.h"
#include "harness/base/subprocess.h"
#include "tests/records/intake/source_tree.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class MlflowServerTest : public testing::Test {
 protected:
  // Skips where there is no python3.
  void Serve(const std::string& mode) {
    if (std::system("python3 -c '' 2> /dev/null") != 0) GTEST_SKIP() << "no python3 here";
    ProcessSpec spec;
    spec.argv = {"python3", RHARNESS_SOURCE_DIR "/tests/records/intake/fake_mlflow.py", mode,
                 folder_.path() / "port", folder_.path() / "log"};
    spec.environment = PickEnvironment({"PATH"});
    server_ = std::thread([this, spec] {
      ProcessLimits limits;
      limits.timeout = std::chrono::minutes(2);
      RunProcess(spec, limits, {}, [this] { return stop_.load(); });
    });
    for (int i = 0; i < 600 && !ReadFile(folder_.path() / "port").ok(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    const auto port = ReadFile(folder_.path() / "port");
    ASSERT_TRUE(port.ok()) << "the server did not start";
    url_ = "http://127.0.0.1:" + *port;
  }
  void TearDown() override {
    stop_ = true;
    if (server_.joinable()) server_.join();
  }
  ImportOutcome Import(const std::string& at = "") {
    ImportRequest request;
    request.source = url_ + at;
    return ImportAll(request);
  }
  std::string Log() const { return ReadFile(folder_.path() / "log").value(); }

  ScopedTempDir folder_ = *ScopedTempDir::Make();
  std::atomic<bool> stop_{false};
  std::thread server_;
  std::string url_;
};

TEST_F(MlflowServerTest, GivesRunsWithAllPointsOfTheirMetricsAndHashedArtifacts) {
  Serve("good");
  const ImportOutcome outcome = Import("/#/experiments/1");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
  ASSERT_EQ(outcome.runs.size(), 1u);
  const Manifest& run = outcome.runs[0];
  EXPECT_EQ(run.run_id, "mlflow-abc");
  EXPECT_EQ(run.family, "digits");
  EXPECT_EQ(run.duration_seconds, 60.0);
  EXPECT_EQ(run.code.commit, "8f1d0c2b6a7e4d3c9b5a1f0e2d4c6b8a7f9e1d3c");
  ASSERT_NE(CurveOf(run, "acc"), nullptr);
  EXPECT_THAT(CurveOf(run, "acc")->steps, ElementsAre(1, 2));
  ASSERT_EQ(run.artifacts.size(), 1u);
  EXPECT_EQ(run.artifacts[0].sha256, Sha256HexOf("abc"));
  EXPECT_TRUE(HasRemark(run, "'../evil' was left out"));
}

TEST_F(MlflowServerTest, HasMoreArtifactsThanAreTakenAndThatIsTold) {
  Serve("crowded");
  ImportRequest request;
  request.source = url_;
  request.artifacts = false;
  const ImportOutcome outcome = ImportAll(request);
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_EQ(outcome.runs[0].artifacts.size(), 100'000u);
  EXPECT_TRUE(HasRemark(outcome.runs[0], "more than 100000 files or 10000 folders"));
}

TEST_F(MlflowServerTest, IsReadNoFurtherThanItSaysThatAnArtifactGoes) {
  Serve("overlong");
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_EQ(outcome.runs[0].artifacts.at(0).sha256, "");
  EXPECT_TRUE(HasRemark(outcome.runs[0], "more than 3 bytes; expected at most that"));
}

TEST_F(MlflowServerTest, IsAskedAgainWhereItIsBusy) {
  Serve("flaky");
  const ImportOutcome outcome = Import();
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
  EXPECT_EQ(outcome.runs.size(), 1u);
}

TEST_F(MlflowServerTest, IsAnErrorWhereItsAnswersAreNone) {
  Serve("html");
  const ImportOutcome outcome = Import();
  ASSERT_FALSE(outcome.status.ok());
  EXPECT_THAT(outcome.status.error().ToString(), HasSubstr(url_));
  EXPECT_TRUE(outcome.runs.empty());
}

TEST_F(MlflowServerTest, IsFollowedToNoOtherServer) {
  Serve("redirect");
  const ImportOutcome outcome = Import();
  ASSERT_FALSE(outcome.status.ok());
  EXPECT_THAT(outcome.status.error().ToString(), HasSubstr("http://127.0.0.1:1/elsewhere"));
}

TEST_F(MlflowServerTest, EndsWhereItsPagesDoNot) {
  Serve("endless");
  const ImportOutcome outcome = Import();
  ASSERT_FALSE(outcome.status.ok());
  EXPECT_THAT(outcome.status.error().ToString(), HasSubstr("pages do not end"));
}

TEST_F(MlflowServerTest, GetsTheTokenOfTheEnvironmentAndNobodyElseDoes) {
  Serve("denied");
  ::unsetenv("MLFLOW_TRACKING_TOKEN");
  const ImportOutcome refused = Import();
  ASSERT_FALSE(refused.status.ok());
  EXPECT_THAT(refused.status.error().ToString(), HasSubstr("401"));
  ::setenv("MLFLOW_TRACKING_TOKEN", "s3cret", 1);
  const ImportOutcome outcome = Import();
  ::unsetenv("MLFLOW_TRACKING_TOKEN");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
  EXPECT_THAT(Log(), HasSubstr("Bearer s3cret"));
  EXPECT_THAT(ToJson(outcome.runs.at(0)).Dump(), Not(HasSubstr("s3cret")));
}

TEST(MlflowUrl, WithAPasswordInItIsRefused) {
  ImportRequest request;
  request.source = "http://ada:s3cret@127.0.0.1:1";
  const ImportOutcome outcome = ImportAll(request);
  ASSERT_FALSE(outcome.status.ok());
  EXPECT_THAT(outcome.status.error().ToString(), Not(HasSubstr("s3cret")));
}

TEST_F(MlflowServerTest, GivesLoggedModelsAsArtifactsGradedByWhoNamesWhom) {
  Serve("models");
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  const Manifest& run = outcome.runs[0];
  std::vector<std::string> paths;
  for (const Artifact& artifact : run.artifacts) {
    paths.push_back(artifact.path);
    EXPECT_EQ(artifact.sha256, Sha256HexOf("abc")) << artifact.path;
  }
  EXPECT_THAT(paths, ElementsAre("w.bin", "clf/MLmodel", "clf/data/w.bin", "hinted/MLmodel",
                                 "hinted/data/w.bin", "clf@m-far/MLmodel", "clf@m-far/data/w.bin",
                                 "m-evil/MLmodel", "m-evil/data/w.bin"));
  EXPECT_THAT(WorthOf(run, "artifacts[1]"), HasSubstr("exact logged model clf (m-one): MLmodel"));
  EXPECT_THAT(WorthOf(run, "artifacts[3]"), HasSubstr("hint logged model hinted (m-hinted)"));
  EXPECT_TRUE(HasRemark(run, "logged model failed (m-failed) was left out"));
  EXPECT_TRUE(HasRemark(run, "logged model 'm-lost' was deleted"));
  ASSERT_EQ(run.metrics.size(), 1u);
  EXPECT_EQ(run.metrics[0].evaluated_on, "test") << "the data set is kept with the model";
  EXPECT_THAT(Log(), HasSubstr("/mlflow-artifacts/artifacts/1/models/m-one/artifacts/data/w.bin"));
}

TEST_F(MlflowServerTest, SaysThatLoggedModelsCouldNotBeRead) {
  Serve("modelless");
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_EQ(outcome.runs[0].artifacts.size(), 1u);
  EXPECT_TRUE(HasRemark(outcome.runs[0], "logged models: "));
}

}  // namespace
}  // namespace rharness
