// A drill of a run over two nodes under faults, at every stage of its rerun: whatever befalls it,
// it ends, resumed where it has to be, in the verdict of an undisturbed drill, and nothing that it
// started lives on.
//
// Prints a table. RHARNESS_FAULTS=all tries every fault at every moment, three times; another text,
// those with it in their name.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/descriptor.h"
#include "harness/base/json.h"
#include "tests/cli/fake_slurm.h"
#include "tests/cli/gang_program.h"
#include "tests/cli/record_finds.h"
#include "tests/sanitized.h"

namespace rharness {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kStuck = std::chrono::seconds(120);
constexpr int kMostResumes = 3;

struct GangTally {
  int trials = 0, missed = 0, resumed = 0;
  int lost = 0;     // without a verdict
  int doubled = 0;  // collected twice
  int wrong = 0;    // another verdict
  int stuck = 0;    // it did not end
  int running = 0;  // of a killed drill or an ended one: processes that live on
};

// The moments of a rerun, by what is in the drill's folder.
const std::map<std::string, std::string> kMoments = {
    {"gathering", "taken-0"},
    {"running", "running"},
    {"merging", "done"},
    {"collecting", "artifacts"},
};

class GangFaults : public RecordFinds {
 protected:
  void SetUp() override {
    RecordFinds::SetUp();
    Write("data.csv", "0.5");
    Write("train.py", GangProgram("open('running', 'w').close()\n"
                                  "if os.environ['HOME'].endswith('workspace'): time.sleep(0.3)"));
    const ProcessResult recorded =
        Record({"--nodes", "2", "--tasks-per-node", "2", "--out", "runs/a.json", "--run-id", "a"});
    ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.stderr_text;
    WriteFakeSlurm(At("slurm"));
    const char* asked = std::getenv("RHARNESS_FAULTS");
    all_ = asked != nullptr;
    if (all_ && std::string(asked) != "all") only_ = asked;
  }
  void TearDown() override {
    if (mounted_) ::umount2(Out().c_str(), MNT_DETACH);
  }
  fs::path Out() const { return At("project/out"); }

  // A drill that no RunProcess watches: what it leaves, is left.
  pid_t Start(bool slurm, bool resume, const std::string& attempts = "8",
              const std::string& cpus = "4") const {
    std::vector<std::string> argv = {RHARNESS_BIN_DIR "/rharness", "--quiet", "drill", "--out",
                                     Out().string()};
    const std::vector<std::string> more =
        resume ? std::vector<std::string>{"--resume"}
               : std::vector<std::string>{"runs", "--cpus", cpus, "--attempts", attempts};
    argv.insert(argv.end(), more.begin(), more.end());
    if (slurm && !resume) argv.insert(argv.end(), {"--dispatch", "slurm"});
    const std::string path = At("slurm").string() + ":" + std::getenv("PATH");
    const std::string log = At("drill.txt").string();
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    ::setsid();
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, 1);
    ::dup2(file, 2);
    ::setenv("PATH", path.c_str(), 1);
    if (::chdir(At("project").c_str()) != 0) ::_exit(126);
    std::vector<char*> arguments;
    for (std::string& argument : argv) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }

  // Whether a file of this name is below the drill's folder.
  bool IsAt(const std::string& name) const {
    std::error_code error;
    for (fs::recursive_directory_iterator at(Out(), error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().filename() == name) return true;
    }
    return false;
  }
  bool HasEnded(pid_t pid) const { return ::waitpid(pid, nullptr, WNOHANG) == pid; }

  // Living processes with this test's folder in command line or environment, by a word in either.
  std::vector<int> Living(const std::string& word = "") const {
    std::vector<int> pids;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const int pid = std::atoi(entry.path().filename().c_str());
      if (pid <= 0 || pid == ::getpid()) continue;
      const auto line = ReadFile(entry.path() / "cmdline");
      const auto environment = ReadFile(entry.path() / "environ");
      if (!line.ok() || line->empty() || line->front() == '\0') continue;  // the keeper, or dead
      const std::string text = *line + (environment.ok() ? *environment : "");
      if (text.find(At("").string()) != text.npos && text.find(word) != text.npos) {
        pids.push_back(pid);
      }
    }
    return pids;
  }
  int LeftRunning() const {
    const auto until = SteadyClock::now() + std::chrono::seconds(5);
    while (!Living().empty() && SteadyClock::now() < until) {
      std::this_thread::sleep_for(milliseconds(20));
    }
    const std::vector<int> left = Living();
    for (const int pid : left) ::kill(pid, SIGKILL);
    return static_cast<int>(left.size());
  }

  std::string Verdict() const {
    const auto json = ReadJsonFile(Out() / "report.json");
    if (!json.ok()) return "";
    return json->Find("runs")->AsArray().front().Find("verdict")->AsString();
  }
  bool IsCollectedTwice() const {
    const auto text = ReadFile(Out() / "journal.jsonl");
    int times = 0;
    std::istringstream lines(text.ok() ? *text : "");
    for (std::string line; std::getline(lines, line);) {
      times += line.find("\"collected\"") != line.npos ? 1 : 0;
    }
    return times > 1;
  }

  // Waits for the end; false: it is stuck, and killed.
  bool End(pid_t pid) const {
    const auto until = SteadyClock::now() + kStuck;
    while (SteadyClock::now() < until) {
      if (HasEnded(pid)) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return false;
  }

  struct Fault {
    std::string name;
    bool slurm = false;  // needs nodes that are processes
    std::vector<std::string> moments;
    // Gets the drill; returns what takes it back, if anything.
    std::function<std::function<void()>(pid_t)> strike;
    // What a drill without the fault says; of a rank that dies, the run failed.
    std::string verdict = "identical";
    bool takes_attempt = false;  // it ends in a second one
  };

  void Try(const Fault& fault, const std::string& sign, GangTally* tally) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(Out(), ignored)) {
      fs::remove_all(entry.path(), ignored);
    }
    ++tally->trials;
    pid_t pid = Start(fault.slurm, false);
    while (!IsAt(sign) && !HasEnded(pid)) {
      if (::kill(pid, 0) != 0) break;
    }
    if (::kill(pid, 0) != 0) {
      ++tally->missed;
      return;
    }
    if (const auto take_back = fault.strike(pid)) take_back();
    bool ended = End(pid);
    if (!fault.slurm) tally->running += LeftRunning();
    for (int i = 0; ended && i < kMostResumes && Verdict() != fault.verdict; ++i) {
      ++tally->resumed;
      ended = End(Start(fault.slurm, fs::exists(Out() / "journal.jsonl")));
    }
    tally->stuck += ended ? 0 : 1;
    tally->lost += Verdict().empty() ? 1 : 0;
    tally->wrong += !Verdict().empty() && Verdict() != fault.verdict ? 1 : 0;
    tally->doubled += IsCollectedTwice() ? 1 : 0;
    tally->running += LeftRunning();
    if (fault.takes_attempt) {
      const auto evidence = ReadJsonFile(Out() / "runs/a/1/evidence.json");
      EXPECT_TRUE(evidence.ok() && evidence->Find("attempt")->ToInt64().value_or(0) > 1)
          << fault.name << " at " << sign << " hit nothing";
    }
    if (Verdict() != fault.verdict) {
      const auto text = ReadFile(At("drill.txt"));
      ADD_FAILURE() << fault.name << " at " << sign << ": " << (text.ok() ? *text : "");
    }
    fs::remove(At("drill.txt"), ignored);
  }

  std::function<void()> TakePort() const;
  std::vector<Fault> Faults();
  bool all_ = false;
  std::string only_;
  bool mounted_ = false;
};

// Between its choice and its use, and until the attempt has ended.
std::function<void()> GangFaults::TakePort() const {
  const auto start = [this] {
    std::error_code error;
    for (fs::recursive_directory_iterator at(Out(), error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().filename() == "start.json") return at->path();
    }
    return fs::path();
  };
  Result<Json> json = NotFound("");
  for (int i = 0; i < 20'000 && !json.ok(); ++i) json = ReadJsonFile(start());
  if (!json.ok()) return {};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(json->Find("port")->ToInt64().value_or(0)));
  auto taker = std::make_shared<Descriptor>(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(taker->get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ::listen(taker->get(), 8);
  return [start, taker] {
    for (int i = 0; i < 2000 && !start().empty(); ++i) {
      std::this_thread::sleep_for(milliseconds(10));
    }
  };
}

std::vector<GangFaults::Fault> GangFaults::Faults() {
  using Undo = std::function<void()>;
  const std::vector<std::string> every = {"gathering", "running", "merging", "collecting"};
  std::vector<Fault> faults;
  faults.push_back({"the drill is killed", false, every, [](pid_t pid) {
                      ::kill(pid, SIGKILL);
                      return Undo();
                    }});
  const auto signal_to = [this](const std::string& word, int signal) {
    return [this, word, signal](pid_t) {
      const std::vector<int> pids = Living(word);
      EXPECT_FALSE(pids.empty()) << word;
      if (!pids.empty()) ::kill(pids.back(), signal);
      return Undo();
    };
  };
  faults.push_back(
      {"a rank is killed", false, {"running"}, signal_to("train.py", SIGKILL), "failed"});
  faults.push_back(
      {"the port is taken", false, {"gathering"}, [this](pid_t) { return TakePort(); }});
  const auto later = [](Undo undo) {
    return [undo] {
      std::this_thread::sleep_for(milliseconds(700));
      undo();
    };
  };
  if (mounted_) {
    const auto remount = [this](unsigned long flags) {
      (void)::mount("tmpfs", Out().c_str(), "tmpfs", MS_REMOUNT | flags, "mode=0700,size=32m");
    };
    faults.push_back({"the folder cannot be written", false, every, [=](pid_t) {
                        remount(MS_RDONLY);
                        return Undo(later([=] { remount(0); }));
                      }});
    faults.push_back({"the disk is full", false, every, [=, this](pid_t) {
                        const fs::path filler = Out() / "filler";
                        std::ofstream(filler) << std::string(std::size_t{40} << 20, 'x');
                        return Undo(later([=] { fs::remove(filler); }));
                      }});
  }
  const std::string agent("--node\0step", 11);
  faults.push_back({"a node's agent is killed",
                    true,
                    {"gathering", "running"},
                    signal_to(agent, SIGKILL),
                    "identical",
                    true});
  // While nodes gather, one that has said nothing yet has three minutes: longer than the table
  // waits.
  faults.push_back({"a node's agent is stopped",
                    true,
                    {"running"},
                    signal_to(agent, SIGSTOP),
                    "identical",
                    true});
  return faults;
}

TEST_F(GangFaults, EndInTheVerdictOfAnUndisturbedDrillAndLeaveNothingRunning) {
  if (kSanitized) GTEST_SKIP() << "it is a table of times, too";
  fs::create_directories(Out());
  mounted_ = ::unshare(CLONE_NEWNS) == 0 &&
             ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
             ::mount("tmpfs", Out().c_str(), "tmpfs", 0, "mode=0700,size=32m") == 0;
  if (!mounted_) fmt::print("no file system can be mounted here: {}\n", std::strerror(errno));
  fmt::print("{:<30} {:<10} {:>6} {:>6} {:>7} {:>4} {:>7} {:>5} {:>5} {:>7}\n", "fault", "moment",
             "trials", "missed", "resumed", "lost", "doubled", "wrong", "stuck", "running");
  for (const Fault& fault : Faults()) {
    // One that stops beating is lost after three quarters of a minute.
    if ((fault.slurm && !all_) || fault.name.find(only_) == fault.name.npos) continue;
    for (const std::string& moment : fault.moments) {
      if (!all_ && fault.moments.size() > 1 && moment != "running") continue;
      GangTally tally;
      for (int i = 0; i < (all_ ? 3 : 1); ++i) Try(fault, kMoments.at(moment), &tally);
      fmt::print("{:<30} {:<10} {:>6} {:>6} {:>7} {:>4} {:>7} {:>5} {:>5} {:>7}\n", fault.name,
                 moment, tally.trials, tally.missed, tally.resumed, tally.lost, tally.doubled,
                 tally.wrong, tally.stuck, tally.running);
      EXPECT_EQ(tally.lost + tally.doubled + tally.wrong + tally.stuck + tally.running, 0)
          << fault.name << " while " << moment;
      std::fflush(stdout);
    }
  }
}

TEST_F(GangFaults, ANodeThatCannotComeUpIsToldSoonInTheWordsOfSrun) {
  ASSERT_TRUE(
      WriteFileAtomic(At("slurm/srun"),
                      "#!/bin/sh\necho 'ticket.json: cannot open' >&2\n"
                      "echo 'srun: error: n1: task 0: Exited with exit code 2' >&2\nexit 2\n")
          .ok());
  fs::permissions(At("slurm/srun"), fs::perms::owner_all);
  const auto begin = SteadyClock::now();
  ASSERT_TRUE(End(Start(true, false, "1")));
  EXPECT_LT(SteadyClock::now() - begin, std::chrono::seconds(60));
  EXPECT_EQ(Verdict(), "infra");
  const auto report = ReadFile(Out() / "report.json");
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(*report, HasSubstr("node 1 did not come up: srun: error: n1: task 0: Exited with "
                                 "exit code 2 (ticket.json: cannot open)"));
}

// A drill of three runs over two nodes under the scheduler, which shares out its nodes itself.
TEST_F(GangFaults, ADrillOfThreeGangsIsOneArrayAndCallsSlurmRarely) {
  for (const char* name : {"b", "c"}) {
    auto text = ReadFile(At("project/runs/a.json"));
    ASSERT_TRUE(text.ok());
    text->replace(text->find("\"run_id\": \"a\""), 13, fmt::format("\"run_id\": \"{}\"", name));
    Write(fmt::format("runs/{}.json", name), *text);
  }
  const auto begin = SteadyClock::now();
  ASSERT_TRUE(End(Start(true, false, "8", "64")));
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  EXPECT_EQ(Verdict(), "identical") << ReadFile(At("drill.txt")).value();
  std::map<std::string, int> calls;
  const auto text = ReadFile(At("slurm/calls"));
  std::istringstream lines(text.ok() ? *text : "");
  for (std::string line; std::getline(lines, line);) ++calls[line];
  for (const auto& [program, count] : calls) fmt::print("{:<9} {:>3}\n", program, count);
  fmt::print("in {:.1f} s\n", seconds);
  EXPECT_EQ(calls["sbatch"], 1) << "equal gangs are one array";
  EXPECT_EQ(calls["srun"], 3) << "a step each";
  EXPECT_EQ(calls["scancel"], 0);
  EXPECT_EQ(calls["sacct"], 0) << "the queue knows them";
  EXPECT_LE(calls["scontrol"], 1);
  // The first second, and then at growing distances, again from a second on when something ends.
  EXPECT_LE(calls["squeue"], 2 + static_cast<int>(seconds));
}

}  // namespace
}  // namespace rharness
