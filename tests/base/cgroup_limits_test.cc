// Limits that the kernel holds a job to, on real control groups. Skipped, with the reason, where
// this machine offers none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include "harness/base/cgroup.h"
#include "harness/base/files.h"
#include "harness/base/joint_memory.h"
#include "tests/base/groups_left.h"
#include "tests/base/test_child.h"
#include "tests/sanitized.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

class CgroupLimit : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer's shadow memory counts, too";
    const auto made = JobCgroup::Make(kCgroupPrefix + ("limit" + std::to_string(::getpid())),
                                      {.memory_bytes = kMiB, .processes = 10});
    if (!made.ok()) GTEST_SKIP() << "no control group here: " << made.error().ToString();
    if (!made->limits_memory() || !made->limits_processes()) {
      GTEST_SKIP() << "no limits here: " << made->why_not();
    }
  }
  void TearDown() override { EXPECT_THAT(GroupsLeft(kCgroupPrefix + JobSession()), IsEmpty()); }

  static ProcessResult Run(ProcessSpec spec, std::uint64_t memory_bytes, int processes = 0) {
    spec.own_cgroup = true;
    ProcessLimits limits = Timeout();
    limits.memory_bytes = memory_bytes;
    limits.processes = processes;
    return RunProcess(spec, limits);
  }
  static ProcessSpec Shell(const std::string& script, std::vector<std::string> arguments = {}) {
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-c", script, Child({}).argv[0]};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.environment = {{"PATH", "/usr/bin:/bin"}};
    return spec;
  }
  static void ExpectKilledByTheKernel(const ProcessResult& result) {
    EXPECT_EQ(result.outcome.kind, OutcomeKind::kMemoryLimit) << result.outcome.ToString();
    EXPECT_THAT(result.outcome.detail, HasSubstr("its control group reached the limit of"));
    EXPECT_EQ(result.outcome.not_held, "");
  }
};

TEST_F(CgroupLimit, OfMemoryEndsTheRun) {
  ExpectKilledByTheKernel(Run(Child({"allocate", std::to_string(200 * kMiB), "hang"}), 64 * kMiB));
}

TEST_F(CgroupLimit, CountsWhatADetachedGrandchildHolds) {
  ExpectKilledByTheKernel(
      Run(Shell("(setsid env -i \"$0\" allocate 200000000 hang &); sleep 30"), 64 * kMiB));
}

TEST_F(CgroupLimit, CountsSharedMemoryThatIsNotMapped) {
  ExpectKilledByTheKernel(
      Run(Child({"fill-memory-file", std::to_string(200 * kMiB), "hang"}), 64 * kMiB));
}

TEST_F(CgroupLimit, CountsFilesInDevShm) {
  struct statfs info {};
  if (::statfs("/dev/shm", &info) != 0 || info.f_type != TMPFS_MAGIC ||
      info.f_bavail * static_cast<std::uint64_t>(info.f_bsize) < 300 * kMiB) {
    GTEST_SKIP() << "/dev/shm holds no 300 MiB here";
  }
  const std::string file = "/dev/shm/rharness-limit-" + std::to_string(::getpid());
  const ProcessResult result =
      Run(Shell("head -c 200000000 /dev/zero >\"$1\"; exec sleep 30", {file}), 64 * kMiB);
  fs::remove(file);
  ExpectKilledByTheKernel(result);
}

// Version 1 kills one process, and the run would go on without it.
TEST_F(CgroupLimit, EndsARunThatOutlivesTheProcessThatWasKilled) {
  ExpectKilledByTheKernel(Run(Shell("\"$0\" allocate 200000000 hang; exec sleep 30"), 64 * kMiB));
}

TEST_F(CgroupLimit, EndsARunThatWouldHaveSucceededWithoutOneOfItsProcesses) {
  ExpectKilledByTheKernel(Run(Shell("\"$0\" allocate 200000000; exit 0"), 64 * kMiB));
}

TEST_F(CgroupLimit, IsNotTakenForAKillBySomebodyElse) {
  const ProcessResult result = Run(
      Child({"allocate", std::to_string(8 * kMiB), "raise", std::to_string(SIGKILL)}), 64 * kMiB);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kSignalled);
  EXPECT_EQ(result.outcome.signal, SIGKILL);
  EXPECT_EQ(result.outcome.detail, "");
}

// Such pages are not the run's: the kernel takes them away when it needs them, and these were read
// by somebody else before.
TEST_F(CgroupLimit, LetsAFileBeMappedThatIsLargerThanTheLimit) {
  const ScopedTempDir folder = std::move(ScopedTempDir::Make()).value();
  struct statfs info {};
  ASSERT_EQ(::statfs(folder.path().c_str(), &info), 0);
  if (info.f_type == TMPFS_MAGIC) GTEST_SKIP() << "files for tests are memory here";
  const fs::path file = folder.path() / "large";
  std::ofstream(file).close();
  fs::resize_file(file, 200 * kMiB);
  ASSERT_EQ(ReadFile(file).value().size(), 200 * kMiB);
  const ProcessResult result = Run(Child({"map", file.string(), "linger", "400"}), 64 * kMiB);
  EXPECT_TRUE(result.outcome.Succeeded()) << result.outcome.ToString();
}

TEST_F(CgroupLimit, OfProcessesBoundsAForkBomb) {
  const ProcessResult result = Run(Child({"fork-many", "100", "exit", "3"}), 0, 20);
  EXPECT_EQ(result.stdout_text, "19");
  EXPECT_EQ(result.outcome.exit_code, 3);
  EXPECT_THAT(result.outcome.detail, HasSubstr("could start no process, at the limit of 20"));
}

// The shell cannot start a process either, once the limit is reached: it waits without one.
TEST_F(CgroupLimit, OfProcessesHoldsDetachedOnesToo) {
  const ScopedTempDir folder = std::move(ScopedTempDir::Make()).value();
  const fs::path started = folder.path() / "started";
  const ProcessResult result = Run(Shell("(setsid env -i \"$0\" fork-many 100 hang >\"$1\" &); "
                                         "until test -s \"$1\"; do :; done",
                                         {started.string()}),
                                   0, 20);
  EXPECT_TRUE(result.outcome.Succeeded()) << result.outcome.ToString();
  EXPECT_LE(std::stoi(ReadFile(started).value()), 20);
}

TEST_F(CgroupLimit, IsNotReachedByARunThatIsWellBelowIt) {
  const ProcessResult result =
      Run(Child({"allocate", std::to_string(16 * kMiB), "fork-many", "3"}), 128 * kMiB, 20);
  EXPECT_TRUE(result.outcome.Succeeded()) << result.outcome.ToString();
  EXPECT_EQ(result.outcome.detail, "");
}

// Two children, each below the limit that they share.
std::pair<ProcessResult, ProcessResult> RunTwo(const std::shared_ptr<JointMemory>& memory,
                                               bool own_cgroup, std::uint64_t each) {
  const auto run = [&] {
    ProcessSpec spec = Child({"allocate", std::to_string(each), "linger", "3000"});
    spec.own_cgroup = own_cgroup;
    ProcessLimits limits = Timeout();
    limits.memory_bytes = memory->limit_bytes();
    limits.joint_memory = memory;
    return RunProcess(spec, limits);
  };
  std::pair<ProcessResult, ProcessResult> both;
  std::thread other([&] { both.second = run(); });
  both.first = run();
  other.join();
  return both;
}

void ExpectOneEnded(const std::pair<ProcessResult, ProcessResult>& both, const char* words) {
  const bool first = both.first.outcome.kind == OutcomeKind::kMemoryLimit;
  const Outcome& outcome = first ? both.first.outcome : both.second.outcome;
  EXPECT_EQ(outcome.kind, OutcomeKind::kMemoryLimit) << outcome.ToString();
  EXPECT_THAT(outcome.detail, HasSubstr(words));
}

TEST_F(CgroupLimit, HoldsForSeveralChildrenTogether) {
  const auto memory = std::make_shared<JointMemory>(96 * kMiB);
  ASSERT_NE(memory->Group(kCgroupPrefix + JobSession() + "-probe"), nullptr);
  ExpectOneEnded(RunTwo(memory, true, 64 * kMiB),
                 "it and the other tasks of its node reached the limit of 100663296 bytes");
  const auto roomy = std::make_shared<JointMemory>(512 * kMiB);
  const auto both = RunTwo(roomy, true, 64 * kMiB);
  EXPECT_TRUE(both.first.outcome.Succeeded()) << both.first.outcome.ToString();
  EXPECT_TRUE(both.second.outcome.Succeeded()) << both.second.outcome.ToString();
  EXPECT_EQ(both.first.outcome.not_held, "");
  EXPECT_GT(roomy->peak_bytes(), 128 * kMiB) << "of both at one moment";
}

// Where no control group can be had, what the watches see is added up.
TEST(JointMemory, IsWatchedOfSeveralChildrenTogether) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's shadow memory counts, too";
  ExpectOneEnded(RunTwo(std::make_shared<JointMemory>(96 * kMiB), false, 64 * kMiB),
                 "bytes; their limit is 100663296");
  const auto uncounted = std::make_shared<JointMemory>(0);
  const auto both = RunTwo(uncounted, false, 64 * kMiB);
  EXPECT_TRUE(both.first.outcome.Succeeded() && both.second.outcome.Succeeded());
  EXPECT_GT(uncounted->peak_bytes(), 128 * kMiB);
}

TEST(JointMemory, CountsPagesThatChildrenShareOnceWhereTheyWouldExceedIt) {
  JointMemory memory(100);
  const int a = 0, b = 0;
  const auto never = []() -> std::uint64_t { throw std::logic_error("asked without need"); };
  EXPECT_EQ(memory.Tell(&a, 60, never), 60U);
  EXPECT_EQ(memory.Tell(&b, 60, [] { return std::uint64_t{35}; }), 35U) << "of a it is not known";
  EXPECT_EQ(memory.Tell(&a, 60, [] { return std::uint64_t{35}; }), 70U);
  EXPECT_EQ(memory.peak_bytes(), 70U);
  memory.Forget(&a);
  EXPECT_EQ(memory.Tell(&b, 90, [] { return std::uint64_t{90}; }), 90U);
}

// Memory that nobody limits is not held, and nothing is said of it.
TEST(NotHeld, IsSaidOnlyOfLimitsThatWereAskedFor) {
  ProcessSpec spec = Child({"exit", "0"});
  spec.own_cgroup = true;
  EXPECT_EQ(RunProcess(spec, Timeout()).outcome.not_held, "");
}

}  // namespace
}  // namespace rharness
