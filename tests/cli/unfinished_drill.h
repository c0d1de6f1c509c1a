// A drill that runs beside the test, in which one of the reruns hangs.
#ifndef RHARNESS_TESTS_CLI_UNFINISHED_DRILL_H_
#define RHARNESS_TESTS_CLI_UNFINISHED_DRILL_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/process_tree.h"
#include "harness/drill/journal.h"
#include "tests/cli/drill_program.h"

namespace rharness {

// Polls until `holds`, for a minute at most.
inline bool Eventually(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < until) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return holds();
}

// A program that runs beside the test, in a process group of its own, with its output in a file.
class Background {
 public:
  Background(std::vector<std::string> argv, const std::filesystem::path& folder,
             std::map<std::string, std::string> environment) {
    std::vector<char*> arguments;
    for (std::string& argument : argv) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    std::vector<std::string> lines;
    for (const auto& [name, value] : environment) lines.push_back(name + "=" + value);
    std::vector<char*> variables;
    for (std::string& line : lines) variables.push_back(line.data());
    variables.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::setpgid(0, 0);
    const int log = ::open((folder / "background.log").c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    if (::chdir(folder.c_str()) == 0) ::execve(arguments[0], arguments.data(), variables.data());
    ::_exit(127);
  }
  ~Background() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    Wait();
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void Signal(int signal) const { ::kill(pid_, signal); }
  // As a machine's trouble does it that ends all of rharness and not what it started.
  void KillWithKeeper() const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const int pid = std::atoi(entry.path().filename().c_str());
      const auto stat = pid > 0 ? ReadProcessStat(pid) : std::nullopt;
      const auto name = ReadFile(entry.path() / "comm");
      if (!stat || stat->parent != pid_ || !name.ok() || *name != "job-keeper\n") continue;
      ::kill(pid, SIGKILL);
    }
    Signal(SIGKILL);
  }
  // waitpid's status.
  int Wait() {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
};

class UnfinishedDrill : public DrillProgram {
 protected:
  // The one finished and the one hanging rerun of a drill whose second rerun hangs.
  struct Halfway {
    std::string finished;
    std::string hanging;
    int pid = 0;
  };
  Halfway AwaitHalfway() const {
    Halfway halfway;
    EXPECT_TRUE(Eventually([&] {
      if (!std::filesystem::exists(At("out/journal.jsonl"))) return false;
      const auto past = ReadJournal(At("out/journal.jsonl"));
      if (!past.ok()) return false;
      halfway = Halfway();  // what an earlier look saw is over
      for (const auto& [job, entry] : past->last) {
        if (entry.state == AttemptState::kCollected) halfway.finished = job.substr(0, 1);
        if (entry.state == AttemptState::kStarted) {
          halfway.hanging = job.substr(0, 1);
          halfway.pid = entry.pid;
        }
      }
      return !halfway.finished.empty() && !halfway.hanging.empty() && Calls() == 2;
    }));
    return halfway;
  }
  // Opens the gate, resumes, and expects that only the unfinished reruns are done.
  void ExpectResumeFinishes(const std::string& finished, int runs) {
    const std::filesystem::path evidence = At("out/runs/" + finished + "/1/evidence.json");
    const std::string bytes = Read(evidence);
    const auto written = std::filesystem::last_write_time(evidence);
    std::filesystem::remove(At("gate"));
    std::filesystem::remove(At("calls"));
    const ProcessResult result = Run({kRharness, "drill", "--resume", "--out", "out"});
    EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
    EXPECT_EQ(Calls(), runs - 1);
    EXPECT_EQ(Read(evidence), bytes);
    EXPECT_EQ(std::filesystem::last_write_time(evidence), written);
    const Report report = StoredReport();
    EXPECT_FALSE(report.interrupted);
    EXPECT_EQ(report.counts.at("identical"), runs);
  }
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_UNFINISHED_DRILL_H_
