// RunProcess with a real small child (child_main.cc): every limit, and nothing stays behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "tests/base/test_child.h"
#include "tests/sanitized.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(Subprocess, TerminatesAtTheTimeLimitAndLetsHandlersRun) {
  const ProcessResult result =
      RunProcess(Child({"catch-term", "say", "ready ", "hang"}), Timeout(milliseconds(300)));
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kTimedOut);
  EXPECT_EQ(result.stdout_text, "ready term");
  EXPECT_GE(result.outcome.wall, milliseconds(300));
}

TEST(Subprocess, KillsWhatIgnoresTermTwoSecondsLater) {
  const ProcessResult result =
      RunProcess(Child({"ignore", std::to_string(SIGTERM), "fork-hanging", "hang"}),
                 Timeout(milliseconds(200)));
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kTimedOut);
  EXPECT_GE(result.outcome.wall, milliseconds(2200));
  ASSERT_EQ(Pids(result.stdout_text).size(), 1u);
  EXPECT_FALSE(IsAlive(Pids(result.stdout_text)[0]));
}

TEST(Subprocess, KillsAStoppedProcessAtTheTimeLimit) {
  const ProcessResult result =
      RunProcess(Child({"raise", std::to_string(SIGSTOP), "hang"}), Timeout(milliseconds(200)));
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kTimedOut);
}

TEST(Subprocess, StopsWhenCancelled) {
  std::atomic<int> asked{0};
  const ProcessResult result =
      RunProcess(Child({"hang"}), Timeout(), {}, [&] { return ++asked >= 2; });
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kCancelled);
  EXPECT_EQ(asked, 2);
}

TEST(Subprocess, KillsTheGroupAfterTheLeadersEnd) {
  const ProcessResult result = RunSteps({"fork-hanging", "fork-hanging", "exit", "5"});
  EXPECT_EQ(result.outcome.exit_code, 5);
  const std::vector<int> pids = Pids(result.stdout_text);
  ASSERT_EQ(pids.size(), 2u);
  for (const int pid : pids) EXPECT_FALSE(IsAlive(pid));
}

TEST(Subprocess, KillsDaemonsThatLeftTheGroup) {
  const ProcessResult result = RunSteps({"fork-daemon", "exit", "0"});
  const std::vector<int> pids = Pids(result.stdout_text);
  ASSERT_EQ(pids.size(), 1u);
  EXPECT_FALSE(IsAlive(pids[0]));
}

TEST(Subprocess, KillsDaemonsAtTheTimeLimit) {
  const ProcessResult result =
      RunProcess(Child({"fork-daemon", "hang"}), Timeout(milliseconds(500)));
  const std::vector<int> pids = Pids(result.stdout_text);
  ASSERT_EQ(pids.size(), 1u);
  EXPECT_FALSE(IsAlive(pids[0]));
}

TEST(Subprocess, LeavesWhatLeftTheGroupAloneWhereTheGroupIsAllThereIs) {
  ProcessSpec spec = Child({"fork-daemon", "fork-hanging", "hang"});
  spec.group_only = true;
  const ProcessResult result = RunProcess(spec, Timeout(milliseconds(500)));
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kTimedOut);
  const std::vector<int> pids = Pids(result.stdout_text);
  ASSERT_EQ(pids.size(), 2u);
  EXPECT_TRUE(IsAlive(pids[0]));
  EXPECT_FALSE(IsAlive(pids[1]));
  ::kill(pids[0], SIGKILL);
}

// It was seen in the group before it left it, as every daemon is on a busy machine.
TEST(Subprocess, LeavesWhatWasSeenInTheGroupBeforeItLeftAlone) {
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c",
               "(sleep 0.5; exec setsid sleep 60) > /dev/null 2>&1 & echo $!; sleep 1.5"};
  spec.group_only = true;
  const ProcessResult result = RunProcess(spec, Timeout());
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kExited) << result.outcome.ToString();
  const std::vector<int> pids = Pids(result.stdout_text);
  ASSERT_EQ(pids.size(), 1u);
  EXPECT_TRUE(IsAlive(pids[0]));
  ::kill(pids[0], SIGKILL);
}

TEST(Subprocess, APipeHeldOpenByAnEscapedDaemonDoesNotHoldTheCall) {
  const ProcessResult result = RunSteps({"fork-forgetful-daemon", "exit", "0"});
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kExited);
  const std::vector<int> pids = Pids(result.stdout_text);
  ASSERT_EQ(pids.size(), 1u);
  if (IsAlive(pids[0])) ::kill(pids[0], SIGKILL);
}

TEST(Subprocess, KillsAtTheMemoryLimit) {
  ProcessLimits limits = Timeout();
  limits.memory_bytes = 64 * kMiB;
  const ProcessResult result =
      RunProcess(Child({"allocate", std::to_string(200 * kMiB), "hang"}), limits);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kMemoryLimit);
  EXPECT_GT(result.outcome.peak_memory_bytes, limits.memory_bytes);
}

TEST(Subprocess, TheMemoryOfGrandchildrenCounts) {
  ProcessLimits limits = Timeout();
  limits.memory_bytes = 128 * kMiB;
  const std::string program = Child({}).argv[0];
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c",
               "\"$0\" allocate 100000000 hang & \"$0\" allocate 100000000 hang & wait", program};
  EXPECT_EQ(RunProcess(spec, limits).outcome.kind, OutcomeKind::kMemoryLimit);
}

TEST(Subprocess, PagesSharedByForkedWorkersCountOnce) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's shadow memory counts, too";
  ProcessLimits limits = Timeout();
  limits.memory_bytes = 128 * kMiB;
  int asked = 0;
  const ProcessResult result =
      RunProcess(Child({"allocate", std::to_string(64 * kMiB), "fork-hanging", "fork-hanging",
                        "fork-hanging", "fork-hanging", "hang"}),
                 limits, {}, [&] { return ++asked >= 5; });
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kCancelled) << result.outcome.ToString();
  EXPECT_GE(result.outcome.peak_memory_bytes, 64 * kMiB);
}

class DiskLimit : public testing::Test {
 protected:
  DiskLimit() {
    limits_.disk_bytes = 4 * kMiB;
    limits_.disk_root = folder_->path();
  }
  std::vector<std::string> Write(std::uint64_t bytes_each, int count) {
    return {"write", folder_->path().string(), std::to_string(bytes_each), std::to_string(count)};
  }
  Result<ScopedTempDir> folder_ = ScopedTempDir::Make();
  ProcessLimits limits_ = Timeout();
};

TEST_F(DiskLimit, KillsWhileTheChildRuns) {
  std::vector<std::string> steps = Write(kMiB, 8);
  steps.push_back("hang");
  const ProcessResult result = RunProcess(Child(steps), limits_);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kDiskLimit);
  EXPECT_THAT(result.outcome.detail, HasSubstr("the limit is 4194304"));
}

TEST_F(DiskLimit, HoldsForAChildThatEndsBeforeItIsLookedAt) {
  EXPECT_EQ(RunProcess(Child(Write(kMiB, 8)), limits_).outcome.kind, OutcomeKind::kDiskLimit);
}

TEST_F(DiskLimit, OneFileCannotGrowPastIt) {
  EXPECT_EQ(RunProcess(Child(Write(64 * kMiB, 1)), limits_).outcome.kind, OutcomeKind::kDiskLimit);
  EXPECT_LE(fs::file_size(folder_->path() / "0"), 5 * kMiB);
}

TEST_F(DiskLimit, LessIsFine) {
  EXPECT_TRUE(RunProcess(Child(Write(kMiB, 3)), limits_).outcome.Succeeded());
}

}  // namespace
}  // namespace rharness
