// What the kernel holds a child to: its control groups, which end with it, and what it sees
// read-only. Skipped, with the reason, where this machine offers neither.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/base/cgroup.h"
#include "harness/base/files.h"
#include "tests/base/groups_left.h"
#include "tests/base/test_child.h"

namespace rharness {
namespace {

using testing::IsEmpty;
using testing::Not;

class Cgroup : public testing::Test {
 protected:
  void SetUp() override {
    const auto made = JobCgroup::Make(Name("probe"));
    if (!made.ok()) GTEST_SKIP() << "no control group here: " << made.error().ToString();
  }
  static void Enter(const JobCgroup& group) {
    for (const int entrance : group.entrances()) {
      if (::write(entrance, "0", 1) != 1) ::_exit(1);
    }
  }
  static std::string Name(const std::string& what) {
    return kCgroupPrefix + what + std::to_string(::getpid());
  }
};

TEST_F(Cgroup, EndsADaemonThatEmptiedItsEnvironment) {
  ProcessSpec spec = Child({"fork-forgetful-daemon", "exit", "3"});
  spec.own_cgroup = true;
  const ProcessResult result = RunProcess(spec, Timeout());
  EXPECT_EQ(result.outcome.exit_code, 3);
  const std::vector<int> pids = Pids(result.stdout_text);
  ASSERT_EQ(pids.size(), 1u);
  EXPECT_FALSE(IsAlive(pids[0]));
}

TEST_F(Cgroup, EndsADaemonAtTheTimeLimit) {
  ProcessSpec spec = Child({"fork-forgetful-daemon", "hang"});
  spec.own_cgroup = true;
  const ProcessResult result = RunProcess(spec, Timeout(std::chrono::milliseconds(300)));
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kTimedOut);
  const std::vector<int> pids = Pids(result.stdout_text);
  ASSERT_EQ(pids.size(), 1u);
  EXPECT_FALSE(IsAlive(pids[0]));
}

TEST_F(Cgroup, KnowsWhatIsInItAndIsGoneAfterwards) {
  const std::string name = Name("members");
  int pid = 0;
  {
    const auto made = JobCgroup::Make(name);
    ASSERT_TRUE(made.ok()) << made.error().ToString();
    EXPECT_TRUE(made->Members().empty());
    EXPECT_FALSE(JobCgroup::Make(name).ok()) << "one of the same name";
    pid = ::fork();
    if (pid == 0) {
      Enter(*made);
      for (;;) ::pause();
    }
    while (made->Members().empty() && IsAlive(pid)) ::usleep(1000);
    EXPECT_EQ(made->Members(), std::set<int>{pid});
  }
  EXPECT_FALSE(IsAlive(pid));
  ::waitpid(pid, nullptr, 0);
  EXPECT_THAT(GroupsLeft(name), IsEmpty());
  EXPECT_TRUE(JobCgroup::Make(name).ok()) << "the name can be used again";
}

// As a drill that is killed leaves it, and its successor finds it.
TEST_F(Cgroup, OfAKilledSessionIsFoundByItsName) {
  const std::string session = ("t" + std::to_string(::getpid()) + "000000000").substr(0, 10);
  int pids[2];
  ASSERT_EQ(::pipe(pids), 0);
  const pid_t harness = ::fork();
  if (harness == 0) {
    const auto made =
        JobCgroup::Make(kCgroupPrefix + session + "000001", {.memory_bytes = 64 * kMiB});
    const pid_t run = made.ok() ? ::fork() : 0;
    if (run == 0) {
      if (!made.ok()) ::_exit(1);
      Enter(*made);
      ::setsid();
      const pid_t self = ::getpid();
      if (::write(pids[1], &self, sizeof(self)) != sizeof(self)) ::_exit(1);
      ::alarm(60);
      for (;;) ::pause();
    }
    ::waitpid(run, nullptr, 0);
    ::_exit(0);
  }
  pid_t run = 0;
  ASSERT_EQ(::read(pids[0], &run, sizeof(run)), static_cast<ssize_t>(sizeof(run)));
  ::kill(harness, SIGKILL);
  ::waitpid(harness, nullptr, 0);
  EXPECT_TRUE(IsAlive(run));
  EXPECT_THAT(GroupsLeft(kCgroupPrefix + session), Not(IsEmpty()));
  KillSession(session);
  EXPECT_FALSE(IsAlive(run));
  EXPECT_THAT(GroupsLeft(kCgroupPrefix + session), IsEmpty());
  ::close(pids[0]);
  ::close(pids[1]);
}

TEST(ReadOnly, IsWhatTheChildSeesAndNobodyElse) {
  const pid_t probe = ::fork();
  if (probe == 0) ::_exit(::unshare(CLONE_NEWNS) == 0 ? 0 : errno);
  int status = 0;
  ::waitpid(probe, &status, 0);
  if (status != 0) {
    GTEST_SKIP() << "no mount namespace here: " << std::strerror(WEXITSTATUS(status));
  }
  const ScopedTempDir folder = std::move(ScopedTempDir::Make()).value();
  const auto file = folder.path() / "data", other = folder.path() / "other";
  ASSERT_TRUE(WriteFileAtomic(file, "12").ok());
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "echo 3 >>other; echo 3 >>data"};
  spec.environment = {{"PATH", "/usr/bin:/bin"}};
  spec.working_directory = folder.path();
  spec.read_only = {file};
  const ProcessResult result = RunProcess(spec, Timeout());
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kExited);
  EXPECT_NE(result.outcome.exit_code, 0);
  EXPECT_NE(result.stderr_text.find("Read-only"), std::string::npos) << result.stderr_text;
  EXPECT_EQ(ReadFile(file).value(), "12");
  EXPECT_EQ(ReadFile(other).value(), "3\n");
  EXPECT_TRUE(WriteFileAtomic(file, "4").ok());
}

TEST(ReadOnly, OfAPathThatIsNotThereLeavesTheRestAsItWas) {
  ProcessSpec spec = Child({"say", "ran"});
  spec.read_only = {"/nowhere/at/all"};
  EXPECT_EQ(RunProcess(spec, Timeout()).stdout_text, "ran");
}

}  // namespace
}  // namespace rharness
