// A chaotic training under another BLAS kernel: what rounding does is told from what it does not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "tests/scenarios/fault_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// With 2 chaos sets in after four epochs, with the others after ten or later.
const std::vector<int> kSeeds = {1, 2, 4, 5};

class ChaoticTraining : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(RHARNESS_BIN_DIR "/heeding_trainer")) {
      GTEST_SKIP() << "heeding_trainer was not built: OpenBLAS or Eigen is missing";
    }
    const auto cpu = ReadFile("/proc/cpuinfo");
    if (!cpu.ok() || cpu->find(" avx2 ") == std::string::npos) {
      GTEST_SKIP() << "this CPU cannot run the Haswell kernels";
    }
    world_.environment["OPENBLAS_NUM_THREADS"] = "1";
    Install("Nehalem");
    for (const int seed : kSeeds) Record(seed);
  }
  void Install(const std::string& kernel, const std::string& options = {}) {
    world_.Wrap("heeding_trainer",
                fmt::format("OPENBLAS_CORETYPE={} exec $REAL \"$@\" {}", kernel, options));
  }
  // Its loss alone: no metric decides.
  void Record(int seed) {
    const std::string number = std::to_string(seed);
    const fs::path manifest = world_.folder() / "manifests" / ("run-" + number + ".json");
    const ProcessResult result = world_.Run({RHARNESS_BIN_DIR "/rharness",
                                             "--quiet",
                                             "record",
                                             "--out",
                                             manifest,
                                             "--family",
                                             "chaotic",
                                             "--root",
                                             ".",
                                             "--code-file",
                                             "src/portable_mlp.cc",
                                             "--data",
                                             "digits=data/digits.csv",
                                             "--metrics",
                                             "metrics.json",
                                             "--seed",
                                             "init=" + number,
                                             "--seed",
                                             "shuffle=" + number,
                                             "--determinism",
                                             "statistical",
                                             "--",
                                             "heeding_trainer",
                                             "--data",
                                             "data/digits.csv",
                                             "--seed",
                                             number,
                                             "--lr",
                                             "0.2",
                                             "--epochs",
                                             "11"});
    ASSERT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
    manifests_.push_back(manifest);
  }
  std::map<std::string, Verdict> VerdictsOf(const std::vector<std::string>& options) {
    const std::string number = std::to_string(++drills_);
    const std::string history = world_.folder() / ("history-" + number + ".db");
    const std::string rharness = RHARNESS_BIN_DIR "/rharness";
    std::vector<std::string> add = {rharness,  "--quiet",   "history", "add",
                                    "--force", "--history", history};
    add.insert(add.end(), manifests_.begin(), manifests_.end());
    EXPECT_TRUE(world_.Run(add).outcome.Succeeded());
    std::vector<std::string> drill = {
        rharness, "--quiet", "drill", "--history", history,
        "--json", "--root",  ".",     "--out",     world_.folder() / ("drill-" + number)};
    drill.insert(drill.end(), options.begin(), options.end());
    const ProcessResult result = world_.Run(drill);
    const auto json = ParseJson(result.stdout_text, "stdout");
    EXPECT_TRUE(json.ok()) << result.stdout_text << result.stderr_text;
    if (!json.ok()) return {};
    const Report report = ParseReport(*json, "stdout").value();
    std::map<std::string, Verdict> verdicts;
    for (const ReportRun& run : report.runs) {
      verdicts[run.run_id] = run.verdict;
      fmt::print("{} {}: {}\n", run.run_id, VerdictName(run.verdict), run.headline);
    }
    for (const std::string& note : report.notes) fmt::print("note: {}\n", note);
    EXPECT_EQ(verdicts.size(), kSeeds.size());
    return verdicts;
  }

  FaultWorld world_;
  std::vector<fs::path> manifests_;
  int drills_ = 0;
};

TEST_F(ChaoticTraining, UnderAnotherKernelIsEquivalentByReplicatesAlone) {
  Install("Haswell");
  const auto without = VerdictsOf({});
  EXPECT_NE(without.at("run-1"), Verdict::kEquivalent);
  const auto with = VerdictsOf({"--replicates", "3"});
  for (const char* run : {"run-1", "run-4", "run-5"}) {
    EXPECT_EQ(with.at(run), Verdict::kEquivalent) << run;
  }
  EXPECT_EQ(with.at("run-2"), Verdict::kInconclusive) << "its own replicates lie as far apart";
}

TEST_F(ChaoticTraining, WithALearningRateTwoPercentHigherDrifts) {
  Install("Haswell", "--lr 0.204");
  for (const auto& [run, verdict] : VerdictsOf({"--replicates", "3"})) {
    const bool is_stray = run == "run-5";  // of whom the first three get replicates of their own
    EXPECT_TRUE(verdict == Verdict::kDrifted || (is_stray && verdict != Verdict::kEquivalent))
        << run << ' ' << VerdictName(verdict);
  }
}

}  // namespace
}  // namespace rharness
