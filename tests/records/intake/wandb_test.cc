// Folders of W&B's client: one that wandb 0.31 wrote offline (wandb_offline/, by
// peers/wandb_run.py), whole and damaged, and the files that other versions put beside the log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compare/curves/wandb_log.h"
#include "harness/base/digest.h"
#include "tests/records/intake/source_tree.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr char kWandbFolder[] = "offline-run-20261123_111513-wnrt5t6c";
constexpr char kWandbLog[] = "run-wnrt5t6c.wandb";

std::string RecordedLog() {
  return ReadFile(std::string(RHARNESS_SOURCE_DIR "/tests/records/intake/wandb_offline/") +
                  kWandbFolder + "/" + kWandbLog)
      .value();
}

class Wandb : public SourceTree {
 protected:
  ImportOutcome ImportLog(std::string_view log) {
    Put(std::string(kWandbFolder) + "/" + kWandbLog, log);
    return Import();
  }
};

TEST(WandbRecorded, BecomesARunWithItsConfigCurvesAndMachine) {
  ImportRequest request;
  request.source = RHARNESS_SOURCE_DIR "/tests/records/intake/wandb_offline";
  const ImportOutcome outcome = ImportAll(request);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
  ASSERT_THAT(outcome.runs, SizeIs(1));
  const Manifest& run = outcome.runs[0];
  EXPECT_EQ(run.run_id, "wandb-wnrt5t6c");
  EXPECT_EQ(run.family, "sweep-1");
  EXPECT_EQ(run.code.commit, "8634e73cee0f8247781a9dbdc6a392b9b4c00498");
  EXPECT_EQ(run.code.repository, "https://git.example/digits.git");
  EXPECT_THAT(run.command,
              ElementsAre("/opt/venv/bin/python", "train.py", "/srv/digits", "12", "--seed", "3"));
  EXPECT_THAT(WorthOf(run, "command"), HasSubstr("hint"));
  EXPECT_EQ(run.hyperparameters.at("lr").ToDouble(), 0.01);
  EXPECT_EQ(run.hyperparameters.at("name").AsString(), "NO");
  EXPECT_EQ(run.hyperparameters.at("nested.depth").Dump(), "[1,2]");
  EXPECT_EQ(run.environment.software.at("python"), "3.11.7");
  EXPECT_EQ(run.environment.software.at("cryptography"), "50.0.2");
  EXPECT_EQ(run.environment.hardware.cpu.model, "AMD EPYC");
  EXPECT_EQ(run.environment.hardware.cpu.architecture, "x86_64");
  EXPECT_TRUE(HasRemark(run, "12 logged values are no number"));
  EXPECT_FALSE(HasRemark(run, "byte"));
}

// What peers/wandb_run.py computes: 0.9 to the power of epoch + 1, at every epoch.
TEST(WandbRecorded, HasEveryPointOfItsCurves) {
  ImportRequest request;
  request.source = RHARNESS_SOURCE_DIR "/tests/records/intake/wandb_offline";
  const ImportOutcome outcome = ImportAll(request);
  ASSERT_THAT(outcome.runs, SizeIs(1));
  const Curve* loss = CurveOf(outcome.runs[0], "loss");
  ASSERT_NE(loss, nullptr);
  ASSERT_THAT(loss->steps, SizeIs(12));
  for (std::size_t i = 0; i < loss->steps.size(); ++i) {
    EXPECT_EQ(loss->steps[i], static_cast<std::int64_t>(i));
    EXPECT_NEAR(loss->values[i], std::pow(0.9, static_cast<double>(i) + 1.0), 1e-15);
  }
  EXPECT_NEAR(MetricOf(outcome.runs[0], "best"), 1.0 - std::pow(0.9, 12), 1e-15);
  EXPECT_TRUE(std::isnan(MetricOf(outcome.runs[0], "odd")));
  EXPECT_TRUE(std::isinf(MetricOf(outcome.runs[0], "far")));
}

TEST_F(Wandb, KeepsWhatCameBeforeATornEndOfTheLogAtEveryByte) {
  const std::string log = RecordedLog();
  std::size_t before = 0;
  for (std::size_t size = 7; size < log.size(); size += 37) {
    const ImportOutcome outcome = ImportLog(log.substr(0, size));
    ASSERT_TRUE(outcome.status.ok()) << size;
    ASSERT_THAT(outcome.runs, SizeIs(1)) << size;
    EXPECT_TRUE(HasRemark(outcome.runs[0], "the log has no end")) << size;
    const Curve* loss = CurveOf(outcome.runs[0], "loss");
    const std::size_t points = loss == nullptr ? 0 : loss->steps.size();
    EXPECT_GE(points, before) << size;
    before = points;
  }
  EXPECT_EQ(before, 12u);
}

TEST_F(Wandb, TellsWhereALogIsDamagedAndTakesNothingOfThatRecord) {
  std::string log = RecordedLog();
  const std::size_t at = log.find("0.59049000");  // a value of the loss, in the middle
  ASSERT_NE(at, log.npos);
  log[at + 2] = '9';
  const ImportOutcome outcome = ImportLog(log);
  ASSERT_THAT(outcome.runs, SizeIs(1));
  EXPECT_TRUE(HasRemark(outcome.runs[0], "a record's checksum is wrong"));
  const Curve* loss = CurveOf(outcome.runs[0], "loss");
  ASSERT_NE(loss, nullptr);
  EXPECT_THAT(loss->steps, ElementsAre(0, 1, 2, 3));
}

TEST_F(Wandb, ReadsTheFilesBesideALogThatHasNothing) {
  Put("run-1/files/wandb-metadata.json",
      R"({"os": "Linux-6.1-aarch64", "python": "3.9.2", "startedAt": "2023-11-14T22:13:20.000000",
      "docker": "reg.example/train:2", "program": "train.py", "args": ["--lr", 0.1],
      "git": {"remote": "git@git.example:x.git", "commit": ")" +
          std::string(40, 'c') + R"("}, "gpu": "NVIDIA A100", "gpu_count": 2, "gpu_nvidia":
      [{"name": "NVIDIA A100", "memoryTotal": "42949672960"}]})");
  Put("run-1/files/config.yaml", "wandb_version: 1\n_wandb:\n  value: {}\nlr:\n  value: 1e-3\n");
  Put("run-1/files/wandb-summary.json", R"({"acc": {"max": 0.5}, "nan": NaN, "_step": 4})");
  Put("run-1/files/diff.patch", "--- a\n");
  Put("run-1/files/model.pt", "weights");
  const ImportOutcome outcome = Import();
  ASSERT_THAT(outcome.runs, SizeIs(1));
  const Manifest& run = outcome.runs[0];
  EXPECT_EQ(run.run_id, "wandb-1");
  EXPECT_EQ(FormatTime(run.started), "2023-11-14T22:13:20.000Z");
  EXPECT_EQ(run.image.repository, "train");
  EXPECT_THAT(WorthOf(run, "image"), HasSubstr("hint"));
  EXPECT_THAT(run.command, ElementsAre("python3", "train.py", "--lr", "0.1"));
  EXPECT_EQ(run.code.diff_sha256, Sha256HexOf("--- a\n"));
  EXPECT_TRUE(run.code.dirty);
  EXPECT_EQ(run.hyperparameters.at("lr").ToDouble(), 1e-3);
  EXPECT_EQ(MetricOf(run, "acc.max"), 0.5);
  ASSERT_THAT(run.environment.hardware.gpus, SizeIs(1));
  EXPECT_EQ(run.environment.hardware.gpus[0].memory_bytes, 42949672960u);
  ASSERT_THAT(run.artifacts, SizeIs(1));
  EXPECT_EQ(run.artifacts[0].role, "weights");
  EXPECT_TRUE(HasRemark(run, "'model.pt' is taken for weights by its name"));
  EXPECT_TRUE(HasRemark(run, "no transaction log"));
}

TEST_F(Wandb, TakesARunWithAnEmptyLog) {
  Put("run-1/run-1.wandb", "");
  Put("run-1/files/wandb-summary.json", R"({"acc": 0.5})");
  const ImportOutcome outcome = Import();
  ASSERT_THAT(outcome.runs, SizeIs(1));
  EXPECT_EQ(MetricOf(outcome.runs[0], "acc"), 0.5);
  EXPECT_TRUE(HasRemark(outcome.runs[0], "run-1.wandb: is empty"));
}

TEST_F(Wandb, ReadsTheFilesOfClientsBefore010) {
  Put("run-20200101_000000-abc/wandb-metadata.json", R"({"program": "train.py", "args": []})");
  Put("run-20200101_000000-abc/config.yaml", "wandb_version: 1\nlr:\n  desc: null\n  value: 0.1\n");
  Put("run-20200101_000000-abc/wandb-history.jsonl",
      "{\"loss\": 2.5, \"_step\": 0, \"_runtime\": 1.5}\n{\"loss\": NaN, \"_step\": 5}\nbroken\n");
  const ImportOutcome outcome = Import();
  ASSERT_THAT(outcome.runs, SizeIs(1));
  const Manifest& run = outcome.runs[0];
  EXPECT_EQ(run.run_id, "wandb-abc");
  EXPECT_EQ(run.hyperparameters.at("lr").ToDouble(), 0.1);
  ASSERT_NE(CurveOf(run, "loss"), nullptr);
  EXPECT_THAT(CurveOf(run, "loss")->steps, ElementsAre(0, 5));
  EXPECT_TRUE(std::isnan(CurveOf(run, "loss")->values[1]));
  EXPECT_TRUE(HasRemark(run, "wandb-history.jsonl: 1 line is no JSON object"));
}

TEST_F(Wandb, FollowsNoLinkOutOfARun) {
  ASSERT_THAT(ImportLog(RecordedLog()).runs, SizeIs(1));
  Put("../secret.json", R"({"python": "stolen"})");
  std::filesystem::create_directories(root() / kWandbFolder / "files");
  PutLink(std::string(kWandbFolder) + "/files/wandb-metadata.json", "../../../secret.json");
  PutLink(std::string(kWandbFolder) + "/files/passwd", "/etc/passwd");
  const ImportOutcome outcome = Import();
  ASSERT_THAT(outcome.runs, SizeIs(1));
  EXPECT_TRUE(outcome.runs[0].artifacts.empty());
  EXPECT_EQ(ToJson(outcome.runs[0]).Dump().find("stolen"), std::string::npos);
  EXPECT_TRUE(HasRemark(outcome.runs[0], "'passwd' was left out"));
}

TEST_F(Wandb, RefusesWhatIsNoLogAndAnotherVersionOfIt) {
  for (const std::string& log : {std::string("hello"), std::string(":W&B\xe1\xbe\x01", 7)}) {
    const ImportOutcome outcome = ImportLog(log);
    EXPECT_FALSE(outcome.status.ok());
    ASSERT_THAT(outcome.refused, SizeIs(1));
    EXPECT_THAT(outcome.refused[0].second, HasSubstr(kWandbLog));
  }
}

TEST_F(Wandb, RefusesASecondFolderOfOneRun) {
  Put("run-20260101_000000-a1/files/wandb-metadata.json", "{}");
  Put("run-20260102_000000-a1/files/wandb-metadata.json", "{}");
  const ImportOutcome outcome = Import();
  EXPECT_THAT(outcome.runs, SizeIs(1));
  ASSERT_THAT(outcome.refused, SizeIs(1));
  EXPECT_THAT(outcome.refused[0].first, HasSubstr("run-20260102"));
}

// As wandb 0.23 writes SLURM_ variables: in lower case, without the prefix.
TEST_F(Wandb, HasTheNodesAndTasksOfItsSlurmJob) {
  const std::string folder = "run-20261123_111513-abcd1234/files/";
  const auto import = [&](const std::string& slurm) {
    Put(folder + "wandb-metadata.json", R"({"program": "train.py", "slurm": )" + slurm + "}");
    Put(folder + "config.yaml", "lr:\n  value: 0.1\n");
    const ImportOutcome outcome = Import();
    EXPECT_THAT(outcome.runs, SizeIs(1)) << outcome.status.error().ToString();
    return outcome.runs.empty() ? Manifest() : outcome.runs[0];
  };
  const Manifest run = import(R"({"nnodes": "2", "ntasks": "8", "job_id": "77"})");
  ASSERT_TRUE(run.gang.has_value());
  EXPECT_EQ(run.gang->nodes, 2);
  EXPECT_EQ(run.gang->tasks_per_node, 4);
  EXPECT_THAT(WorthOf(run, "gang.nodes"), HasSubstr("slurm.nnodes"));
  const Manifest unknown = import(R"({"job_num_nodes": 4})");
  ASSERT_TRUE(unknown.gang.has_value());
  EXPECT_EQ(unknown.gang->nodes, 4);
  EXPECT_EQ(WorthOf(unknown, "gang.tasks_per_node"), "");
  EXPECT_FALSE(import(R"({"nnodes": "1", "ntasks": "1"})").gang.has_value());
  EXPECT_FALSE(import(R"({"nnodes": "2x", "ntasks": "-4"})").gang.has_value());
  EXPECT_FALSE(import(R"({"nnodes": "3", "ntasks": "8"})").gang.has_value());
  const Manifest many = import(R"({"nnodes": "2000000", "ntasks": "2000000"})");
  EXPECT_FALSE(many.gang.has_value());
  EXPECT_TRUE(HasRemark(many, "more than a run may have"));
}

}  // namespace
}  // namespace rharness
