// Damage is told by exit code 5, whatever the verdicts, and never made a verdict of.
#include <gtest/gtest.h>

#include "tests/cli/drill_program.h"
#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class DamagedDrill : public DrillProgram {
 protected:
  ProcessResult Resume() { return Run({kRharness, "drill", "--resume", "--out", "out"}); }
  // A run whose weights are what "weights" holds.
  void RecordWithWeights(const std::vector<std::string>& options = {}) {
    Write("train.sh", R"sh(echo run >> "$1/calls"
cp "$1/weights" model.safetensors
printf '{"metrics": {"accuracy": 0.75}}' > metrics.json
)sh");
    Write("weights", Weights('a'));
    std::vector<std::string> all = {"--weights", "model.safetensors", "--determinism", "bitwise"};
    all.insert(all.end(), options.begin(), options.end());
    Record("a", all);
    Add();
  }
  // A safetensors file of one tensor of one byte.
  static std::string Weights(char value) {
    const std::string header = R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}} )";
    return std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') + header + value;
  }
};

TEST_F(DamagedDrill, JudgesNothingByHalfAFamily) {
  RecordRuns(3);
  {
    RawDatabase raw(At("runs.db"));
    ASSERT_EQ(raw.RunPastTriggers(
                  "UPDATE manifests SET body = replace(body, '0.75', '0.76') WHERE run_id = 'b'"),
              "");
  }
  const ProcessResult result = Drill({"--select", "run_id = a"});
  EXPECT_EQ(result.outcome.exit_code, 5) << result.stdout_text << result.stderr_text;
  EXPECT_NE(result.stderr_text.find("run b"), std::string::npos) << result.stderr_text;
  EXPECT_EQ(Calls(), 0);
  EXPECT_EQ(OpenStoreAt(At("runs.db"))->Find("a")->last_verdict, std::nullopt);
}

TEST_F(DamagedDrill, TellsOfEvidenceThatChangedAndRerunsIt) {
  RecordRuns(2);
  ASSERT_EQ(Drill().outcome.exit_code, 0);
  const fs::path evidence = At("out/runs/a/1/evidence.json");
  std::string text = Read(evidence);
  text.replace(text.find("0.75"), 4, "0.76");
  ASSERT_TRUE(WriteFileAtomic(evidence, text).ok());
  const ProcessResult damaged = Resume();
  EXPECT_EQ(damaged.outcome.exit_code, 5) << damaged.stdout_text << damaged.stderr_text;
  EXPECT_EQ(StoredReport().counts.at("identical"), 2);
  EXPECT_NE(Read(At("out/summary.md")).find("not the evidence that was journalled"),
            std::string::npos);
  EXPECT_EQ(Calls(), 3);
  EXPECT_EQ(Resume().outcome.exit_code, 0);
  EXPECT_EQ(Calls(), 3);
}

TEST_F(DamagedDrill, TellsOfALogThatChanged) {
  Write("train.sh", "echo said\necho more >&2\n" + std::string(kScript));
  RecordRuns(1);
  ASSERT_EQ(Drill().outcome.exit_code, 0);
  for (const char* log : {"stdout.log", "stderr.log"}) {
    const fs::path path = At("out/runs/a/1") / log;
    ASSERT_TRUE(WriteFileAtomic(path, Read(path) + "not\n").ok());
    EXPECT_EQ(Resume().outcome.exit_code, 5) << log;
    EXPECT_EQ(Resume().outcome.exit_code, 0) << log;
  }
  EXPECT_EQ(Calls(), 3);
}

TEST_F(DamagedDrill, TellsOfAKeptCheckpointThatChanged) {
  RecordWithWeights();
  ASSERT_EQ(Drill().outcome.exit_code, 0);
  const fs::path kept = At("out/runs/a/1/artifacts/model.safetensors");
  ASSERT_TRUE(WriteFileAtomic(kept, Weights('b')).ok());
  const ProcessResult damaged = Resume();
  EXPECT_EQ(damaged.outcome.exit_code, 5) << damaged.stdout_text << damaged.stderr_text;
  EXPECT_EQ(Calls(), 2);
  EXPECT_EQ(Read(kept), Weights('a'));
  EXPECT_EQ(Resume().outcome.exit_code, 0);
}

// A checkpoint in two files under an index, of the recording and of the rerun.
TEST_F(DamagedDrill, KeepsEveryShardOfACheckpointAndTellsOfOneThatChanged) {
  Write("train.sh", R"sh(echo run >> "$1/calls"
mkdir out && cp "$1/weights" out/1.safetensors && cp "$1/index" out/m.safetensors.index.json
printf '{"metrics": {"accuracy": 0.75}}' > metrics.json
)sh");
  Write("weights", Weights('a'));
  Write("index", R"({"weight_map": {"w": "1.safetensors"}})");
  Record("a", {"--weights", "out/m.safetensors.index.json", "--determinism", "bitwise", "--keep",
               "kept"});
  EXPECT_EQ(Read(At("kept/a/out/1.safetensors")), Weights('a'));
  Add();
  ASSERT_TRUE(RemoveTree(At("out")).ok());
  Write("weights", Weights('b'));
  ASSERT_EQ(Drill().outcome.exit_code, 1);
  const fs::path shard = At("out/runs/a/1/artifacts/out/1.safetensors");
  EXPECT_EQ(Read(shard), Weights('b'));
  // By bytes, not by digests alone: a distance is told.
  for (const std::string& rerun :
       {std::string("out/runs/a/1"),
        std::string("out/runs/a/1/artifacts/out/m.safetensors.index.json")}) {
    const std::string recorded =
        rerun.ends_with("json") ? "kept/a/out/m.safetensors.index.json" : "runs/a.json";
    const ProcessResult compared =
        Run({kRharness, "compare", recorded, rerun, "--expect", "bitwise"});
    EXPECT_EQ(compared.outcome.exit_code, 1) << compared.stdout_text << compared.stderr_text;
    EXPECT_NE(compared.stdout_text.find("at most 1 and 1 ULP apart"), std::string::npos)
        << compared.stdout_text;
  }
  ASSERT_TRUE(WriteFileAtomic(shard, Weights('c')).ok());
  const ProcessResult damaged = Resume();
  EXPECT_EQ(damaged.outcome.exit_code, 5) << damaged.stdout_text << damaged.stderr_text;
  EXPECT_EQ(Calls(), 2);
  EXPECT_EQ(Read(shard), Weights('b'));
}

TEST_F(DamagedDrill, TellsOfARecordedOriginalThatChanged) {
  RecordWithWeights({"--keep", "kept"});
  Write("weights", Weights('b'));
  ASSERT_EQ(Drill().outcome.exit_code, 1);
  ASSERT_TRUE(RemoveTree(At("out")).ok());
  Write("kept/a/model.safetensors", Weights('c'));
  const ProcessResult damaged = Drill();
  EXPECT_EQ(damaged.outcome.exit_code, 5) << damaged.stdout_text << damaged.stderr_text;
  EXPECT_EQ(StoredReport().runs.at(0).verdict, Verdict::kDrifted);
  EXPECT_NE(Read(At("out/summary.md")).find("damaged"), std::string::npos);
}

TEST_F(DamagedDrill, SaysInTheHistoryWhatItFoundOutLater) {
  RecordWithWeights();
  ASSERT_EQ(Drill().outcome.exit_code, 0);
  EXPECT_EQ(OpenStoreAt(At("runs.db"))->Find("a")->last_verdict, Verdict::kIdentical);
  ASSERT_TRUE(RemoveTree(At("out/runs/a/1")).ok());
  Write("weights", Weights('b'));
  EXPECT_EQ(Resume().outcome.exit_code, 5);
  EXPECT_EQ(Resume().outcome.exit_code, 1);
  const auto store = OpenStoreAt(At("runs.db"));
  EXPECT_EQ(store->Find("a")->last_verdict, Verdict::kDrifted);
  const auto verdicts = store->Verdicts("a").value();
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].verdict, Verdict::kDrifted);
  EXPECT_EQ(RawDatabase(At("runs.db")).Rows("SELECT verdict FROM verdicts ORDER BY drill_id"),
            (std::vector<std::string>{"identical", "drifted", "drifted"}));
}

}  // namespace
}  // namespace rharness
