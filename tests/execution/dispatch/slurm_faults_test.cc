// A drill over two nodes of a real Slurm, killed and cut off at every stage: whatever befalls it,
// it ends, resumed where it has to be, in the report of a drill that nothing befell.
//
// Prints a table. RHARNESS_FAULTS=all tries every moment, else one moment a fault is tried.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/json.h"
#include "tests/cli/drill_program.h"
#include "tests/execution/dispatch/slurm_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int kRuns = 4;
constexpr int kMostResumes = 4;
constexpr milliseconds kDown{1500};

struct Tally {
  int trials = 0;
  int resumed = 0;
  int lost = 0;     // runs without a verdict
  int doubled = 0;  // reruns whose end was collected twice
  int wrong = 0;    // verdicts other than those of the undisturbed drill
};

class SlurmFaults : public DrillProgram {
 protected:
  static void SetUpTestSuite() { world_ = new SlurmWorld; }
  static void TearDownTestSuite() { delete world_; }
  void SetUp() override {
    if (!world_->problem().empty()) GTEST_SKIP() << "no Slurm here: " << world_->problem();
    environment_["SLURM_CONF"] = std::getenv("SLURM_CONF");
    Write(
        "train.sh",
        "sleep 0.7\nprintf '{\"metrics\": {\"accuracy\": %s}}' \"$(cat value)\" > metrics.json\n");
    RecordRuns(kRuns);
    ASSERT_EQ(Attempt({}, {}).outcome.exit_code, 0);
    undisturbed_ = Verdicts();
    ASSERT_EQ(undisturbed_.size(), static_cast<std::size_t>(kRuns));
  }

  // A drill, or its resumption, with something that is done to it after a while.
  ProcessResult Attempt(const std::vector<std::string>& options,
                        const std::function<void(int pid)>& fault, milliseconds after = {}) {
    std::vector<std::string> argv = {kRharness, "--quiet", "drill", "--out", "out"};
    argv.insert(argv.end(), options.begin(), options.end());
    if (options.empty()) {
      argv.insert(argv.end(), {"--history", "runs.db", "--dispatch", "slurm", "--attempts", "8"});
    }
    std::thread trouble;
    const auto on_start = [&](int pid) {
      if (fault) {
        trouble = std::thread([=] {
          std::this_thread::sleep_for(after);
          fault(pid);
        });
      }
    };
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(3);
    ProcessResult result =
        RunProcess(ProcessSpec{std::move(argv), environment_, folder_.path()}, limits, on_start);
    if (trouble.joinable()) trouble.join();
    return result;
  }

  std::map<std::string, std::string> Verdicts() const {
    std::map<std::string, std::string> verdicts;
    const auto json = ReadJsonFile(At("out/report.json"));
    if (!json.ok()) return verdicts;
    for (const Json& run : json->Find("runs")->AsArray()) {
      verdicts[run.Find("run_id")->AsString()] = run.Find("verdict")->AsString();
    }
    return verdicts;
  }

  int CollectedTwice() const {
    std::map<std::string, int> collected;
    std::istringstream journal(Read(At("out/journal.jsonl")));
    for (std::string line; std::getline(journal, line);) {
      const auto json = ParseJson(line.substr(std::min(line.find('{'), line.size())), "journal");
      const Json* state = json.ok() ? json->Find("state") : nullptr;
      if (state != nullptr && state->AsString() == "collected") {
        ++collected[json->Find("job")->AsString()];
      }
    }
    int twice = 0;
    for (const auto& [job, times] : collected) twice += times > 1 ? 1 : 0;
    return twice;
  }

  void Try(const std::function<void(int pid)>& fault, milliseconds after, Tally* tally) {
    fs::remove_all(At("out"));
    ++tally->trials;
    ProcessResult result = Attempt({}, fault, after);
    for (int i = 0; i < kMostResumes && Verdicts() != undisturbed_; ++i) {
      ++tally->resumed;
      const bool begun = fs::exists(At("out/journal.jsonl"));
      result = begun ? Attempt({"--resume"}, {}) : Attempt({}, {});
    }
    const auto verdicts = Verdicts();
    for (const auto& [run_id, verdict] : undisturbed_) {
      const auto found = verdicts.find(run_id);
      tally->lost += found == verdicts.end() ? 1 : 0;
      tally->wrong += found != verdicts.end() && found->second != verdict ? 1 : 0;
    }
    tally->doubled += CollectedTwice();
    EXPECT_EQ(verdicts, undisturbed_) << result.stderr_text;
    SlurmWorld::Run({"scancel", "--user=root"});
    SlurmWorld::Run({"scontrol", "update", "nodename=n1,n2", "state=resume"});
  }

  // The processes `rharness rerun` of this test's drill.
  std::vector<int> Reruns() const {
    std::vector<int> pids;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const int pid = std::atoi(entry.path().filename().c_str());
      const auto line = pid > 0 ? ReadFile(entry.path() / "cmdline") : Result<std::string>("");
      if (line.ok() && line->find(std::string("rerun") + '\0') != line->npos &&
          line->find(At("out").string()) != line->npos && line->find("rharness") != line->npos) {
        pids.push_back(pid);
      }
    }
    return pids;
  }

  // Waits for the first of them while the drill, process `pid`, runs.
  std::vector<int> FirstReruns(int pid) const {
    std::vector<int> reruns = Reruns();
    while (reruns.empty() && ::kill(pid, 0) == 0) {
      std::this_thread::sleep_for(milliseconds(5));
      reruns = Reruns();
    }
    return reruns;
  }

  static SlurmWorld* world_;
  std::map<std::string, std::string> undisturbed_;
  int killed_ = 0;  // processes of reruns
};
SlurmWorld* SlurmFaults::world_ = nullptr;

TEST_F(SlurmFaults, EndInTheReportOfAnUndisturbedDrill) {
  const char* asked = std::getenv("RHARNESS_FAULTS");
  const bool all = asked != nullptr && std::string(asked) == "all";
  const std::vector<milliseconds> moments =
      all ? std::vector<milliseconds>{milliseconds(20),   milliseconds(80),   milliseconds(200),
                                      milliseconds(400),  milliseconds(800),  milliseconds(1200),
                                      milliseconds(1700), milliseconds(2500), milliseconds(3500)}
          : std::vector<milliseconds>{milliseconds(900)};
  const std::vector<std::pair<std::string, std::function<void(int)>>> faults = {
      {"the drill is killed", [](int pid) { ::kill(pid, SIGKILL); }},
      {"a rerun's process is killed",
       [this](int pid) {
         for (const int rerun : FirstReruns(pid)) killed_ += ::kill(rerun, SIGKILL) == 0 ? 1 : 0;
       }},
      {"the controller is killed, and comes back",
       [](int) { world_->KillAndRestart("slurmctld", kDown); }},
      {"a node's daemon is killed, and comes back",
       [](int) { world_->KillAndRestart("n1", kDown); }},
      {"somebody cancels the tasks", [](int) {
         SlurmWorld::Run({"scancel", "--user=root"});
       }}};
  std::string table = fmt::format("{:<44} {:>6} {:>7} {:>4} {:>7} {:>5}\n", "fault", "trials",
                                  "resumed", "lost", "doubled", "wrong");
  for (const auto& [name, fault] : faults) {
    Tally tally;
    for (const milliseconds after : moments) Try(fault, after, &tally);
    table += fmt::format("{:<44} {:>6} {:>7} {:>4} {:>7} {:>5}\n", name, tally.trials,
                         tally.resumed, tally.lost, tally.doubled, tally.wrong);
    EXPECT_EQ(tally.lost, 0) << name;
    EXPECT_EQ(tally.doubled, 0) << name;
    EXPECT_EQ(tally.wrong, 0) << name;
  }
  fmt::print("{}", table);
  EXPECT_GT(killed_, 0) << "no rerun was there to be killed";
}

}  // namespace
}  // namespace rharness
