// MLPerf logs: the public ones of a round, and broken ones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "harness/records/intake/blockers.h"
#include "harness/records/intake/mlperf_system.h"
#include "tests/records/intake/source_tree.h"
#include "tests/shared_data.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Event(const std::string& key, const std::string& value,
                  const std::string& metadata = "{}", int time_ms = 1000) {
  return fmt::format(R"(:::MLLOG {{"time_ms": {}, "key": "{}", "value": {}, "metadata": {}}})"
                     "\n",
                     time_ms, key, value, metadata);
}

std::string Log(const std::string& seed, const std::string& between = "") {
  return Event("submission_benchmark", "\"retinanet\"") + Event("submission_org", "\"Org\"") +
         Event("submission_platform", "\"box\"") + Event("seed", seed) +
         Event("global_batch_size", "256") + Event("opt_name", "\"adam\"") +
         Event("opt_base_learning_rate", "8.5e-05") + Event("run_start", "null", "{}", 2000) +
         between + Event("eval_accuracy", "0.25", R"({"epoch_num": 1})", 3000) +
         Event("eval_accuracy", "0.375", R"({"epoch_num": 2})", 4000) +
         Event("run_stop", "null", R"({"status": "success"})", 62000);
}

constexpr char kLog[] = "results/box/retinanet/result_0.txt";

class Mlperf : public SourceTree {};

TEST_F(Mlperf, LogBecomesARunWithSeedsSettingsEvaluationsAndTimeToTrain) {
  Put(kLog, Log("7"));
  Put("systems/box.json", R"({"accelerators_per_node": "2", "accelerator_model_name": "X100",
    "accelerator_memory_capacity": "80 GiB", "host_processor_model_name": "CPU",
    "number_of_nodes": 2, "framework": "PyTorch", "other_software_stack":
    [{"cuda_version": "13.0", "nvidia_kernel_driver": "580.1"}]})");
  const ImportOutcome outcome = Import();
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
  ASSERT_EQ(outcome.runs.size(), 1u);
  const Manifest& run = outcome.runs[0];
  EXPECT_THAT(run.run_id, HasSubstr("mlperf-retinanet-"));
  EXPECT_EQ(run.family, "retinanet Org box");
  EXPECT_EQ(run.seeds.at("seed"), 7);
  EXPECT_EQ(WorthOf(run, "seeds.seed"), "exact seed");
  EXPECT_EQ(run.hyperparameters.at("opt_base_learning_rate").ToDouble(), 8.5e-05);
  EXPECT_EQ(run.hyperparameters.at("opt_name").AsString(), "adam");
  EXPECT_EQ(run.hyperparameters.at("global_batch_size").ToInt64(), 256);
  EXPECT_EQ(MetricOf(run, "time_to_train_seconds"), 60.0);
  EXPECT_EQ(MetricOf(run, "epochs_to_converge"), 2.0);
  EXPECT_EQ(MetricOf(run, "eval_accuracy"), 0.375);
  ASSERT_NE(CurveOf(run, "eval_accuracy"), nullptr);
  EXPECT_THAT(CurveOf(run, "eval_accuracy")->steps, ElementsAre(1, 2));
  EXPECT_EQ(run.environment.hardware.gpus.size(), 2u);
  EXPECT_EQ(run.environment.hardware.gpus[0].memory_bytes, std::uint64_t{80} << 30);
  EXPECT_EQ(run.environment.hardware.gpu_driver, "580.1");
  EXPECT_EQ(run.environment.software.at("cuda"), "13.0");
  EXPECT_THAT(WorthOf(run, "environment.hardware.gpus[0]"), HasSubstr("hint"));
  ASSERT_TRUE(run.gang.has_value());
  EXPECT_EQ(run.gang->nodes, 2);
  EXPECT_EQ(run.gang->tasks_per_node, 2);
  EXPECT_TRUE(run.gang->parts.nodes.empty()) << "their names are not known";
  EXPECT_THAT(WorthOf(run, "gang.nodes"), HasSubstr("hint"));
  EXPECT_THAT(WorthOf(run, "gang.tasks_per_node"), HasSubstr("hint"));
  EXPECT_EQ(WorthOf(run, "command"), "missing");
}

TEST_F(Mlperf, RunIsTheSameWhereverItsLogWasImportedFrom) {
  Put(kLog, Log("7"));
  Put("systems/box.json", R"({"framework": "PyTorch"})");
  const ImportOutcome all = Import(), one = Import("", kLog), below = Import("", "results/box");
  ASSERT_EQ(all.runs.size(), 1u);
  ASSERT_EQ(one.runs.size(), 1u);
  ASSERT_EQ(below.runs.size(), 1u);
  EXPECT_EQ(all.runs[0].run_id, one.runs[0].run_id);
  EXPECT_EQ(all.runs[0].run_id, below.runs[0].run_id);
  EXPECT_EQ(one.runs[0].environment.software.at("framework"), "PyTorch");
}

TEST_F(Mlperf, BadLineIsNamedAndTheRestOfTheLogKept) {
  Put(kLog, Log("7", "noise\n:::MLLOG {\"key\": 3\n:::MLLOG {\"key\": \"opt_x\", \"value\": 1}\n"));
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_TRUE(HasRemark(outcome.runs[0], "result_0.txt: line 10 was left out"));
  EXPECT_EQ(outcome.runs[0].hyperparameters.at("opt_x").ToInt64(), 1);
  EXPECT_EQ(MetricOf(outcome.runs[0], "eval_accuracy"), 0.375);
}

TEST_F(Mlperf, LogThatWasCutOffIsARunThatDidNotEnd) {
  std::string log = Log("7");
  log.resize(log.size() - 30);
  Put(kLog, log);
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_TRUE(HasRemark(outcome.runs[0], "did not reach its target: incomplete"));
  for (const Metric& metric : outcome.runs[0].metrics) EXPECT_EQ(metric.name, "eval_accuracy");
}

TEST_F(Mlperf, WhatContradictsItselfIsRefusedByLineAndTheOthersAreKept) {
  Put(kLog, Log("7", Event("global_batch_size", "8")));
  Put("results/box/retinanet/result_1.txt", Log("8"));
  Put("results/box/retinanet/result_2.txt", Log("8"));
  Put("results/box/retinanet/result_3.txt", "");
  Put("results/box/retinanet/notes.txt", "nothing of interest");
  PutPipe("results/box/retinanet/result_4.txt");
  PutLink("results/box/retinanet/result_5.txt", "/etc/passwd");
  PutLink("results/box/more", "/etc");
  const ImportOutcome outcome = Import();
  EXPECT_EQ(outcome.runs.size(), 1u);
  ASSERT_EQ(outcome.refused.size(), 5u);
  EXPECT_THAT(outcome.refused[0].second, HasSubstr("result_0.txt: line 9: global_batch_size is 8"));
  EXPECT_THAT(outcome.refused[1].second, HasSubstr("the same log"));
  EXPECT_THAT(outcome.refused[2].second, HasSubstr("no submission_benchmark"));
  EXPECT_THAT(outcome.refused[3].second, HasSubstr("a pipe, socket or device"));
  EXPECT_THAT(outcome.refused[4].second, HasSubstr("a symbolic link"));
}

TEST_F(Mlperf, HostileValuesBecomeRemarks) {
  Put(kLog, Log("123456789012345678901234567890",
                Event("opt_evil", R"("a\u001b[31mb")") + Event("seed", R"("; rm -rf /")")));
  Put("systems/box.json", R"({"accelerators_per_node": 1e9, "accelerator_model_name": "X",
    "framework": ["x"], "other_software_stack": "free text"})");
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  const Manifest& run = outcome.runs[0];
  EXPECT_TRUE(run.seeds.empty());
  EXPECT_TRUE(run.environment.hardware.gpus.empty());
  EXPECT_TRUE(HasRemark(run, "is more than 1024"));
  EXPECT_EQ(run.environment.software.at("stack"), "free text");
}

TEST_F(Mlperf, DescriptionThatIsALinkIsNotFollowed) {
  Put(kLog, Log("7"));
  Put("elsewhere.json", R"({"framework": "PyTorch"})");
  Put("systems/other.json", "{}");
  PutLink("systems/box.json", (root() / "elsewhere.json").string());
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_TRUE(outcome.runs[0].environment.software.empty());
  EXPECT_TRUE(HasRemark(outcome.runs[0], "no description of the system"));
}

TEST(MlperfMemory, IsReadWhereItsUnitIsPlain) {
  EXPECT_EQ(DescribedMemory("183359 MiB"), std::uint64_t{183359} << 20);
  EXPECT_EQ(DescribedMemory("80GiB"), std::uint64_t{80} << 30);
  EXPECT_EQ(DescribedMemory("180 GB"), std::nullopt);
  EXPECT_EQ(DescribedMemory("-1 GiB"), std::nullopt);
  EXPECT_EQ(DescribedMemory("1e300 GiB"), std::nullopt);
  EXPECT_EQ(DescribedMemory(""), std::nullopt);
}

// The 55 public logs, with their seeds and time to train read by the test's own few lines.
TEST(MlperfRound, IsImportedWhole) {
  const auto folder = SharedData("mlperf-v5.1");
  if (!folder) GTEST_SKIP() << kNoSharedData;
  ImportRequest request;
  request.source = *folder;
  const ImportOutcome outcome = ImportAll(request);
  EXPECT_TRUE(outcome.refused.empty());
  ASSERT_EQ(outcome.runs.size(), 55u);
  // What a log says itself is exact, what its folder and description say a hint, the rest missing.
  std::map<std::string, std::map<Grade, int>, std::less<>> worth;
  for (const Manifest& run : outcome.runs) {
    for (const FieldOrigin& field : run.origin->fields) {
      ++worth[std::string(PartOf(field.path))][field.grade];
    }
  }
  for (const char* exact : {"seeds", "metrics", "curves", "hyperparameters"}) {
    EXPECT_GE(worth[exact][Grade::kExact], 55) << exact;
    EXPECT_EQ(worth[exact].size(), 1u) << exact;
  }
  for (const char* hint : {"family", "started", "ended", "environment.software"}) {
    EXPECT_GE(worth[hint][Grade::kHint], 55) << hint;
    EXPECT_EQ(worth[hint].size(), 1u) << hint;
  }
  for (const char* missing : {"code.commit", "image", "command", "data", "artifacts"}) {
    EXPECT_EQ(worth[missing][Grade::kMissing], 55) << missing;
    EXPECT_EQ(worth[missing].size(), 1u) << missing;
  }
  std::multiset<std::int64_t> seeds, expected;
  std::set<std::string> ids;
  for (const Manifest& run : outcome.runs) {
    ids.insert(run.run_id);
    for (const auto& [name, seed] : run.seeds) seeds.insert(seed);
    EXPECT_FALSE(run.environment.hardware.gpus.empty()) << run.run_id;
    EXPECT_GT(MetricOf(run, "time_to_train_seconds"), 60.0);
    EXPECT_FALSE(run.curves.empty());
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
    if (entry.path().extension() != ".txt") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const std::string key = "\"key\": \"seed\", \"value\": ";
      const auto at = line.find(key);
      if (at != line.npos) expected.insert(std::stoll(line.substr(at + key.size())));
    }
  }
  EXPECT_EQ(ids.size(), 55u);
  EXPECT_EQ(seeds, expected);
}

}  // namespace
}  // namespace rharness
