// rharness record and drill with the logs that a program writes anyway.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/manifest.h"
#include "tests/compare/curves/build_event_file.h"
#include "tests/compare/curves/build_tracker_log.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class LoggingProgram : public testing::Test {
 protected:
  fs::path At(const std::string& name) const { return folder_.path() / name; }
  void Write(const std::string& name, const std::string& content) const {
    ASSERT_TRUE(MakeDirectories(At(name).parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(At(name), content).ok());
  }
  ProcessResult Run(std::vector<std::string> argv) const {
    ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.environment = PickEnvironment({"PATH", "HOME", "TMPDIR"});
    spec.working_directory = folder_.path();
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(60);
    return RunProcess(spec, limits);
  }
  ProcessResult Record(const std::string& metrics, const std::string& script) const {
    return Run({RHARNESS_BIN_DIR "/rharness", "record", "--overwrite", "--family", "tiny", "--seed",
                "init=7", "--code-file", "source", "--metrics", metrics, "--metric",
                "loss,direction=lower,margin=0.1,primary", "--out", "records/run.json", "--", "sh",
                "-c", script});
  }
  Manifest Recorded() const {
    auto manifest = LoadManifest(At("records/run.json"));
    EXPECT_TRUE(manifest.ok()) << manifest.error().ToString();
    return manifest.ok() ? std::move(*manifest) : Manifest();
  }
  ProcessResult Drill() const {
    return Run({RHARNESS_BIN_DIR "/rharness", "drill", "--history", "records", "--out", "tonight"});
  }

 private:
  ScopedTempDir folder_ = ScopedTempDir::Make().value();
};

TEST_F(LoggingProgram, IsRecordedAndRerunUnchanged) {
  Write("source", "step,loss,step_time\n1,2,0.5\n2,1,0.25\n");
  const auto result = Record("auto", "cat source > log.csv");
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(result.stderr_text, HasSubstr("metrics are read from log.csv (csv)"));
  const Manifest run = Recorded();
  EXPECT_EQ(run.metrics_path, "log.csv");
  ASSERT_EQ(run.metrics.size(), 1U);
  EXPECT_EQ(run.metrics[0].value, 1.0);
  ASSERT_EQ(run.curves.size(), 1U);
  const auto drill = Drill();
  EXPECT_EQ(drill.outcome.exit_code, 0) << drill.stdout_text << drill.stderr_text;
  EXPECT_THAT(drill.stdout_text, HasSubstr("1 identical"));
}

TEST_F(LoggingProgram, WhoseFolderIsNamedByTheTimeIsRerunToo) {
  Write("source", FileHead() + SimpleScalar(1, "loss", 2) + SimpleScalar(2, "loss", 1));
  const std::string script =
      "d=runs/$(date +%Y%m%d-%H%M%S-%N) && mkdir -p $d && cp source $d/events.out.tfevents.1.h";
  const auto result = Record("auto", script);
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(Recorded().metrics_path, "runs");
  const auto drill = Drill();
  EXPECT_THAT(drill.stdout_text, HasSubstr("1 identical")) << drill.stderr_text;
}

TEST_F(LoggingProgram, WhoseTrackerNamesEachRunAnewIsRerunToo) {
  const std::string name = "id=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \\n') && ";
  Write("source", "1 2 1\n2 1 2\n");
  Write("mlruns/0/" + std::string(kMlflowRunB) + "/metrics/loss", "1 9 1\n");
  const std::string store =
      name + "mkdir -p mlruns/0/$id/metrics && cp source mlruns/0/$id/metrics/loss";
  for (int i = 0; i < 2; ++i) {  // the second one has the first one's run beside its own
    const auto result = Record("auto", store);
    ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
    EXPECT_EQ(Recorded().metrics_path, "mlruns");
    EXPECT_THAT(Drill().stdout_text, HasSubstr("1 identical"));
    for (const char* made : {"tonight", "records"}) fs::remove_all(At(made));
  }
  fs::remove_all(At("mlruns"));
  Write("source", WandbLogOf({WandbHistoryRecord(0, {{"loss", "2"}}),
                              WandbHistoryRecord(1, {{"loss", "1"}})}));
  const auto result = Record("auto", name +
                                         "d=wandb/offline-run-20261129_094054-$id && "
                                         "mkdir -p $d && cp source $d/run-$id.wandb");
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(Recorded().metrics_path, "wandb");
  EXPECT_THAT(Drill().stdout_text, HasSubstr("1 identical"));
}

TEST_F(LoggingProgram, IsReadWithoutTheRunsThatItsDatabaseHadBefore) {
  const std::string old =
      kMlflowSchema + MlflowRunRow(kMlflowRunB) + MlflowMetricRow(kMlflowRunB, "loss", "9", 1);
  Write("mlflow.db", SqliteBytes(old));
  Write("source",
        SqliteBytes(old + MlflowRunRow(kMlflowRunA) + MlflowMetricRow(kMlflowRunA, "loss", "2", 1) +
                    MlflowMetricRow(kMlflowRunA, "loss", "1", 2)));
  for (const char* metrics : {"auto", "mlflow:mlflow.db"}) {
    const auto result = Record(metrics, "cp source mlflow.db");
    ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
    EXPECT_EQ(Recorded().metrics.at(0).value, 1.0);
    EXPECT_THAT(result.stderr_text, HasSubstr("mlflow.db was there before the run"));
    Write("mlflow.db", SqliteBytes(old));
  }
}

TEST_F(LoggingProgram, IsNotReadWithTheLogsOfEarlierRuns) {
  Write("source", "step,loss\n1,2\n2,1\n");
  Write("logs/old.csv", "step,loss\n1,9\n2,9\n");
  const auto result = Record("logs", "mkdir -p logs; cp source logs/new.csv");
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(Recorded().metrics.at(0).value, 1.0);
  EXPECT_THAT(Drill().stdout_text, HasSubstr("1 identical"));
  const auto nothing = Record("logs", "true");
  EXPECT_EQ(nothing.outcome.exit_code, 4);
  EXPECT_THAT(nothing.stderr_text, HasSubstr("holds no log that the run wrote"));
}

TEST_F(LoggingProgram, WhoseLossMovedDriftedOrCannotTell) {
  Write("source", "step,loss\n1,2\n2,1\n");
  const std::string script = "sed \"s/,1$/,${LAST:-1}/\" source > log.csv";
  ASSERT_EQ(Record("csv:log.csv", script).outcome.exit_code, 0);
  const auto drill = Run({RHARNESS_BIN_DIR "/rharness", "drill", "--history", "records", "--out",
                          "tonight", "--env", "LAST=1.5"});
  EXPECT_NE(drill.outcome.exit_code, 0);
  EXPECT_THAT(drill.stdout_text, Not(HasSubstr("identical")));
}

TEST_F(LoggingProgram, WhoseStepIsStatedIsRerunByTheSameStep) {
  Write("source", "tokens,step,loss\n100,1,2\n300,2,1\n");
  for (const char* metrics : {"csv:log.csv,step=tokens", "auto,step=tokens"}) {
    const auto result = Record(metrics, "cat source > log.csv");
    ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
    const Manifest run = Recorded();
    EXPECT_EQ(run.metrics_path, "log.csv");
    EXPECT_EQ(run.metrics_step, "tokens");
    ASSERT_EQ(run.curves.size(), 1U);
    EXPECT_EQ(run.curves[0].steps, (std::vector<std::int64_t>{100, 300}));
    const auto drill = Drill();
    EXPECT_THAT(drill.stdout_text, HasSubstr("1 identical")) << drill.stderr_text;
    for (const char* made : {"tonight", "records", "log.csv"}) fs::remove_all(At(made));
  }
  const auto wrong = Record("log.csv,step=token", "cat source > log.csv");
  EXPECT_EQ(wrong.outcome.exit_code, 4);
  EXPECT_THAT(wrong.stderr_text, HasSubstr("no column 'token'"));
  for (const char* metrics : {"log.csv,step=", ",step=a"}) {
    EXPECT_EQ(Record(metrics, "true").outcome.exit_code, 2) << metrics;
  }
}

TEST_F(LoggingProgram, HasAnErrorWhereTheLogIsAnotherOrNone) {
  Write("source", "step,loss\n1,2\n2,1\n");
  struct Row {
    std::string metrics;
    std::string script;
    std::string told;
  };
  for (const Row& row : std::vector<Row>{
           {"tensorboard:log.csv", "cp source log.csv", "is read as csv; expected tensorboard"},
           {"auto", "true", "the run wrote no log with metrics"},
           {"auto", "cp source a.csv; cp source b.csv",
            "several logs (a.csv, b.csv), and none is preferred; name one"},
           {"log.csv", "true", "the run did not write it"},
           {"log.csv", "echo step,loss > log.csv; echo 1,x >> log.csv", "log.csv"}}) {
    const auto result = Record(row.metrics, row.script);
    EXPECT_EQ(result.outcome.exit_code, 4) << row.told << result.stderr_text;
    EXPECT_THAT(result.stderr_text, HasSubstr(row.told));
    for (const char* name : {"a.csv", "b.csv", "log.csv"}) fs::remove(At(name));
  }
  EXPECT_EQ(Record("/abs/log.csv", "true").outcome.exit_code, 2);
}

TEST_F(LoggingProgram, ThatAppendsToAnOldLogIsNamed) {
  Write("source", "step,loss\n1,2\n2,1\n");
  Write("log.csv", "step,loss\n1,9\n");
  const auto result = Record("log.csv", "printf '2,4\\n3,1\\n' >> log.csv");
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(result.stderr_text, HasSubstr("log.csv was there before the run"));
}

}  // namespace
}  // namespace rharness
