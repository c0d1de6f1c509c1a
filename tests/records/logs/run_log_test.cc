// Logs of each kind, of earlier runs, and those that are found.
#include "harness/records/logs/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>

#include "harness/base/files.h"
#include "tests/compare/curves/build_event_file.h"
#include "tests/records/logs/log_folder.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr char kState[] = R"({"global_step": 4, "log_history": [
  {"epoch": 0.5, "loss": 2.5, "learning_rate": 0.1, "step": 2},
  {"epoch": 1.0, "loss": 1.5, "learning_rate": 0.05, "step": 4},
  {"epoch": 1.0, "eval_loss": 1.75, "eval_runtime": 12.5, "eval_samples_per_second": 8.0, "step": 4},
  {"epoch": 1.0, "train_runtime": 9.0, "train_loss": 2.0, "step": 4}]})";

class Logs : public LogFolder {
 protected:
  RunLog Read(const std::string& path, const CountsAsWritten& counts = {}) {
    auto log = Try(path, counts);
    EXPECT_TRUE(log.ok()) << log.error().ToString();
    return log.ok() ? std::move(*log) : RunLog();
  }
};

std::vector<std::string> NamesOf(const RunLog& log) {
  std::vector<std::string> names;
  for (const Curve& curve : log.read.metrics.curves) names.push_back(curve.name);
  return names;
}

TEST_F(Logs, OfOurOwnFormAreReadAsBefore) {
  Write("m.json",
        R"({"metrics": {"acc": 0.5}, "curves": {"loss": {"steps": [1], "values": [2]}}})");
  const RunLog log = Read("m.json");
  EXPECT_EQ(log.kind, "metrics");
  EXPECT_THAT(log.read.metrics.metrics, ElementsAre(Pair("acc", 0.5)));
  EXPECT_THAT(NamesOf(log), ElementsAre("loss"));
  Write("m.json", R"({"metrics": {"acc": 0.5}, "losses": [1, 2]})");
  EXPECT_EQ(Read("m.json").kind, "metrics");
  EXPECT_THAT(Read("m.json").read.left_out, ElementsAre(HasSubstr("losses")));
}

TEST_F(Logs, GiveEachCurveAsAMetricWithItsLastValue) {
  Write("log.csv", "epoch,acc,loss,time\n0,0.5,2,9\n1,0.75,1,8\n");
  const RunLog log = Read("log.csv");
  EXPECT_EQ(log.kind, "csv");
  EXPECT_THAT(log.read.metrics.metrics, ElementsAre(Pair("acc", 0.75), Pair("loss", 1)));
  EXPECT_THAT(NamesOf(log), ElementsAre("acc", "loss"));
  EXPECT_THAT(log.read.left_out,
              ElementsAre("log.csv: times, rates and memory are not compared: time"));
}

// A manifest holds the points as text.
TEST_F(Logs, WithMorePointsThanAManifestHoldsAreComparedByTheirLastValueAndMean) {
  const auto mean = [&](double first) {
    std::string log = fmt::format("step,loss\n0,{}\n", first);
    for (int i = 1; i <= 1'000'000; ++i) log += fmt::format("{},1\n", i);
    Write("log.csv", log);
    const RunLog read = Read("log.csv");
    EXPECT_TRUE(read.read.metrics.curves.empty());
    EXPECT_EQ(read.read.metrics.metrics.at("loss"), 1.0);
    EXPECT_THAT(read.read.left_out, ElementsAre(HasSubstr("the curve is not compared")));
    return read.read.metrics.metrics.at("loss (mean of all values)");
  };
  EXPECT_NE(mean(1.0), mean(1.0 + 1e-6));
}

TEST_F(Logs, OfOneValueAreMetricsAndNoCurves) {
  Write("lightning_logs/version_0/metrics.csv",
        "epoch,step,test_acc,train_loss\n0,9,,2.5\n1,19,,1.5\n1,20,0.875,\n");
  const RunLog log = Read("lightning_logs");
  EXPECT_THAT(log.read.metrics.metrics,
              ElementsAre(Pair("test_acc", 0.875), Pair("train_loss", 1.5)));
  EXPECT_THAT(NamesOf(log), ElementsAre("train_loss"));
}

TEST_F(Logs, OfAKerasHistoryAndOfPlainResultsAreRead) {
  Write("history.json", R"({"loss": [2.0, 1.0], "val_loss": [3.0, NaN]})");
  const RunLog history = Read("history.json");
  EXPECT_EQ(history.kind, "json");
  EXPECT_TRUE(std::isnan(history.read.metrics.metrics.at("val_loss")));
  Write("results.json",
        R"({"accuracy": 0.97, "f1": "0.5", "seconds": 12.0, "model": "mlp", "loss": NaN})");
  const RunLog results = Read("results.json");
  EXPECT_EQ(results.kind, "results");
  EXPECT_EQ(results.read.metrics.metrics.size(), 3U);
  EXPECT_EQ(results.read.metrics.metrics.at("f1"), 0.5);
  EXPECT_THAT(results.read.left_out,
              ElementsAre("results.json: what is no number is not compared: 'model' (text)",
                          "results.json: times, rates and memory are not compared: seconds"));
  EXPECT_EQ(results.read.metrics.metrics.at("accuracy"), 0.97);
  Write("log.jsonl", "{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": 1}\n");
  EXPECT_EQ(Read("log.jsonl").kind, "jsonl");
}

// A record of a version that knew no other form lists what it left out.
TEST_F(Logs, AreReadAsOurOwnWhereTheRecordWas) {
  Write("results.json", R"({"accuracy": 0.97})");
  const auto log =
      ReadRunLog(HeldFolder::Open(root()).value(), "results.json", {}, ReadLogAs::kOwn);
  ASSERT_TRUE(log.ok());
  EXPECT_THAT(log->read.metrics.metrics, IsEmpty());
  EXPECT_THAT(log->read.unread, ElementsAre(Pair("accuracy", "0.97")));
}

TEST_F(Logs, OfATrainerAreItsHistoryAndItsSummary) {
  Write("out/checkpoint-2/trainer_state.json", R"({"log_history": [{"step": 2, "loss": 7}]})");
  Write("out/checkpoint-10/trainer_state.json", kState);
  Write("out/all_results.json", R"({"epoch": 1.0, "eval_loss": 1.625, "train_runtime": 9.0})");
  Write("out/runs/Nov28/events.out.tfevents.1.h", FileHead() + SimpleScalar(1, "train/loss", 2));
  const RunLog log = Read("out");
  EXPECT_EQ(log.kind, "trainer");
  EXPECT_THAT(
      log.read.metrics.metrics,
      ElementsAre(Pair("eval_loss", 1.625), Pair("learning_rate", 0.05), Pair("loss", 1.5)));
  EXPECT_THAT(NamesOf(log), ElementsAre("learning_rate", "loss"));
  EXPECT_THAT(log.read.left_out,
              ElementsAre("out: times, rates and memory are not compared: eval_runtime, "
                          "eval_samples_per_second, train_runtime"));
}

TEST_F(Logs, OfAnEvaluationHarnessAreItsValuesByTask) {
  Write("out/model/results_2026-11-20T08-00-00.1.json",
        R"({"results": {"arc": {"alias": "arc", "acc,none": 0.5, "acc_stderr,none": 0.01},
                        "gsm8k": {"exact_match,strict-match": 0.25}}, "versions": {"arc": 1.0}})");
  Write("out/model/samples_arc_2026-11-20T08-00-00.1.jsonl", R"({"doc_id": 0, "acc": 1.0})");
  const RunLog log = Read("out");
  EXPECT_EQ(log.kind, "lm-eval");
  EXPECT_THAT(log.read.metrics.metrics,
              ElementsAre(Pair("arc/acc", 0.5), Pair("gsm8k/exact_match,strict-match", 0.25)));
  EXPECT_THAT(Find(), ElementsAre("lm-eval:out/model"));
}

TEST_F(Logs, HaveTheStepThatIsStated) {
  Write("log.csv", "tokens,step,loss\n100,1,2\n200,2,1\n");
  const auto read = [&](const std::string& path, const std::string& step) {
    return ReadRunLog(HeldFolder::Open(root()).value(), path, {}, ReadLogAs::kItsContent, step);
  };
  const auto log = read("log.csv", "tokens");
  ASSERT_TRUE(log.ok()) << log.error().ToString();
  EXPECT_THAT(log->read.metrics.metrics, ElementsAre(Pair("loss", 1)));
  EXPECT_THAT(log->read.metrics.curves.at(0).steps, ElementsAre(100, 200));
  EXPECT_FALSE(read("log.csv", "token").ok());
  Write("history.json", R"({"loss": [2.0, 1.0]})");
  EXPECT_THAT(read("history.json", "tokens").error().message,
              HasSubstr("is read as json, whose steps need no name"));
}

TEST_F(Logs, OfEarlierRunsDoNotCount) {
  Write("runs/old/events.out.tfevents.1.h", FileHead() + SimpleScalar(1, "loss", 9));
  Write("runs/new/events.out.tfevents.2.h",
        FileHead() + SimpleScalar(1, "loss", 2) + SimpleScalar(2, "loss", 1));
  const auto is_new = [](const fs::path& path) {
    return path.string().find("new") != std::string::npos;
  };
  EXPECT_THAT(Read("runs", is_new).read.metrics.metrics, ElementsAre(Pair("loss", 1)));
  EXPECT_THAT(Read("runs").read.metrics.metrics,
              ElementsAre(Pair("new/loss", 1), Pair("old/loss", 9)));
  const auto none = Try("runs", [](const fs::path&) { return false; });
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

TEST_F(Logs, OfAFolderWithSeveralAreRefusedWithTheirNames) {
  Write("out/a.csv", "step,loss\n1,2\n");
  Write("out/b.csv", "step,loss\n1,2\n");
  Write("out/config.json", R"({"model": {"layers": 2}})");
  EXPECT_THAT(Try("out").error().message, HasSubstr("several logs (a.csv, b.csv)"));
  fs::remove(root() / "out" / "b.csv");
  EXPECT_EQ(Read("out").kind, "csv");
}

TEST_F(Logs, AreReadThroughNoLink) {
  Write("secret.csv", "step,loss\n1,2\n");
  fs::create_directories(root() / "out");
  fs::create_symlink(root() / "secret.csv", root() / "out" / "log.csv");
  EXPECT_EQ(Try("out/log.csv").error().code, ErrorCode::kIntegrity);
  EXPECT_EQ(Try("out").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(Try("../" + root().filename().string() + "/secret.csv").ok());
}

TEST_F(Logs, WithNamesThatNoManifestHoldsAreNamed) {
  Write("log.jsonl", "{\"step\": 1, \"a\\u0007b\": 2, \"loss\": 1}\n");
  const RunLog log = Read("log.jsonl");
  EXPECT_THAT(log.read.metrics.metrics, ElementsAre(Pair("loss", 1)));
  EXPECT_THAT(log.read.left_out, ElementsAre(HasSubstr("control characters")));
}

TEST_F(Logs, AreFoundTheBestFirst) {
  EXPECT_THAT(Find(), IsEmpty());
  Write("log.csv", "step,loss\n1,2\n");
  Write("config.json", R"({"model": {"layers": 2}})");
  EXPECT_THAT(Find(), ElementsAre("csv:log.csv"));
  Write("runs/Nov28_06-12-03_host/events.out.tfevents.2.h", FileHead());
  EXPECT_THAT(Find(), ElementsAre("tensorboard:runs", "csv:log.csv"));
  Write("out/checkpoint-10/trainer_state.json", kState);
  Write("out/all_results.json", R"({"eval_loss": 1.625})");
  EXPECT_THAT(Find(), ElementsAre("trainer:out", "tensorboard:runs", "csv:log.csv"));
  Write("metrics.json", R"({"metrics": {"acc": 1}})");
  EXPECT_THAT(Find(), ElementsAre("metrics:metrics.json", "trainer:out", "tensorboard:runs",
                                  "csv:log.csv"));
  EXPECT_THAT(Find([](const fs::path& path) { return path.extension() == ".csv"; }),
              ElementsAre("csv:log.csv"));
  Write("events.out.tfevents.3.h", FileHead());
  EXPECT_THAT(Find(), ElementsAre("metrics:metrics.json", "trainer:out", "csv:log.csv",
                                  "events.out.tfevents.3.h",
                                  "runs/Nov28_06-12-03_host/events.out.tfevents.2.h"));
  fs::remove(root() / "events.out.tfevents.3.h");
  Write("more.jsonl", "{\"step\": 1, \"loss\": 2}\n");
  EXPECT_THAT(Find(), ElementsAre("metrics:metrics.json", "trainer:out", "tensorboard:runs",
                                  "log.csv", "more.jsonl"));
}

}  // namespace
}  // namespace rharness
