// The local records of trackers and evaluation harnesses as logs of a run, named and found.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "harness/base/files.h"
#include "harness/records/logs/run_log.h"
#include "tests/compare/curves/build_tracker_log.h"
#include "tests/records/logs/log_folder.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

const std::string kRunA = kMlflowRunA, kRunB = kMlflowRunB;

// What Inspect 0.3.285 writes, without what is not read.
std::string InspectJson(const std::string& task, const std::string& scores,
                        const std::string& status = "success") {
  return R"({"version": 2, "status": ")" + status + R"(", "eval": {"run_id": "r", "task": ")" +
         task + R"(", "task_id": "t", "model": "mockllm/model"}, "results": {"total_samples": 2,)" +
         R"( "scores": [)" + scores + "]}}";
}
constexpr char kMatch[] = R"({"name": "match", "scorer": "match", "metrics": {
  "accuracy": {"name": "accuracy", "value": 0.5, "params": {}},
  "stderr": {"name": "stderr", "value": 0.25, "params": {}}}})";

std::string InspectArchive(const std::string& json, bool zstd = false) {
  const std::string data = zstd ? ZstdStored(json) : DeflateStored(json);
  return ZipOf({{.name = "_journal/start.json", .content = "{}"},
                {.name = "samples/1_epoch_1.json", .content = "{}", .deflate = true},
                {.name = "header.json", .content = json, .data = data, .method = zstd ? 93u : 8u}});
}

class TrackerLogs : public LogFolder {
 protected:
  // "name=value" of each metric, with the kind.
  std::vector<std::string> Read(const std::string& path, const CountsAsWritten& counts = {}) {
    const auto log = Try(path, counts);
    if (!log.ok()) return {log.error().ToString()};
    std::vector<std::string> told = {std::string(log->kind)};
    for (const auto& [name, value] : log->read.metrics.metrics) {
      told.push_back(fmt::format("{}={}", name, value));
    }
    left_out_ = log->read.left_out;
    return told;
  }
  std::vector<std::string> left_out_;
};

bool IsNotB(const fs::path& path) { return path.string().find(kRunB) == std::string::npos; }

TEST_F(TrackerLogs, OfMlflowsDatabaseAreOfTheRunThatIsNew) {
  const std::string first =
      kMlflowSchema + MlflowRunRow(kRunA) + MlflowMetricRow(kRunA, "loss", "2", 1) +
      MlflowMetricRow(kRunA, "loss", "1", 2) + MlflowMetricRow(kRunA, "epoch_seconds", "3", 1);
  Write("mlflow.db", SqliteBytes(first));
  Write("mlruns/0/" + kRunA + "/artifacts/results.json", R"({"accuracy": 0.97})");
  EXPECT_THAT(Read("mlflow.db"), ElementsAre("mlflow", "loss=1"));
  EXPECT_THAT(left_out_,
              ElementsAre("mlflow.db: times, rates and memory are not compared: epoch_seconds"));
  EXPECT_THAT(Find(), ElementsAre("mlflow:mlflow.db"));
  EXPECT_THAT(RunsInLog(HeldFolder::Open(root()).value(), "mlflow.db"),
              ElementsAre("mlflow.db/" + kRunA));
  Write("mlflow.db",
        SqliteBytes(first + MlflowRunRow(kRunB) + MlflowMetricRow(kRunB, "loss", "9", 1)));
  EXPECT_THAT(Read("mlflow.db", IsNotB), ElementsAre("mlflow", "loss=1"));
  EXPECT_THAT(Find(IsNotB), ElementsAre("mlflow:mlflow.db"));
  EXPECT_THAT(Read("mlflow.db"), ElementsAre(HasSubstr("holds several runs (" + kRunA)));
  EXPECT_THAT(Find(), ElementsAre("mlflow.db/" + kRunA, "mlflow.db/" + kRunB));
  const auto none = [](const fs::path& path) { return path == "mlflow.db"; };
  EXPECT_EQ(Try("mlflow.db", none).error().code, ErrorCode::kNotFound);
  EXPECT_THAT(Find(none), IsEmpty());
}

TEST_F(TrackerLogs, OfAnotherDatabaseAreNone) {
  Write("cache.db", SqliteBytes("CREATE TABLE a (b INT);"));
  EXPECT_THAT(Find(), IsEmpty());
  EXPECT_THAT(RunsInLog(HeldFolder::Open(root()).value(), "cache.db"), IsEmpty());
  EXPECT_FALSE(Try("cache.db").ok());
}

TEST_F(TrackerLogs, OfMlflowsFileStoreAreOfTheRunThatIsNew) {
  Write("mlruns/0/meta.yaml", "name: Default\n");
  Write("mlruns/0/" + kRunB + "/metrics/loss", "1 9 1\n");
  Write("mlruns/0/" + kRunA + "/metrics/loss", "1 2 1\n2 1 2\n");
  Write("mlruns/0/" + kRunA + "/artifacts/log.csv", "step,loss\n1,2\n");
  EXPECT_THAT(Read("mlruns", IsNotB), ElementsAre("mlflow", "loss=1"));
  EXPECT_THAT(Read("mlruns/0/" + kRunA), ElementsAre("mlflow", "loss=1"));
  EXPECT_THAT(Find(IsNotB), ElementsAre("mlflow:mlruns"));
  EXPECT_THAT(Read("mlruns"), ElementsAre(HasSubstr("holds several runs (mlruns/0/" + kRunA)));
  EXPECT_THAT(Find(), ElementsAre("mlruns/0/" + kRunA, "mlruns/0/" + kRunB));
}

TEST_F(TrackerLogs, OfMlflowAreReadThroughNoLink) {
  Write("secret/0/" + kRunA + "/metrics/loss", "1 2 1\n");
  fs::create_symlink(root() / "secret", root() / "mlruns");
  EXPECT_FALSE(Try("mlruns").ok());
  Write("secret.db", SqliteBytes(std::string(kMlflowSchema) + MlflowRunRow(kRunA) +
                                 MlflowMetricRow(kRunA, "loss", "2", 1)));
  fs::create_symlink(root() / "secret.db", root() / "mlflow.db");
  EXPECT_EQ(Try("mlflow.db").error().code, ErrorCode::kIntegrity);
}

TEST_F(TrackerLogs, OfWandbAreFoundBelowTheFolderWhoseNameStays) {
  const std::string log = WandbLogOf({WandbHistoryRecord(0, {{"loss", "2"}, {"rate", "1"}}),
                                      WandbHistoryRecord(1, {{"loss", "1"}, {"text", "\"a\""}}),
                                      WandbSummaryRecord({{"best", "0.5"}, {"_step", "1"}})});
  const std::string one = "wandb/offline-run-20261129_094054-m8pbmrvo";
  Write(one + "/run-m8pbmrvo.wandb", log);
  Write(one + "/files/wandb-summary.json", R"({"best": 0.5})");
  EXPECT_THAT(Find(), ElementsAre("wandb:wandb"));
  EXPECT_THAT(Read("wandb"), ElementsAre("wandb", "best=0.5", "loss=1", "rate=1"));
  // In the same words in each run.
  EXPECT_THAT(left_out_, ElementsAre(HasSubstr("wandb: values that are no numbers")));
  const std::string other = "wandb/offline-run-20261129_094055-otherone";
  Write(other + "/run-otherone.wandb", log);
  const auto is_one = [&](const fs::path& path) { return path.string().starts_with(one); };
  EXPECT_THAT(Find(is_one), ElementsAre("wandb:wandb"));
  EXPECT_THAT(Read("wandb", is_one), ElementsAre("wandb", "best=0.5", "loss=1", "rate=1"));
  EXPECT_THAT(Find(), ElementsAre(one + "/run-m8pbmrvo.wandb", other + "/run-otherone.wandb"));
  EXPECT_THAT(Read("wandb"), ElementsAre(HasSubstr("several logs")));
}

TEST_F(TrackerLogs, OfInspectHaveTheAggregatesOfEachTask) {
  const std::string arc = InspectJson("arc", kMatch);
  for (const bool zstd : {false, true}) {
    const std::string short_log =
        R"({"eval":{"task":"arc"},"status":"success","results":{"scores":[{"name":"match",)"
        R"("metrics":{"accuracy":{"value":0.5},"stderr":{"value":0.25}}}]}})";
    Write("logs/2026-11-29T09-40-22-00-00_arc_JfTU.eval",
          InspectArchive(zstd ? short_log : arc, zstd));
    EXPECT_THAT(Read("logs"),
                ElementsAre("inspect", "arc/match/accuracy=0.5", "arc/match/stderr=0.25"));
    EXPECT_THAT(Find(), ElementsAre("inspect:logs"));
  }
  Write("logs/2026-11-29T09-40-23-00-00_gsm_KfTU.json", InspectJson("gsm", kMatch, "cancelled"));
  EXPECT_THAT(Read("logs"),
              ElementsAre("inspect", "arc/match/accuracy=0.5", "arc/match/stderr=0.25",
                          "gsm/match/accuracy=0.5", "gsm/match/stderr=0.25"));
  EXPECT_THAT(left_out_, ElementsAre("the status of the evaluation of 'gsm' is 'cancelled'"));
  EXPECT_THAT(Find(), ElementsAre("inspect:logs"));
  Write("logs/2026-11-29T09-41-23-00-00_gsm_LfTU.json", InspectJson("gsm", kMatch));
  EXPECT_THAT(Read("logs"), ElementsAre(HasSubstr("several logs with 'gsm/match/accuracy'")));
}

TEST_F(TrackerLogs, OfInspectNameTheReducersOfAScore) {
  const auto reduced = [](const std::string& reducer, const std::string& value) {
    return R"({"name": "match", "reducer": ")" + reducer +
           R"(", "metrics": {"accuracy": {"value": )" + value + "}}}";
  };
  Write("a.json", InspectJson("arc", reduced("mean", "0.5") + "," + reduced("mode", "1")));
  EXPECT_THAT(Read("a.json"),
              ElementsAre("inspect", "arc/match,mean/accuracy=0.5", "arc/match,mode/accuracy=1"));
  Write("a.json", InspectJson("arc", reduced("mean", "0.5") + "," + reduced("mean", "1")));
  EXPECT_THAT(Read("a.json"), ElementsAre(HasSubstr("two scores are called 'match'")));
  Write("a.json", InspectJson("arc", R"({"name": "match", "metrics": 3})"));
  EXPECT_THAT(Read("a.json"), ElementsAre(HasSubstr("a.json: expected results.scores")));
  Write("a.json", R"({"version": 2, "status": "error", "eval": {"task": "arc", "task_id": "t"}})");
  EXPECT_THAT(Read("a.json"), ElementsAre(HasSubstr("has no results; the status")));
}

TEST_F(TrackerLogs, OfInspectSurviveEveryTruncationAndManyChanges) {
  const std::string whole = InspectArchive(InspectJson("arc", kMatch));
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    Write("a.eval", whole.substr(0, size));
    EXPECT_FALSE(Try("a.eval").ok()) << size;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string changed = whole;
    changed[random() % changed.size()] = static_cast<char>(random());
    Write("a.eval", changed);
    const auto log = Try("a.eval");
    if (log.ok() && log->kind == "inspect") {
      EXPECT_LE(log->read.metrics.metrics.size(), 2U) << i;
    }
  }
}

// What HELM 0.5.16 writes, without what is not read.
std::string HelmStat(const std::string& name, const std::string& more, const std::string& mean) {
  return R"({"name": {"name": ")" + name + R"(", "split": "test")" + more +
         R"(}, "count": 1, "sum": 1, "sum_squared": 1)" + mean + "}";
}

TEST_F(TrackerLogs, OfHelmAreTheMeansOfEachRunEntry) {
  const std::string stats =
      "[\n  " + HelmStat("exact_match", "", R"(, "mean": 0.5)") + ", " +
      HelmStat("exact_match", R"(, "perturbation": {"name": "fairness"})", R"(, "mean": 0.25)") +
      ", " + HelmStat("inference_runtime", "", R"(, "mean": 3.5)") + ", " +
      HelmStat("training_co2_cost", "", "") + "]";
  Write("out/runs/v1/mcqa:model=m/stats.json", stats);
  Write("out/runs/v1/mcqa:model=m/per_instance_stats.json",
        R"([{"instance_id": "id1", "stats": )" + stats + "}]");
  Write("out/runs/v1/mcqa:model=m/scenario.json", R"({"name": "mcqa", "limit": 3})");
  EXPECT_THAT(Find(), ElementsAre("helm:out/runs/v1/mcqa:model=m/stats.json"));
  EXPECT_THAT(Read("out"), ElementsAre("helm", "mcqa:model=m/exact_match/test=0.5",
                                       "mcqa:model=m/exact_match/test/fairness=0.25"));
  EXPECT_THAT(left_out_, ElementsAre(HasSubstr("not compared: mcqa:model=m/inference_runtime")));
  Write("out/runs/v1/arc:model=m/stats.json",
        "[" + HelmStat("exact_match", "", R"(, "mean": 1)") + "]");
  EXPECT_THAT(Find(), ElementsAre("helm:out/runs/v1"));
  EXPECT_THAT(Read("out/runs/v1"), ElementsAre("helm", "arc:model=m/exact_match/test=1",
                                               "mcqa:model=m/exact_match/test=0.5",
                                               "mcqa:model=m/exact_match/test/fairness=0.25"));
  Write("stats.json", R"([{"name": {"name": "a"}, "sum_squared": 1}, {"name": 3}])");
  EXPECT_THAT(Read("stats.json"), ElementsAre(HasSubstr("stats.json: [1]: expected a statistic")));
}

}  // namespace
}  // namespace rharness
