// `rharness drill --distribute`: each run once on every node of a real Slurm, pinned to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <thread>

#include "harness/base/json.h"
#include "tests/cli/drill_program.h"
#include "tests/execution/dispatch/slurm_world.h"

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
          "sleep 0.7\nvalue=$(cat value)\n"
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
  ProcessResult Start(std::vector<std::string> argv,
                      const std::function<void(int)>& on_start = {}) const {
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(3);
    return RunProcess(ProcessSpec{std::move(argv), environment_, folder_.path()}, limits, on_start);
  }
  ProcessResult Distribute(const std::vector<std::string>& options = {},
                           const std::function<void(int)>& on_start = {}) const {
    std::vector<std::string> argv = {kRharness, "drill",      "--history", "runs.db",     "--out",
                                     "out",     "--dispatch", "slurm",     "--distribute"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Start(std::move(argv), on_start);
  }
  // Eight repeats of one run, whose noise tells what a drift is; the script says what comes of a
  // rerun on the node $node.
  void RecordRepeats(const std::string& rerun) {
    fs::remove_all(At("runs"));
    fs::remove(At("runs.db"));
    Write("train.sh",
          "node=$(tr '\\0' '\\n' < /proc/$PPID/environ | sed -n 's/^SLURMD_NODENAME=//p')\n"
          "value=$(cat \"$1/noise\")\n" +
              rerun + "\nprintf '{\"metrics\": {\"accuracy\": %s}}' \"$value\" > metrics.json\n");
    for (int i = 0; i < 8; ++i) {
      Write("noise", "0.75" + std::to_string(i % 4));
      Record(std::string(1, static_cast<char>('a' + i)), {});
    }
    Add();
  }
  std::vector<std::string> Nodes(const ReportRun& run) const {
    std::vector<std::string> nodes;
    for (const ReportRerun& rerun : run.reruns) nodes.push_back(rerun.node);
    return nodes;
  }
  // How often the journal says that a rerun was collected, at most.
  int MostCollected() const {
    std::map<std::string, int> collected;
    std::istringstream journal(Read(At("out/journal.jsonl")));
    int most = 0;
    for (std::string line; std::getline(journal, line);) {
      const auto json = ParseJson(line.substr(std::min(line.find('{'), line.size())), "journal");
      const Json* state = json.ok() ? json->Find("state") : nullptr;
      if (state == nullptr || state->AsString() != "collected") continue;
      most = std::max(most, ++collected[json->Find("job")->AsString()]);
    }
    return most;
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
    EXPECT_EQ(run.reruns[0].state, RerunEnd::State::kCompared) << run.reruns[0].reason;
    EXPECT_EQ(run.reruns[1].state, RerunEnd::State::kCompared) << run.reruns[1].reason;
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

// Whenever it is killed: each rerun is on its node, once.
TEST_F(SlurmDistribute, GoesOnWhereItWasKilled) {
  int kills = 0;
  for (const int after : {300, 700, 1100, 1600, 2200}) {
    fs::remove_all(At("out"));
    std::thread killer;
    const ProcessResult killed = Distribute({}, [&](int pid) {
      killer = std::thread([pid, after] {
        std::this_thread::sleep_for(std::chrono::milliseconds(after));
        ::kill(pid, SIGKILL);
      });
    });
    killer.join();
    const bool begun = fs::exists(At("out/journal.jsonl"));
    kills += killed.outcome.kind == OutcomeKind::kSignalled ? 1 : 0;
    const ProcessResult resumed =
        begun ? Start({kRharness, "drill", "--resume", "--out", "out"}) : Distribute();
    const Report report = StoredReport();
    ASSERT_EQ(report.runs.size(), 2U) << resumed.stderr_text;
    for (const ReportRun& run : report.runs) {
      EXPECT_THAT(Nodes(run), testing::ElementsAre("n1", "n2")) << after;
      for (const ReportRerun& rerun : run.reruns) {
        EXPECT_EQ(rerun.state, RerunEnd::State::kCompared) << after << " ms: " << rerun.reason;
      }
      EXPECT_NE(std::ranges::find(run.findings, "reruns_differ", &Finding::code),
                run.findings.end());
    }
    EXPECT_EQ(MostCollected(), 1);
    // The nodes are its own settings.
    EXPECT_EQ(Start({kRharness, "drill", "--resume", "--out", "out", "--sbatch=--nodelist=n1"})
                  .outcome.exit_code,
              2);
  }
  EXPECT_GE(kills, 4) << "a machine so fast that it was done before";
}

TEST_F(SlurmDistribute, ConfirmsADriftOnTheNodeThatShowedIt) {
  RecordRepeats("[ -z \"$node\" ] || value=0.5");
  const ProcessResult drilled = Distribute({"--select", "run_id = a", "--sbatch=--nodelist=n2"});
  EXPECT_EQ(drilled.outcome.exit_code, 1) << drilled.stderr_text;
  EXPECT_THAT(drilled.stderr_text, HasSubstr("rerunning once more to confirm"));
  const Report report = StoredReport();
  ASSERT_EQ(report.runs.size(), 1U);
  EXPECT_EQ(report.runs[0].verdict, Verdict::kDrifted);
  EXPECT_THAT(Nodes(report.runs[0]), testing::ElementsAre("n2", "n2"));
}

// One node alone drifts: what the other one computes does not clear it.
TEST_F(SlurmDistribute, TellsADriftOfOneNodeAmongTwo) {
  RecordRepeats("[ \"$node\" != n2 ] || value=0.5");
  const ProcessResult drilled = Distribute({"--select", "run_id = a"});
  const Report report = StoredReport();
  ASSERT_EQ(report.runs.size(), 1U) << drilled.stderr_text;
  const ReportRun& run = report.runs[0];
  EXPECT_EQ(drilled.outcome.exit_code, 3) << drilled.stderr_text;
  EXPECT_THAT(Nodes(run), testing::ElementsAre("n1", "n2"));
  const auto among = std::ranges::find(run.findings, "reruns_differ", &Finding::code);
  ASSERT_NE(among, run.findings.end());
  EXPECT_THAT(among->message, HasSubstr("differ among the nodes (n2 | n1)"));
  EXPECT_EQ(run.verdict, Verdict::kInconclusive);
}

// Of one node nothing came: the confirmation is not asked of it.
TEST_F(SlurmDistribute, ConfirmsADriftWhereTheOtherNodeGaveNothing) {
  RecordRepeats("[ \"$node\" != n1 ] || sleep 60\n[ -z \"$node\" ] || value=0.5");
  std::thread canceller;
  const ProcessResult drilled = Distribute({"--select", "run_id = a", "--attempts", "1"}, [&](int) {
    canceller = std::thread([] {
      const auto works = [] {
        return !SlurmWorld::Run({"squeue", "--noheader", "--states=running", "--nodelist=n1"})
                    .empty();
      };
      for (int i = 0; i < 300 && !works(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
      SlurmWorld::Run({"scancel", "--nodelist=n1"});
    });
  });
  canceller.join();
  const Report report = StoredReport();
  ASSERT_EQ(report.runs.size(), 1U) << drilled.stderr_text;
  const ReportRun& run = report.runs[0];
  EXPECT_THAT(Nodes(run), testing::ElementsAre("n1", "n2", "n2")) << drilled.stderr_text;
  EXPECT_EQ(run.reruns[0].state, RerunEnd::State::kInfra);
  EXPECT_EQ(run.verdict, Verdict::kDrifted);
  EXPECT_EQ(drilled.outcome.exit_code, 1);
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
