// A disk that fails at any read of an import: no poorer record is called whole, and the import can
// be done again. Prints a table; RHARNESS_FAULTS=all tries every read, a number so many of each.
#include <gmock/gmock.h>

#include <cstdio>

#include "harness/base/digest_md5.h"
#include "tests/cli/drill_program.h"
#include "tests/faults/fault_trial.h"
#include "tests/sanitized.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class ImportFaults : public DrillProgram {
 protected:
  ProcessResult Import(const std::string& out, const std::string& fault,
                       const std::vector<std::string>& options = {}) const {
    ProcessSpec spec{{kRharness, "import", "source", "--out", out}, environment_, folder_.path()};
    spec.argv.insert(spec.argv.end(), options.begin(), options.end());
    return RunWithFault(std::move(spec), fault);
  }
  std::map<std::string, std::string> Records(const std::string& out) const {
    std::map<std::string, std::string> records;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(At(out), error)) {
      records[entry.path().filename().string()] = Read(entry.path());
    }
    return records;
  }
  void TryReads(const char* kind) {
    const std::string where = At("source").string();
    EXPECT_EQ(Import("clean", "none 0 " + where).outcome.exit_code, 0);
    const auto clean = Records("clean");
    ASSERT_FALSE(clean.empty());
    long changes = 0, reads = 0;
    const std::string counts = Read(where + ".count");
    ASSERT_EQ(std::sscanf(counts.c_str(), "%ld %ld", &changes, &reads), 2) << counts;
    ASSERT_GT(reads, 3);
    int trials = 0, poorer = 0, stuck = 0, told = 0;
    for (const long n : SampleOf(reads, 12)) {
      ++trials;
      ASSERT_TRUE(RemoveTree(At("out")).ok());
      const ProcessResult faulty = Import("out", "read_io " + std::to_string(n) + " " + where);
      if (faulty.outcome.exit_code == 4) ++told;
      if (faulty.outcome.Succeeded() && Records("out") != clean) ++poorer;
      EXPECT_TRUE(!faulty.outcome.Succeeded() || Records("out") == clean)
          << "read " << n << ": " << faulty.stderr_text;
      const ProcessResult again = Import("out", "");
      if (!again.outcome.Succeeded() || Records("out") != clean) ++stuck;
      EXPECT_EQ(again.outcome.exit_code, 0) << "after read " << n << ": " << again.stderr_text;
      EXPECT_TRUE(Records("out") == clean) << "after read " << n;
      Import("out", "read_io " + std::to_string(n) + " " + where, {"--overwrite"});
      EXPECT_TRUE(Records("out") == clean) << "a poorer record in place of a whole one, read " << n;
    }
    std::printf("%-10s reads %4ld  trials %4d  exit 4 %4d  poorer and 0: %d  stuck: %d\n", kind,
                reads, trials, told, poorer, stuck);
  }
};

TEST_F(ImportFaults, OfMlflowAreToldAndMendedByTheNextImport) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's library must come before the shim";
  Write("source/1/meta.yaml",
        "experiment_id: '1'\nartifact_location: file:///mlruns/1\nlifecycle_stage: active\n"
        "name: digits\n");
  Write("source/1/aaaa/meta.yaml",
        "run_id: aaaa\nstatus: 3\nstart_time: 1700000000000\nend_time: 1700000060000\n"
        "lifecycle_stage: active\n");
  Write("source/1/aaaa/params/lr", "0.01");
  Write("source/1/aaaa/tags/mlflow.source.name", "train.py");
  Write("source/1/aaaa/metrics/loss", "1 2.5 0\n2 2.0 1\n");
  Write("source/1/aaaa/inputs/i/meta.yaml",
        "source_type: DATASET\nsource_id: d\ntags: {mlflow.data.context: training}\n");
  Write("source/1/datasets/d/meta.yaml",
        "name: train\ndigest: '12'\nsource_type: local\nsource: '{\"uri\": \"train.csv\"}'\n");
  Write("source/1/aaaa/artifacts/model/weights.json", "[1]");
  TryReads("mlflow");
}

TEST_F(ImportFaults, LeaveARecordThatSomebodyEdited) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's library must come before the shim";
  const std::string files = "source/run-20260101_000000-abc/files/";
  Write(files + "wandb-metadata.json", R"({"program": "train.py", "args": ["--lr", "0.1"]})");
  Write(files + "wandb-summary.json", R"({"acc": 0.5})");
  const std::string where = At(files + "wandb-summary.json").string();
  int read = 1;  // the first that makes a poorer record: those before it find the kind of source
  while (read < 9 &&
         Import("out", "read_io " + std::to_string(read) + " " + where).outcome.exit_code != 4) {
    ASSERT_TRUE(RemoveTree(At("out")).ok());
    ++read;
  }
  const auto records = Records("out");
  ASSERT_EQ(records.size(), 1U);
  const std::string file = "out/" + records.begin()->first;
  std::string edited = records.begin()->second;
  const std::string family = "\"family\": \"wandb\"";
  ASSERT_NE(edited.find(family), edited.npos) << edited;
  edited.replace(edited.find(family), family.size(), "\"family\": \"mine\"");
  Write(file, edited);
  const ProcessResult again = Import("out", "");
  EXPECT_EQ(again.outcome.exit_code, 2);
  EXPECT_THAT(again.stderr_text, testing::HasSubstr("there is another record already"));
  EXPECT_EQ(Read(At(file)), edited);
  Write(file, records.begin()->second);
  EXPECT_EQ(Import("out", "", {"--no-artifacts"}).outcome.exit_code, 2) << "it has less";
  EXPECT_EQ(Import("out", "").outcome.exit_code, 0);
}

TEST_F(ImportFaults, OfTheTrainerAreToldAndMendedByTheNextImport) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's library must come before the shim";
  Write("source/trainer_state.json",
        R"({"best_metric": null, "epoch": 1.0, "global_step": 2, "max_steps": 2,
            "log_history": [{"loss": 0.5, "step": 1, "epoch": 0.5},
                            {"train_loss": 0.4, "train_runtime": 1.5, "step": 2, "epoch": 1.0}]})");
  Write("source/config.json", R"({"model_type": "bert", "torch_dtype": "float32"})");
  Write("source/training_args.json",
        R"({"learning_rate": 5e-05, "seed": 42, "output_dir": "out"})");
  TryReads("trainer");
}

TEST_F(ImportFaults, OfWeightsAndBiasesAreToldAndMendedByTheNextImport) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's library must come before the shim";
  const std::string files = "source/run-20260101_000000-abc/files/";
  Write(files + "wandb-metadata.json", R"({"program": "train.py", "args": ["--lr", "0.1"]})");
  Write(files + "config.yaml", "wandb_version: 1\nlr:\n  desc: null\n  value: 0.1\n");
  Write(files + "wandb-summary.json", R"({"acc": 0.5})");
  Write(files + "requirements.txt", "numpy==2.1.0\n");
  Write(files + "wandb-history.jsonl", "{\"acc\": 0.5, \"_step\": 1}\n");
  TryReads("wandb");
}

TEST_F(ImportFaults, OfDvcAreToldAndMendedByTheNextImport) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's library must come before the shim";
  const auto entry = [&](const std::string& path, const std::string& content) {
    Write("source/" + path, content);
    return "    - {path: '" + path + "', hash: md5, md5: " + *Md5HexOf(content) +
           ", size: " + std::to_string(content.size()) + "}\n";
  };
  Write("source/.dvc/config", "");
  Write("source/params.yaml", "lr: 0.1\n");
  Write("source/dvc.yaml",
        "stages:\n  train:\n    cmd: python train.py\n    deps: [raw.bin]\n    params: [lr]\n"
        "    outs: [model.bin]\n    metrics: [eval.json]\n");
  const std::string deps = entry("raw.bin", "raw");
  const std::string outs = entry("model.bin", "weights") + entry("eval.json", "{\"acc\": 0.5}");
  Write("source/dvc.lock",
        "schema: '2.0'\nstages:\n  train:\n    cmd: python train.py\n    deps:\n" + deps +
            "    params:\n      params.yaml:\n        lr: 0.1\n    outs:\n" + outs);
  TryReads("dvc");
}

}  // namespace
}  // namespace rharness
