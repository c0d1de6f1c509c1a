// A drill that was killed or interrupted goes on where it stood; what failed for reasons of
// infrastructure is tried again, a mismatch never.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "harness/drill/journal.h"
#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Polls until `holds`, for a minute at most.
bool Eventually(const std::function<bool()>& holds) {
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
  Background(std::vector<std::string> argv, const fs::path& folder,
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
      if (!fs::exists(At("out/journal.jsonl"))) return false;
      const auto past = ReadJournal(At("out/journal.jsonl"));
      if (!past.ok()) return false;
      halfway = Halfway();  // what an earlier look saw is over
      for (const auto& [job, entry] : past->last) {
        if (entry.state == JobState::kCollected) halfway.finished = job.substr(0, 1);
        if (entry.state == JobState::kStarted) {
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
    const fs::path evidence = At("out/runs/" + finished + "/1/evidence.json");
    const std::string bytes = Read(evidence);
    const auto written = fs::last_write_time(evidence);
    fs::remove(At("gate"));
    fs::remove(At("calls"));
    const ProcessResult result = Run({kRharness, "drill", "--resume", "--out", "out"});
    EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
    EXPECT_EQ(Calls(), runs - 1);
    EXPECT_EQ(Read(evidence), bytes);
    EXPECT_EQ(fs::last_write_time(evidence), written);
    const Report report = StoredReport();
    EXPECT_FALSE(report.interrupted);
    EXPECT_EQ(report.counts.at("identical"), runs);
  }
};

TEST_F(UnfinishedDrill, GoesOnAfterItWasKilled) {
  RecordRuns(3);
  Write("gate", "");
  Background drill(DrillArguments({"--jobs", "1"}), At(""), environment_);
  const Halfway halfway = AwaitHalfway();
  ASSERT_GT(halfway.pid, 1);
  drill.Signal(SIGKILL);
  drill.Wait();
  EXPECT_EQ(::kill(halfway.pid, 0), 0) << "the hanging rerun should have been left behind";
  ExpectResumeFinishes(halfway.finished, 3);
  EXPECT_TRUE(Eventually([&] { return !ProcessStartTicks(halfway.pid); })) << "left behind";
}

TEST_F(UnfinishedDrill, EndsInOrderWhenInterruptedAndGoesOnLater) {
  RecordRuns(3);
  Write("gate", "");
  Background drill(DrillArguments({"--jobs", "1"}), At(""), environment_);
  const Halfway halfway = AwaitHalfway();
  ASSERT_GT(halfway.pid, 1);
  drill.Signal(SIGINT);
  const int status = drill.Wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4);
  EXPECT_FALSE(ProcessStartTicks(halfway.pid)) << "left behind";
  const Report report = StoredReport();
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(report.exit_code, 4);
  EXPECT_EQ(report.counts.at("identical"), 1);
  ExpectResumeFinishes(halfway.finished, 3);
}

TEST_F(UnfinishedDrill, GoesOnFromAnotherFolder) {
  RecordRuns(1);
  ASSERT_EQ(Drill().outcome.exit_code, 0);
  const ProcessResult result = Run({"sh", "-c", R"(cd / && exec "$0" drill --resume --out "$1")",
                                    kRharness, At("out").string()});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(Calls(), 1);
}

TEST_F(UnfinishedDrill, IsNotMadeWhereNoneWas) {
  const ProcessResult result = Run({kRharness, "drill", "--resume", "--out", "nowhere"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_NE(result.stderr_text.find("no drill to resume"), std::string::npos);
  EXPECT_FALSE(fs::exists(At("nowhere")));
}

TEST_F(UnfinishedDrill, NeverTriesAMismatchAgain) {
  Record("a", {});
  Add();
  const ProcessResult result = Drill({"--env", "PATH=" + At("bin").string() + ":/usr/bin:/bin"});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stdout_text;
  fs::remove(At("calls"));
  Write("bin/cat", "#!/bin/sh\necho 0.25\n");
  fs::permissions(At("bin/cat"), fs::perms::owner_all);
  const ProcessResult moved =
      Run({kRharness, "drill", "--history", "runs.db", "--out", "out2", "--no-confirm", "--env",
           "PATH=" + At("bin").string() + ":/usr/bin:/bin"});
  EXPECT_NE(moved.outcome.exit_code, 0) << moved.stdout_text;
  EXPECT_EQ(Calls(), 1);
  const auto evidence = LoadEvidence(At("out2/runs/a/1/evidence.json"));
  ASSERT_TRUE(evidence.ok());
  EXPECT_EQ(evidence->attempt, 1);
  EXPECT_EQ(evidence->metrics.metrics.at("accuracy"), 0.25);
}

TEST_F(UnfinishedDrill, TriesAnEngineInTroubleThreeTimes) {
  Record("a", {"--image", "127.0.0.1:1/ml/tiny:1@sha256:" + std::string(64, '1')});
  Add();
  Write("bin/podman", "#!/bin/sh\n[ \"$1\" != --version ] || exit 0\necho \"$1\" >> " +
                          At("asked").string() + "\necho 'no space' >&2\nexit 125\n");
  fs::permissions(At("bin/podman"), fs::perms::owner_all);
  environment_["PATH"] = At("bin").string() + ":/usr/bin:/bin";
  const ProcessResult result = Drill();
  EXPECT_EQ(result.outcome.exit_code, 4) << result.stdout_text;
  EXPECT_EQ(EvidenceOf("a").attempt, 3);
  const std::string asked = Read(At("asked"));
  EXPECT_EQ(std::count(asked.begin(), asked.end(), '\n'), 3) << asked;
  EXPECT_EQ(StoredReport().runs.at(0).verdict, Verdict::kInfra);
}

}  // namespace
}  // namespace rharness
