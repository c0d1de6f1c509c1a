// A chaotic training under another BLAS kernel: what rounding does is told from what it does not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "tests/scenarios/fault_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::HasSubstr;

constexpr int kSeeds = 3;

class ChaoticTraining : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(RHARNESS_BIN_DIR "/digits_blas")) {
      GTEST_SKIP() << "digits_blas was not built: OpenBLAS or Eigen is missing";
    }
    const auto cpu = ReadFile("/proc/cpuinfo");
    if (!cpu.ok() || cpu->find(" avx2 ") == std::string::npos) {
      GTEST_SKIP() << "this CPU cannot run the Haswell kernels";
    }
    world_.environment["OPENBLAS_NUM_THREADS"] = "1";
    Install("Nehalem");
    for (int seed = 1; seed <= kSeeds; ++seed) Record(seed);
  }
  void Install(const std::string& kernel, const std::string& options = {}) {
    world_.Wrap("digits_blas",
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
                                             "digits_blas",
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
  std::vector<Verdict> VerdictsOf(const std::vector<std::string>& options) {
    const DrillResult drilled = world_.Drill(manifests_, options);
    std::vector<Verdict> verdicts;
    for (const ReportRun& run : drilled.report.runs) {
      verdicts.push_back(run.verdict);
      fmt::print("{} {}: {}\n", run.run_id, VerdictName(run.verdict), run.headline);
    }
    for (const std::string& note : drilled.report.notes) fmt::print("note: {}\n", note);
    EXPECT_EQ(verdicts.size(), static_cast<std::size_t>(kSeeds));
    return verdicts;
  }

  FaultWorld world_;
  std::vector<fs::path> manifests_;
};

TEST_F(ChaoticTraining, UnderAnotherKernelIsEquivalentByReplicatesAlone) {
  Install("Haswell");
  EXPECT_THAT(VerdictsOf({}), testing::Not(Each(Verdict::kEquivalent)));
  EXPECT_THAT(VerdictsOf({"--replicates", "3"}), Each(Verdict::kEquivalent));
}

TEST_F(ChaoticTraining, WithALearningRateTwoPercentHigherDrifts) {
  Install("Haswell", "--lr 0.204");
  EXPECT_THAT(VerdictsOf({"--replicates", "3"}), Each(Verdict::kDrifted));
}

}  // namespace
}  // namespace rharness
