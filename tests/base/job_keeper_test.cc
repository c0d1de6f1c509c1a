// The jobs of a killed process end. A failure is reported at once.
#include "harness/base/job_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "tests/base/test_child.h"

namespace rharness {
namespace {

using std::chrono::milliseconds;

ProcessSpec Shell(const std::string& text) {
  ProcessSpec spec{.argv = {"sh", "-c", text}, .environment = PickEnvironment({"PATH"})};
  spec.own_cgroup = true;
  return spec;
}

int PidIn(const std::filesystem::path& file) {
  for (int i = 0; i < 2000; ++i) {
    const auto text = ReadFile(file);
    if (text.ok() && text->ends_with('\n')) return std::stoi(*text);
    std::this_thread::sleep_for(milliseconds(5));
  }
  return 0;
}

bool EndsSoon(int pid) {
  for (int i = 0; i < 2000 && IsAlive(pid); ++i) std::this_thread::sleep_for(milliseconds(5));
  return !IsAlive(pid);
}

// Not by RunProcess, which would end what is left itself.
TEST(JobKeeper, EndsTheLeaderAndWhatDetachedFromItWhenTheirStarterIsKilled) {
  const ScopedTempDir folder = std::move(ScopedTempDir::Make()).value();
  const std::string at = folder.path().string();
  const pid_t starter = ::fork();
  if (starter == 0) {
    std::thread([&] {
      RunProcess(Shell("setsid sh -c 'echo $$ > " + at + "/detached; exec sleep 600' & " +
                       "echo $$ > " + at + "/leader; sleep 600; true"));
    }).join();
    ::_exit(0);
  }
  const int leader = PidIn(folder.path() / "leader");
  const int detached = PidIn(folder.path() / "detached");
  ASSERT_TRUE(leader > 0 && detached > 0);
  ::kill(starter, SIGKILL);
  ::waitpid(starter, nullptr, 0);
  EXPECT_TRUE(EndsSoon(leader));
  EXPECT_TRUE(EndsSoon(detached));
}

TEST(JobKeeper, LeavesAloneWhatAnUnmarkedClientStartedAndEndsWithItsProcess) {
  const ScopedTempDir folder = std::move(ScopedTempDir::Make()).value();
  const std::string at = folder.path().string();
  const pid_t starter = ::fork();
  if (starter == 0) {
    std::jthread job([] { RunProcess(Shell("sleep 600")); });
    ProcessSpec client =
        Shell("setsid sh -c 'echo $$ > " + at + "/task; exec sleep 600' & sleep 600");
    client.own_cgroup = false;
    client.marked = false;
    client.group_only = true;
    RunProcess(client);
    ::_exit(0);
  }
  const int task = PidIn(folder.path() / "task");
  ASSERT_GT(task, 0);
  ::kill(starter, SIGKILL);
  ::waitpid(starter, nullptr, 0);
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_TRUE(IsAlive(task)) << "as a job of Slurm's";
  ::kill(-task, SIGKILL);
}

TEST(RunProcess, TellsAFailureBeforeItEndsWhatTheLeaderLeft) {
  const ScopedTempDir folder = std::move(ScopedTempDir::Make()).value();
  const std::filesystem::path file = folder.path() / "left";
  bool lived = false;
  int told = 0;
  const auto on_failure = [&] {
    ++told;
    lived = IsAlive(PidIn(file));
  };
  const std::string text = "sleep 600 & echo $! > " + file.string() + "; exit ";
  const ProcessResult failed = RunProcess(Shell(text + "3"), Timeout(), {}, {}, on_failure);
  EXPECT_EQ(failed.outcome.exit_code, 3);
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(lived);
  EXPECT_TRUE(RunProcess(Shell(text + "0"), Timeout(), {}, {}, on_failure).outcome.Succeeded());
  EXPECT_EQ(told, 1) << "no failure";
  RunProcess(Shell("sleep 600"), Timeout(milliseconds(200)), {}, {}, on_failure);
  EXPECT_EQ(told, 2) << "a limit";
  RunProcess(
      Shell("sleep 600"), Timeout(), {}, [] { return true; }, on_failure);
  EXPECT_EQ(told, 2) << "stopped by the caller";
}

TEST(RunProcess, KeepsTheLastLineBeforeTheStopAndHowLongItWasSilent) {
  const ProcessResult result = RunProcess(
      Shell("trap 'echo caught; exit 1' TERM; echo step 12; while :; do sleep 0.1; done"),
      Timeout(milliseconds(800)));
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kTimedOut);
  EXPECT_THAT(result.stdout_text, ::testing::HasSubstr("caught"));
  EXPECT_EQ(result.last_line, "step 12");
  EXPECT_GT(result.silence, milliseconds(300));
  EXPECT_LE(result.silence, result.outcome.wall);
}

}  // namespace
}  // namespace rharness
