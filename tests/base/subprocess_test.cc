// RunProcess with a real small child (child_main.cc): outcomes, streams, environment, failures.
#include "harness/base/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "tests/base/test_child.h"
#include "tests/sanitized.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::HasSubstr;

std::size_t OpenDescriptors() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), {}));
}

TEST(Subprocess, ReportsExitCodesExactly) {
  for (const int code : {0, 1, 3, 125, 127, 128 + 9, 255}) {
    const ProcessResult result = RunSteps({"exit", std::to_string(code)});
    EXPECT_EQ(result.outcome.kind, OutcomeKind::kExited);
    EXPECT_EQ(result.outcome.exit_code, code);
    EXPECT_EQ(result.outcome.Succeeded(), code == 0);
  }
}

TEST(Subprocess, ReportsSignalsExactly) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGKILL, SIGTERM, SIGPIPE}) {
    const ProcessResult result = RunSteps({"raise", std::to_string(signal)});
    EXPECT_EQ(result.outcome.kind, OutcomeKind::kSignalled);
    EXPECT_EQ(result.outcome.signal, signal);
  }
}

TEST(Subprocess, SeparatesTheTwoStreams) {
  const ProcessResult result = RunSteps({"print", "1", "o", "3", "print", "2", "e", "4"});
  EXPECT_EQ(result.stdout_text, "ooo");
  EXPECT_EQ(result.stderr_text, "eeee");
}

TEST(Subprocess, KeepsTheEndsOfLongOutputAndCountsAllOfIt) {
  ProcessLimits limits = Timeout();
  limits.output_bytes = 10;
  const ProcessResult result =
      RunProcess(Child({"print", "1", "a", "3000000", "print", "1", "b", "3000000"}), limits);
  EXPECT_EQ(result.stdout_text, "aaaaabbbbb");
  EXPECT_EQ(result.stdout_bytes, 6'000'000u);
  EXPECT_EQ(result.stderr_bytes, 0u);
}

TEST(Subprocess, TheEnvironmentIsExactlyWhatIsGivenAndTheMarker) {
  ::setenv("RHARNESS_TEST_LEAK", "leaked", 1);
  ProcessSpec spec = Child({"env"});
  spec.environment = {{"ONE", "1"}, {"EMPTY", ""}, {"ODD", "a=b\nc"}, {"RHARNESS_JOB", "mine"}};
  const ProcessResult result = RunProcess(spec, Timeout());
  ::unsetenv("RHARNESS_TEST_LEAK");
  const std::string marker = result.stdout_text.substr(0, 13 + 16 + 1);
  EXPECT_THAT(marker, testing::MatchesRegex("RHARNESS_JOB=[0-9a-f]*\n"));
  EXPECT_EQ(result.stdout_text.substr(marker.size()), "EMPTY=\nODD=a=b\nc\nONE=1\n");
  spec.marked = false;
  EXPECT_EQ(RunProcess(spec, {}).stdout_text, result.stdout_text.substr(marker.size()));
}

TEST(Subprocess, RunsInTheWorkingDirectory) {
  ProcessSpec spec = Child({"cwd"});
  spec.working_directory = "/usr/lib";
  EXPECT_EQ(RunProcess(spec, Timeout()).stdout_text, "/usr/lib");
}

TEST(Subprocess, StdinIsAtItsEnd) { EXPECT_EQ(RunSteps({"stdin"}).stdout_text, "0"); }

TEST(Subprocess, WorksWithoutStandardStreamsOfItsOwn) {
  const int saved[3] = {::fcntl(0, F_DUPFD_CLOEXEC, 10), ::fcntl(1, F_DUPFD_CLOEXEC, 10),
                        ::fcntl(2, F_DUPFD_CLOEXEC, 10)};
  for (int fd = 0; fd < 3; ++fd) ::close(fd);
  const ProcessResult result = RunSteps({"stdin", "print", "2", "e", "2", "descriptors"});
  for (int fd = 0; fd < 3; ++fd) {
    ::dup2(saved[fd], fd);
    ::close(saved[fd]);
  }
  EXPECT_EQ(result.stdout_text, "0");
  EXPECT_EQ(result.stderr_text, "ee");
}

TEST(Subprocess, InheritsTheStandardStreamsWhenAsked) {
  const Result<ScopedTempDir> folder = ScopedTempDir::Make();
  const fs::path path = folder->path() / "out";
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const Descriptor saved(::fcntl(1, F_DUPFD_CLOEXEC, 10));
  ::dup2(file.get(), 1);
  ProcessSpec spec = Child({"say", "live ", "stdin"});
  spec.inherit_stdio = true;
  const ProcessResult result = RunProcess(spec, Timeout());
  ::dup2(saved.get(), 1);
  EXPECT_TRUE(result.outcome.Succeeded());
  EXPECT_EQ(*ReadFile(path), "live 0");
  EXPECT_EQ(result.stdout_bytes, 0u);
}

TEST(Subprocess, SignalsStartOutAtTheirDefaults) {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked;
  sigset_t old;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &old);
  const ProcessResult result = RunSteps({"status", "SigBlk", "status", "SigIgn"});
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(result.stdout_text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(Subprocess, WritesNoCoreFiles) { EXPECT_EQ(RunSteps({"core-limit"}).stdout_text, "0"); }

TEST(Subprocess, AMissingProgramIsNotStarted) {
  if (kVforkIsFork) GTEST_SKIP() << "the thread sanitizer makes vfork a fork";
  for (const char* program : {"no-such-program-anywhere", "/no/such/program"}) {
    ProcessSpec spec;
    spec.argv = {program};
    spec.environment["PATH"] = "/usr/bin:/bin";
    const ProcessResult result = RunProcess(spec, Timeout());
    EXPECT_EQ(result.outcome.kind, OutcomeKind::kNotStarted);
    EXPECT_EQ(result.outcome.error_number, ENOENT);
    EXPECT_EQ(result.outcome.detail,
              std::string("cannot execute '") + program + "': No such file or directory");
  }
  EXPECT_LE(::waitpid(-1, nullptr, WNOHANG), 0) << "a child was left unwaited for";
}

TEST(Subprocess, AFileThatCannotBeExecutedIsNotStarted) {
  if (kVforkIsFork) GTEST_SKIP() << "the thread sanitizer makes vfork a fork";
  const Result<ScopedTempDir> folder = ScopedTempDir::Make();
  std::ofstream(folder->path() / "data") << "no program";
  ProcessSpec spec;
  spec.environment["PATH"] = folder->path().string();
  for (const std::string& program : {std::string("data"), (folder->path() / "data").string()}) {
    spec.argv = {program};
    const ProcessResult result = RunProcess(spec, Timeout());
    EXPECT_EQ(result.outcome.kind, OutcomeKind::kNotStarted);
    EXPECT_EQ(result.outcome.error_number, EACCES);
    EXPECT_THAT(result.outcome.detail, HasSubstr("Permission denied"));
  }
}

TEST(Subprocess, AMissingWorkingDirectoryIsNotStarted) {
  if (kVforkIsFork) GTEST_SKIP() << "the thread sanitizer makes vfork a fork";
  ProcessSpec spec = Child({"exit", "0"});
  spec.working_directory = "/no/such/folder";
  const ProcessResult result = RunProcess(spec, Timeout());
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kNotStarted);
  EXPECT_THAT(result.outcome.detail, HasSubstr("'/no/such/folder': No such file"));
}

TEST(Subprocess, WhatExecveCannotTakeIsNotStarted) {
  if (kVforkIsFork) GTEST_SKIP() << "the thread sanitizer makes vfork a fork";
  ProcessSpec empty;
  EXPECT_EQ(RunProcess(empty).outcome.kind, OutcomeKind::kNotStarted);
  ProcessSpec nul = Child({std::string("a\0b", 3)});
  EXPECT_EQ(RunProcess(nul).outcome.kind, OutcomeKind::kNotStarted);
  ProcessSpec name = Child({"exit", "0"});
  name.environment["A=B"] = "";
  EXPECT_EQ(RunProcess(name).outcome.kind, OutcomeKind::kNotStarted);
  ProcessSpec huge = Child({"say", std::string(std::size_t{1} << 23, 'x')});
  EXPECT_THAT(RunProcess(huge).outcome.detail, HasSubstr("Argument list too long"));
}

TEST(Subprocess, FindsProgramsInThePathOfTheChildAndItsFolder) {
  const Result<ScopedTempDir> folder = ScopedTempDir::Make();
  fs::create_directory(folder->path() / "tools");
  fs::create_symlink(std::string(RHARNESS_BIN_DIR) + "/test_subprocess_child",
                     folder->path() / "tools" / "unheard-of");
  ProcessSpec spec;
  spec.argv = {"unheard-of", "say", "found"};
  spec.environment["PATH"] = "/nowhere:tools";
  EXPECT_EQ(RunProcess(spec, Timeout()).outcome.kind, OutcomeKind::kNotStarted);
  spec.working_directory = folder->path();
  EXPECT_EQ(RunProcess(spec, Timeout()).stdout_text, "found");
}

TEST(Subprocess, ParallelChildrenDoNotSeeEachOthersDescriptors) {
  const std::size_t before = OpenDescriptors();
  // One that a careless library left open across exec.
  const Descriptor careless(::open("/dev/zero", O_RDONLY));
  std::vector<ProcessResult> results(64);
  std::vector<std::thread> threads;
  for (ProcessResult& result : results) {
    threads.emplace_back([&result] { result = RunSteps({"descriptors", "fork-hanging"}); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const ProcessResult& result : results) {
    EXPECT_TRUE(result.outcome.Succeeded()) << result.outcome.ToString();
    ASSERT_EQ(Pids(result.stdout_text).size(), 1u) << result.stdout_text;
    EXPECT_FALSE(IsAlive(Pids(result.stdout_text)[0]));
    EXPECT_THAT(result.stdout_text, testing::Not(HasSubstr("/")));
  }
  EXPECT_EQ(OpenDescriptors(), before + 1);
}

TEST(Subprocess, TellsThePidAndTheTimes) {
  int pid = 0;
  const ProcessResult result =
      RunProcess(Child({"exit", "0"}), Timeout(), [&](int started) { pid = started; });
  EXPECT_GT(pid, 0);
  EXPECT_FALSE(ProcessStartTicks(pid).has_value());
  EXPECT_GT(result.outcome.wall.count(), 0);
  EXPECT_GT(result.outcome.cpu.count(), 0);
}

TEST(Subprocess, ALeftoverGroupIsKilledOnlyIfItIsTheSameProcess) {
  if (kVforkIsFork) GTEST_SKIP() << "the thread sanitizer makes vfork a fork";
  ASSERT_TRUE(ProcessStartTicks(::getpid()).has_value());
  const ProcessResult other = RunProcess(Child({"exit", "3"}), Timeout(), [](int pid) {
    KillLeftoverGroup(pid, *ProcessStartTicks(pid) + 1);
  });
  EXPECT_EQ(other.outcome.exit_code, 3);
  const ProcessResult same = RunProcess(
      Child({"hang"}), Timeout(), [](int pid) { KillLeftoverGroup(pid, *ProcessStartTicks(pid)); });
  EXPECT_EQ(same.outcome.kind, OutcomeKind::kSignalled);
  EXPECT_EQ(same.outcome.signal, SIGKILL);
}

TEST(Outcome, NamesRoundTrip) {
  for (const char* name : {"exited", "signalled", "timed_out", "memory_limit", "disk_limit",
                           "cancelled", "lost", "not_started"}) {
    const Result<OutcomeKind> kind = ParseOutcomeKind(name);
    ASSERT_TRUE(kind.ok());
    EXPECT_EQ(OutcomeKindName(*kind), name);
  }
  EXPECT_EQ(ParseOutcomeKind("EXITED").error().code, ErrorCode::kInvalidInput);
}

TEST(Outcome, SpeaksInSentences) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kExited;
  outcome.exit_code = 3;
  EXPECT_EQ(outcome.ToString(), "exited with 3");
  outcome.kind = OutcomeKind::kSignalled;
  outcome.signal = SIGSEGV;
  EXPECT_EQ(outcome.ToString(), "killed by SIGSEGV");
  outcome.kind = OutcomeKind::kTimedOut;
  outcome.wall = seconds(12);
  EXPECT_EQ(outcome.ToString(), "timed out after 12 s");
  outcome.kind = OutcomeKind::kNotStarted;
  outcome.detail = "cannot execute 'x'";
  EXPECT_EQ(outcome.ToString(), "not started: cannot execute 'x'");
}

#if __GLIBC_PREREQ(2, 32)
TEST(Outcome, NamesEverySignalAsTheCLibraryDoes) {
  for (int signal = 1; signal < NSIG; ++signal) {
    Outcome outcome;
    outcome.kind = OutcomeKind::kSignalled;
    outcome.signal = signal;
    const char* name = ::sigabbrev_np(signal);
    EXPECT_EQ(outcome.ToString(), name == nullptr ? "killed by signal " + std::to_string(signal)
                                                  : std::string("killed by SIG") + name);
  }
}
#endif

TEST(PickEnvironment, TakesWhatIsSetAndOnlyThat) {
  ::setenv("RHARNESS_TEST_SET", "value", 1);
  ::setenv("RHARNESS_TEST_EMPTY", "", 1);
  ::unsetenv("RHARNESS_TEST_UNSET");
  const std::map<std::string, std::string> expected = {{"RHARNESS_TEST_EMPTY", ""},
                                                       {"RHARNESS_TEST_SET", "value"}};
  EXPECT_EQ(PickEnvironment({"RHARNESS_TEST_SET", "RHARNESS_TEST_UNSET", "RHARNESS_TEST_EMPTY"}),
            expected);
}

}  // namespace
}  // namespace rharness
