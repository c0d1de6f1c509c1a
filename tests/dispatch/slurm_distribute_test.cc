// `rharness drill --distribute`: each run once on every node of a real Slurm, pinned to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include "tests/cli/drill_program.h"
#include "tests/dispatch/slurm_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SlurmDistribute : public DrillProgram {
 protected:
  static void SetUpTestSuite() { world_ = new SlurmWorld; }
  static void TearDownTestSuite() { delete world_; }
  void SetUp() override {
    if (!world_->problem().empty()) GTEST_SKIP() << "no Slurm here: " << world_->problem();
    environment_["SLURM_CONF"] = std::getenv("SLURM_CONF");
    // On node n2, which Slurm names in the environment of `rharness rerun`, it computes otherwise.
    Write("train.sh",
          "value=$(cat value)\n"
          "if tr '\\0' '\\n' < /proc/$PPID/environ | grep -q '^SLURMD_NODENAME=n2$'; then\n"
          "  value=0.75000001\n"
          "fi\n"
          "printf '{\"metrics\": {\"accuracy\": %s}}' \"$value\" > metrics.json\n");
    RecordRuns(2);
  }
  void TearDown() override {
    if (!world_->problem().empty()) return;
    SlurmWorld::Run({"scancel", "--user=root"});
    for (const char* node : {"nodename=n1", "nodename=n2"}) {
      SlurmWorld::Run({"scontrol", "update", node, "state=resume"});
    }
    const auto idle = [] {
      return SlurmWorld::Run({"sinfo", "--noheader", "--format=%T %D"}) == "idle 2\n";
    };
    for (int i = 0; i < 300 && !idle(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_TRUE(idle());
  }
  ProcessResult Distribute(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> argv = {kRharness, "drill",      "--history", "runs.db",     "--out",
                                     "out",     "--dispatch", "slurm",     "--distribute"};
    argv.insert(argv.end(), options.begin(), options.end());
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(3);
    return RunProcess(ProcessSpec{std::move(argv), environment_, folder_.path()}, limits);
  }

  static SlurmWorld* world_;
};
SlurmWorld* SlurmDistribute::world_ = nullptr;

TEST_F(SlurmDistribute, RerunsEachRunOnEveryNodeAndNamesTheOddOne) {
  const ProcessResult drilled = Distribute();
  const Report report = StoredReport();
  ASSERT_EQ(report.runs.size(), 2U) << drilled.stderr_text;
  for (const ReportRun& run : report.runs) {
    ASSERT_EQ(run.reruns.size(), 2U);
    EXPECT_EQ(run.reruns[0].node, "n1");
    EXPECT_EQ(run.reruns[1].node, "n2");
    EXPECT_EQ(run.reruns[0].state, "compared") << run.reruns[0].reason;
    EXPECT_EQ(run.reruns[1].state, "compared") << run.reruns[1].reason;
    const auto among = std::ranges::find(run.findings, "reruns_differ", &Finding::code);
    ASSERT_NE(among, run.findings.end());
    EXPECT_THAT(among->message, HasSubstr("differ among the nodes (n1 | n2)"));
    EXPECT_THAT(Read(At("out/report.html")), HasSubstr("exited with 0 on n2"));
  }
  EXPECT_THAT(Read(At("out/junit.xml")), HasSubstr("nodes (n1 | n2)"));
  const auto evidence = LoadEvidence(At("out/runs/a/2/evidence.json"));
  ASSERT_TRUE(evidence.ok());
  EXPECT_EQ(evidence->machine.node, "n2");
}

TEST_F(SlurmDistribute, NamesANodeThatTakesNoJob) {
  SlurmWorld::Run({"scontrol", "update", "nodename=n2", "state=drain", "reason=bad DIMM"});
  const ProcessResult drilled = Distribute();
  EXPECT_EQ(drilled.outcome.exit_code, 3) << drilled.stderr_text;
  const Report report = StoredReport();
  EXPECT_THAT(report.notes, testing::Contains("no rerun on node n2: drained: bad DIMM"));
  ASSERT_EQ(report.runs.size(), 2U);
  EXPECT_EQ(report.runs[0].reruns.size(), 1U);
  EXPECT_EQ(report.runs[0].verdict, Verdict::kIdentical);
}

TEST_F(SlurmDistribute, PlansAndRefusesBeforeAnythingRuns) {
  const ProcessResult planned = Distribute({"--dry-run", "--json"});
  EXPECT_EQ(planned.outcome.exit_code, 0) << planned.stderr_text;
  EXPECT_THAT(planned.stdout_text, HasSubstr("\"node\": \"n2\""));
  EXPECT_EQ(Distribute({"--reruns", "3"}).outcome.exit_code, 2);
  EXPECT_EQ(Distribute({"--sbatch=--nodelist=n9"}).outcome.exit_code, 2);
  EXPECT_EQ(Distribute({"--dispatch", "local"}).outcome.exit_code, 2);
  EXPECT_FALSE(fs::exists(At("out")));
}

}  // namespace
}  // namespace rharness
