// Runs of two nodes by two tasks under a real Slurm: recorded there as users start them, and
// drilled there.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"
#include "tests/cli/drill_program.h"
#include "tests/cli/gang_program.h"
#include "tests/execution/dispatch/slurm_world.h"
#include "tests/execution/launch/container_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SlurmGang : public DrillProgram {
 protected:
  static void SetUpTestSuite() { world_ = new SlurmWorld; }
  static void TearDownTestSuite() { delete world_; }
  void SetUp() override {
    if (!world_->problem().empty()) GTEST_SKIP() << "no Slurm here: " << world_->problem();
    environment_["SLURM_CONF"] = std::getenv("SLURM_CONF");
    Write("train.py", GangProgram());
    Write("data.csv", "0.5");
  }

  // A batch script of two nodes by two tasks, to its end; its output.
  std::string Batch(const std::string& command) {
    Write("job.sh", fmt::format("#!/bin/sh\nexport MASTER_ADDR=127.0.0.1 MASTER_PORT={}\n{}\n",
                                ContainerWorld::FreePort(), command));
    (void)Run({"sbatch", "--wait", "--nodes=2", "--ntasks=4", "--ntasks-per-node=2",
               "--output=batch.txt", "job.sh"});
    return Read(At("batch.txt"));
  }
  ProcessResult Drill(const std::vector<std::string>& options) const {
    std::vector<std::string> argv = {kRharness, "drill", "runs", "--dispatch", "slurm"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(std::move(argv));
  }

  static SlurmWorld* world_;
};
SlurmWorld* SlurmGang::world_ = nullptr;

// What torch.distributed reads, from what Slurm gives.
constexpr char kRanks[] = "RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS exec ";

TEST_F(SlurmGang, ARunThatSrunRecordsForEachTaskIsDrilledOnTwoNodes) {
  const std::string said = Batch(fmt::format(
      "srun sh -c '{}{} record --out runs/a.json -- python3 train.py'", kRanks, kRharness));
  const auto manifest = LoadManifest(At("runs/a.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString() << said << world_->Describe();
  ASSERT_TRUE(manifest->gang.has_value());
  EXPECT_EQ(manifest->gang->nodes, 2);
  EXPECT_EQ(manifest->gang->tasks_per_node, 2);
  EXPECT_EQ(manifest->gang->start, GangStart::kPerTask);
  ASSERT_EQ(manifest->gang->parts.nodes.size(), 2U);
  EXPECT_EQ(manifest->gang->parts.nodes[1].host, "n2");

  const ProcessResult drilled = Drill({});
  EXPECT_EQ(drilled.outcome.exit_code, 0)
      << drilled.stdout_text << drilled.stderr_text << world_->Describe();
  EXPECT_THAT(drilled.stdout_text, HasSubstr("identical"));
  const auto evidence = LoadEvidence(At("drill/runs/a/1/evidence.json"));
  ASSERT_TRUE(evidence.ok()) << evidence.error().ToString();
  ASSERT_TRUE(evidence->gang.has_value());
  std::vector<std::string> hosts;
  for (const GangNode& node : evidence->gang->nodes) hosts.push_back(node.host);
  EXPECT_THAT(hosts, ElementsAre("n1", "n2"));
  EXPECT_EQ(evidence->gang->ranks.size(), 4U);
  // The same record on this machine alone.
  const ProcessResult here = Run({kRharness, "drill", "runs", "--out", "here", "--cpus", "4"});
  EXPECT_EQ(here.outcome.exit_code, 0) << here.stdout_text << here.stderr_text;
}

TEST_F(SlurmGang, ARankThatFailsOnAnotherNodeEndsAllAndIsNamedWithItsNode) {
  Write("train.py", GangProgram("if rank == 3 and os.environ['HOME'].endswith('workspace'): "
                                "sys.exit('no data on this node')"));
  const std::string said = Batch(fmt::format(
      "srun sh -c '{}{} record --out runs/a.json -- python3 train.py'", kRanks, kRharness));
  ASSERT_TRUE(fs::exists(At("runs/a.json"))) << said;
  const ProcessResult drilled = Drill({"--out", "failed"});
  EXPECT_EQ(drilled.outcome.exit_code, 4) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_THAT(drilled.stdout_text, HasSubstr("rank 3 on n2 exited with 1"));
  EXPECT_THAT(drilled.stdout_text, HasSubstr("no data on this node"));
  EXPECT_EQ(SlurmWorld::Run({"squeue", "--noheader"}), "") << "nothing is left running";
}

TEST_F(SlurmGang, ACommandThatStartsItsTasksItselfGetsAnAllocationOfItsSizeAgain) {
  const std::string said = Batch(fmt::format(
      "{} record --out runs/a.json -- srun sh -c '{}python3 train.py'", kRharness, kRanks));
  const auto manifest = LoadManifest(At("runs/a.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString() << said << world_->Describe();
  ASSERT_TRUE(manifest->gang.has_value()) << said;
  EXPECT_EQ(manifest->gang->start, GangStart::kOnce);
  EXPECT_EQ(manifest->gang->nodes, 2);
  EXPECT_EQ(manifest->gang->tasks_per_node, 2);
  EXPECT_THAT(said, ::testing::Not(HasSubstr("slurm.conf"))) << "srun read it";
  // A step beside the command's looked at the other node.
  ASSERT_EQ(manifest->gang->parts.nodes.size(), 2U) << said;
  EXPECT_EQ(manifest->gang->parts.nodes[1].host, "n2");
  EXPECT_FALSE(fs::exists(At("runs/a.json.parts")));
  const ProcessResult drilled = Drill({"--out", "once"});
  EXPECT_EQ(drilled.outcome.exit_code, 0)
      << drilled.stdout_text << drilled.stderr_text << world_->Describe();
  const auto evidence = LoadEvidence(At("once/runs/a/1/evidence.json"));
  ASSERT_TRUE(evidence.ok()) << evidence.error().ToString();
  ASSERT_TRUE(evidence->gang.has_value());
  EXPECT_EQ(evidence->gang->ranks.size(), 2U) << "one for each node";
}

TEST_F(SlurmGang, ARecordIsMadeWhereTheOtherNodesCannotBeLookedAt) {
  Write("bin/srun", fmt::format("#!/bin/sh\ncase \"$*\" in *--overlap*) echo no steps here >&2; "
                                "exit 1;; esac\nPATH=${{PATH#*:}} exec srun \"$@\"\n"));
  fs::permissions(At("bin/srun"), fs::perms::owner_all);
  const std::string said = Batch(
      fmt::format("PATH={}:$PATH {} record --out runs/a.json -- srun sh -c '{}python3 train.py'",
                  At("bin").string(), kRharness, kRanks));
  const auto manifest = LoadManifest(At("runs/a.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString() << said << world_->Describe();
  EXPECT_THAT(said,
              HasSubstr("the other nodes are not observed: srun exited with 1: no steps here"));
  ASSERT_TRUE(manifest->gang.has_value());
  EXPECT_TRUE(manifest->gang->parts.nodes.empty());
  EXPECT_THAT(manifest->observation->unseen,
              ::testing::Contains(HasSubstr("other nodes of the allocation")));
}

TEST_F(SlurmGang, NodesAreNumberedInTheOrderThatASearchAsksFor) {
  Write("train.py", GangProgram("seed = random.seed\n"
                                "if os.environ.get('BAD'): random.seed = lambda s: seed(s + 900)"));
  const std::string said = Batch(fmt::format(
      "srun sh -c '{}{} record --out runs/a.json -- python3 train.py'", kRanks, kRharness));
  ASSERT_TRUE(fs::exists(At("runs/a.json"))) << said;
  const ProcessResult found = Run({kRharness, "isolate", "runs/a.json", "--dispatch", "slurm",
                                   "--axis", "env:BAD=1", "--axis", "node:n2,n1", "--out", "why"});
  EXPECT_EQ(found.outcome.exit_code, 0)
      << found.stdout_text << found.stderr_text << world_->Describe();
  EXPECT_THAT(found.stdout_text, HasSubstr("env:BAD: (unset) -> 1 makes a drift"));
  const auto all = LoadEvidence(At("why/runs/a/1/evidence.json"));
  ASSERT_TRUE(all.ok()) << all.error().ToString();
  ASSERT_TRUE(all->gang.has_value());
  std::vector<std::string> hosts;
  for (const GangNode& node : all->gang->nodes) hosts.push_back(node.host);
  EXPECT_THAT(hosts, ElementsAre("n2", "n1"));
  EXPECT_EQ(SlurmWorld::Run({"squeue", "--noheader"}), "") << "nothing is left running";
}

// Three runs of two nodes in one array of three jobs.
class SlurmGangArray : public SlurmGang {
 protected:
  void SetUp() override {
    SlurmGang::SetUp();
    if (IsSkipped()) return;
    Write(
        "train.py",
        GangProgram("if os.environ['HOME'].endswith('workspace'):\n"
                    "    if rank == 3 and '--fail' in sys.argv: sys.exit('no data on this node')\n"
                    "    time.sleep(2)"));
    const std::string said = Batch(fmt::format(
        "srun sh -c '{}{} record --out runs/a.json -- python3 train.py'", kRanks, kRharness));
    auto manifest = LoadManifest(At("runs/a.json"));
    ASSERT_TRUE(manifest.ok()) << manifest.error().ToString() << said;
    for (const char* name : {"b", "c"}) {
      manifest->run_id = name;
      Write(fmt::format("runs/{}.json", name), ToJson(*manifest).Dump());
    }
    Write("bin/sbatch", "#!/bin/sh\necho >> calls\nPATH=${PATH#*:} exec sbatch \"$@\"\n");
    fs::permissions(At("bin/sbatch"), fs::perms::owner_all);
    environment_["PATH"] = At("bin").string() + ":" + environment_["PATH"];
  }
  std::string VerdictOf(const std::string& run) const {
    const auto report = ReadJsonFile(At("drill/report.json"));
    if (!report.ok()) return report.error().ToString();
    for (const Json& one : report->Find("runs")->AsArray()) {
      if (one.Find("run_id")->AsString() == run) return one.Find("verdict")->AsString();
    }
    return "none";
  }
  void ExpectOneArray() const {
    EXPECT_EQ(Read(At("calls")), "\n") << "calls of sbatch";
    EXPECT_TRUE(fs::exists(At("drill/dispatch/1")));
    EXPECT_FALSE(fs::exists(At("drill/dispatch/2")));
    EXPECT_EQ(SlurmWorld::Run({"squeue", "--noheader"}), "") << "nothing is left running";
  }
};

TEST_F(SlurmGangArray, OneThatFailsDoesNotTouchTheOthers) {
  auto failing = LoadManifest(At("runs/b.json"));
  ASSERT_TRUE(failing.ok());
  failing->command.emplace_back("--fail");
  Write("runs/b.json", ToJson(*failing).Dump());
  const ProcessResult drilled = Drill({});
  EXPECT_EQ(drilled.outcome.exit_code, 4)
      << drilled.stdout_text << drilled.stderr_text << world_->Describe();
  EXPECT_EQ(VerdictOf("a"), "identical") << drilled.stdout_text;
  EXPECT_EQ(VerdictOf("b"), "failed");
  EXPECT_EQ(VerdictOf("c"), "identical");
  EXPECT_THAT(drilled.stdout_text, HasSubstr("rank 3 on n2 exited with 1"));
  ExpectOneArray();
}

TEST_F(SlurmGangArray, IsTakenUpAgainByADrillThatWasKilled) {
  (void)Run(
      {"sh", "-c",
       fmt::format("{} drill runs --dispatch slurm & drill=$!; "
                   "until [ -e drill/dispatch/1/0/out/gang/*/start.json ]; do sleep 0.1; done; "
                   "kill -9 $drill",
                   kRharness)});
  EXPECT_FALSE(fs::exists(At("drill/report.json")));
  const ProcessResult resumed = Run({kRharness, "drill", "--resume", "--out", "drill"});
  EXPECT_EQ(resumed.outcome.exit_code, 0)
      << resumed.stdout_text << resumed.stderr_text << world_->Describe();
  for (const char* run : {"a", "b", "c"}) EXPECT_EQ(VerdictOf(run), "identical") << run;
  ExpectOneArray();
}

}  // namespace
}  // namespace rharness
