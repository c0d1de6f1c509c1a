// `rharness probe run --distribute` over the nodes of a real Slurm, of which some cannot answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "compare/fingerprints/fingerprint.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/environment.h"
#include "tests/execution/dispatch/slurm_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class SlurmSweep : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = new SlurmWorld; }
  static void TearDownTestSuite() { delete world_; }
  void SetUp() override {
    if (!world_->problem().empty()) GTEST_SKIP() << "no Slurm here: " << world_->problem();
    auto made = ScopedTempDir::Make("rharness-sweep-");
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*made));
  }
  void TearDown() override {
    if (!world_->problem().empty()) return;
    SlurmWorld::Run({"scancel", "--user=root"});
    for (const char* node : {"nodename=n1", "nodename=n2"}) {
      SlurmWorld::Run({"scontrol", "update", node, "state=resume"});
    }
    EXPECT_TRUE(Await([] { return Sinfo() == "idle 2\n"; })) << Sinfo();
  }

  static std::string Sinfo() { return SlurmWorld::Run({"sinfo", "--noheader", "--format=%T %D"}); }
  static bool Await(const std::function<bool()>& holds) {
    for (int i = 0; i < 600 && !holds(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return holds();
  }
  static void Drain(const std::string& node) {
    SlurmWorld::Run(
        {"scontrol", "update", "nodename=" + node, "state=drain", "reason=bad DIMM | slot 3"});
  }
  fs::path Fleet() const { return folder_->path() / "fleet"; }
  ProcessResult Sweep(const std::vector<std::string>& options,
                      const std::function<void(int)>& on_start = {}) const {
    std::vector<std::string> argv = {std::string(RHARNESS_BIN_DIR) + "/rharness",
                                     "probe",
                                     "run",
                                     "--dispatch",
                                     "slurm",
                                     "--distribute",
                                     "--probe",
                                     "fp_scalar",
                                     "--out",
                                     Fleet().string()};
    argv.insert(argv.end(), options.begin(), options.end());
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(3);
    return RunProcess({.argv = std::move(argv), .environment = ProcessEnvironment()}, limits,
                      on_start);
  }
  static ProcessResult Compare(const fs::path& folder) {
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(1);
    return RunProcess(
        {.argv = {std::string(RHARNESS_BIN_DIR) + "/rharness", "gate", "fleet", folder.string()},
         .environment = ProcessEnvironment()},
        limits);
  }

  static SlurmWorld* world_;
  std::unique_ptr<ScopedTempDir> folder_;
};
SlurmWorld* SlurmSweep::world_ = nullptr;

TEST_F(SlurmSweep, BringsAFingerprintFromEveryNode) {
  const ProcessResult swept = Sweep({});
  EXPECT_EQ(swept.outcome.exit_code, 0) << swept.stderr_text;
  EXPECT_THAT(swept.stdout_text, HasSubstr("2 of 2 nodes gave a fingerprint"));
  for (const char* node : {"n1.json", "n2.json"}) {
    const auto fingerprint = LoadFingerprint(Fleet() / node);
    ASSERT_TRUE(fingerprint.ok()) << fingerprint.error().ToString();
    EXPECT_EQ(fingerprint->probes.size(), 1U);
  }
  EXPECT_FALSE(fs::exists(Fleet() / ".distribute"));
  const ProcessResult compared = Compare(Fleet());
  EXPECT_EQ(compared.outcome.exit_code, 0) << compared.stdout_text << compared.stderr_text;
  EXPECT_THAT(compared.stdout_text, HasSubstr("2 nodes"));
  // Those of another time are not mixed with new ones.
  const ProcessResult again = Sweep({});
  EXPECT_EQ(again.outcome.exit_code, 2);
  EXPECT_THAT(again.stderr_text, HasSubstr("n1.json"));
}

TEST_F(SlurmSweep, NamesANodeThatIsDrained) {
  Drain("n2");
  const ProcessResult swept = Sweep({});
  EXPECT_EQ(swept.outcome.exit_code, 4);
  EXPECT_THAT(swept.stdout_text, HasSubstr("1 of 2 nodes"));
  EXPECT_THAT(swept.stderr_text, HasSubstr("n2: no fingerprint: drained: bad DIMM | slot 3"));
  EXPECT_TRUE(LoadFingerprint(Fleet() / "n1.json").ok());
  EXPECT_FALSE(fs::exists(Fleet() / "n2.json"));
}

TEST_F(SlurmSweep, NamesANodeWhoseDaemonIsGone) {
  world_->Kill("n2");
  const ProcessResult swept = Sweep({"--wait", "60s", "--json"});
  world_->KillAndRestart("n2", {});
  EXPECT_EQ(swept.outcome.exit_code, 4);
  EXPECT_THAT(swept.stderr_text, HasSubstr("n2: no fingerprint: "));
  EXPECT_THAT(swept.stderr_text, Not(HasSubstr("n1: no fingerprint")));
  EXPECT_TRUE(LoadFingerprint(Fleet() / "n1.json").ok()) << swept.stderr_text;
  EXPECT_THAT(swept.stdout_text, HasSubstr("rharness.distribution/v1"));
}

TEST_F(SlurmSweep, DoesNotWaitForEverForABusyNode) {
  SlurmWorld::Run(
      {"sbatch", "--nodelist=n2", "--exclusive", "--wrap=sleep 100", "--output=/dev/null"});
  ASSERT_TRUE(Await([] { return Sinfo().find("allocated 1") != std::string::npos; }));
  const ProcessResult swept = Sweep({"--wait", "5s"});
  EXPECT_EQ(swept.outcome.exit_code, 4);
  EXPECT_THAT(swept.stderr_text, HasSubstr("n2: no fingerprint: did not come free within 5"));
  EXPECT_TRUE(fs::exists(Fleet() / "n1.json"));
  EXPECT_THAT(SlurmWorld::Run({"squeue", "--noheader", "--format=%j"}), Not(HasSubstr("rharness")));
}

TEST_F(SlurmSweep, TellsOfAProgramThatIsNotThere) {
  const ProcessResult swept = Sweep({"--program", "/nowhere/rharness-probe"});
  EXPECT_EQ(swept.outcome.exit_code, 4);
  EXPECT_THAT(swept.stderr_text,
              HasSubstr("n[1-2] (2 nodes): no fingerprint: the program ended with 2: "));
  EXPECT_THAT(swept.stderr_text, HasSubstr("/nowhere/rharness-probe"));
}

TEST_F(SlurmSweep, RefusesWhatMeansNoNode) {
  const ProcessResult partition = Sweep({"--sbatch=--partition=nope"});
  EXPECT_EQ(partition.outcome.exit_code, 2);
  EXPECT_THAT(partition.stderr_text, HasSubstr("no node of partition nope"));
  EXPECT_EQ(Sweep({"--sbatch=--constraint=a100"}).outcome.exit_code, 2);
  EXPECT_EQ(Sweep({"--sbatch=--nodelist=n9"}).outcome.exit_code, 2);
  const ProcessResult account = Sweep({"--sbatch=--licenses=none"});
  EXPECT_EQ(account.outcome.exit_code, 4) << "Slurm's own refusal, told by node";
  EXPECT_THAT(account.stderr_text, HasSubstr("n[1-2] (2 nodes): no fingerprint: Slurm refused it"));
}

TEST_F(SlurmSweep, AsksOnlyTheNodesThatAreMeant) {
  EXPECT_EQ(Sweep({"--sbatch=--nodelist=n[1-2]", "--sbatch=--exclude=n1"}).outcome.exit_code, 0);
  EXPECT_FALSE(fs::exists(Fleet() / "n1.json"));
  EXPECT_TRUE(fs::exists(Fleet() / "n2.json"));
  // Those that are missing are asked for into the same folder.
  EXPECT_EQ(Sweep({"--sbatch=--nodelist=n1"}).outcome.exit_code, 0);
  EXPECT_TRUE(fs::exists(Fleet() / "n1.json"));
}

TEST_F(SlurmSweep, TakesItsJobsBackWhereItIsAskedToEnd) {
  SlurmWorld::Run(
      {"sbatch", "--nodelist=n1,n2", "--exclusive", "--wrap=sleep 100", "--output=/dev/null"});
  ASSERT_TRUE(Await([] { return Sinfo().find("allocated 2") != std::string::npos; }));
  std::thread stopper;
  const ProcessResult swept = Sweep({}, [&](int pid) {
    stopper = std::thread([pid] {
      EXPECT_TRUE(Await([] {
        return SlurmWorld::Run({"squeue", "--noheader", "--format=%j"}).find("rharness") !=
               std::string::npos;
      }));
      ::kill(pid, SIGTERM);
    });
  });
  stopper.join();
  EXPECT_EQ(swept.outcome.exit_code, 4);
  EXPECT_THAT(swept.stderr_text, HasSubstr("n[1-2] (2 nodes): no fingerprint: cancelled"));
  EXPECT_THAT(SlurmWorld::Run({"squeue", "--noheader", "--format=%j"}), Not(HasSubstr("rharness")));
}

}  // namespace
}  // namespace rharness
