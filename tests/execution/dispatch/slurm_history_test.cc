// The drill of the shipped history over a real Slurm of two nodes, of which one dies half-way.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <map>
#include <sstream>
#include <thread>

#include "harness/base/json.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/environment.h"
#include "tests/execution/dispatch/slurm_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::Pair;
using testing::SizeIs;

constexpr char kProgram[] = RHARNESS_BIN_DIR "/rharness";
constexpr std::size_t kRuns = 3;

class SlurmHistory : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = new SlurmWorld; }
  static void TearDownTestSuite() { delete world_; }
  void SetUp() override {
    if (!world_->problem().empty()) GTEST_SKIP() << "no Slurm here: " << world_->problem();
    auto made = ScopedTempDir::Make("rharness-slurm-history-");
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*made));
    // The recorded program, but it says that it has begun, and goes on when it is told to.
    fs::create_directories(At("bin"));
    fs::create_directories(At("begun"));
    const std::string held = fmt::format(
        "#!/bin/sh\n: > {}/$$\nwhile [ -d {} ] && [ ! -e {} ]; do sleep 0.1; done\n"
        "exec " RHARNESS_BIN_DIR "/digits_portable \"$@\"\n",
        At("begun").string(), At("begun").string(), At("go-on").string());
    ASSERT_TRUE(WriteFileAtomic(At("bin/digits_portable"), held).ok());
    fs::permissions(At("bin/digits_portable"), fs::perms{0755});
    const ProcessResult added =
        Run({kProgram, "--quiet", "history", "add", "--history", At("runs.db"),
             RHARNESS_SOURCE_DIR "/scenarios/digits_portable/history"});
    ASSERT_TRUE(added.outcome.Succeeded()) << added.stderr_text;
  }

  fs::path At(const std::string& name) const { return folder_->path() / name; }
  ProcessResult Run(std::vector<std::string> argv,
                    const std::function<void(int)>& on_start = {}) const {
    auto environment = ProcessEnvironment();
    environment["PATH"] = At("bin").string() + ":" + RHARNESS_BIN_DIR + ":" + environment["PATH"];
    return RunProcess({.argv = std::move(argv), .environment = std::move(environment)},
                      {.timeout = std::chrono::minutes(4)}, on_start);
  }
  std::ptrdiff_t Begun() const {
    return std::distance(fs::directory_iterator(At("begun")), fs::directory_iterator());
  }
  // The processes of tasks on a node.
  static std::vector<int> ProcessesOf(const std::string& node) {
    std::vector<int> pids;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const int pid = std::atoi(entry.path().filename().c_str());
      const auto environment =
          pid > 0 ? ReadFile(entry.path() / "environ") : Result<std::string>("");
      const std::string name = "SLURMD_NODENAME=" + node;
      if (environment.ok() && environment->find(name + '\0') != environment->npos) {
        pids.push_back(pid);
      }
    }
    return pids;
  }
  // The slurmstepd that watches over a task's first process; 0 for another process.
  static int StepOf(int pid) {
    const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name = stat.ok() ? stat->rfind(')') : std::string::npos;
    const int parent = name == std::string::npos ? 0 : std::atoi(stat->c_str() + name + 4);
    const auto comm = ReadFile("/proc/" + std::to_string(parent) + "/comm");
    return comm.ok() && *comm == "slurmstepd\n" ? parent : 0;
  }
  // As if its plug were pulled: what would report the end of a task goes before the task. A process
  // that is just being started does not show its environment, so that one look is not enough.
  static void KillNode(const std::string& node) {
    world_->Kill(node);
    for (int looks_without = 0; looks_without < 5;) {
      const std::vector<int> pids = ProcessesOf(node);
      for (const int pid : pids) {
        if (const int step = StepOf(pid); step > 0) ::kill(step, SIGKILL);
      }
      for (const int pid : pids) ::kill(pid, SIGKILL);
      looks_without = pids.empty() ? looks_without + 1 : 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
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
  // The attempt of each rerun whose evidence was taken; none is taken twice.
  std::map<std::string, int> Attempts() const {
    std::map<std::string, int> attempts;
    const auto text = ReadFile(At("out/journal.jsonl"));
    std::istringstream journal(text.ok() ? *text : "");
    for (std::string line; std::getline(journal, line);) {
      const auto json = ParseJson(line.substr(std::min(line.find('{'), line.size())), "journal");
      const Json* state = json.ok() ? json->Find("state") : nullptr;
      if (state == nullptr || state->AsString() != "collected") continue;
      const std::string job = json->Find("job")->AsString();
      EXPECT_FALSE(attempts.contains(job)) << job << " was taken twice";
      attempts[job] = static_cast<int>(json->Find("attempt")->ToInt64().value_or(0));
    }
    return attempts;
  }

  static SlurmWorld* world_;
  std::unique_ptr<ScopedTempDir> folder_;
};
SlurmWorld* SlurmHistory::world_ = nullptr;

TEST_F(SlurmHistory, OutlivesANode) {
  std::thread trouble;
  bool lost = false;
  const ProcessResult drilled =
      // Three of a node's four processors for each rerun: one a node at a time.
      Run({kProgram, "drill", "--history", At("runs.db"), "--out", At("out"), "--root",
           RHARNESS_SOURCE_DIR, "--dispatch", "slurm", "--sbatch=--cpus-per-task=3"},
          [&](int) {
            trouble = std::thread([this, &lost] {
              // Each node has room for one, and none ends before it is told to go on.
              const auto both = [this] { return Begun() == 2 && !ProcessesOf("n1").empty(); };
              for (int i = 0; i < 600 && !both(); ++i) {
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
              }
              lost = both();
              KillNode("n1");
              EXPECT_TRUE(WriteFileAtomic(At("go-on"), "").ok());
            });
          });
  trouble.join();
  ASSERT_TRUE(lost) << "no rerun was on each node: " << drilled.stderr_text;
  EXPECT_EQ(drilled.outcome.exit_code, 0) << drilled.stderr_text;
  EXPECT_THAT(Verdicts(), SizeIs(kRuns)) << drilled.stderr_text;
  EXPECT_THAT(Verdicts(), Each(Pair(testing::_, "identical"))) << drilled.stderr_text;
  const auto attempts = Attempts();
  EXPECT_THAT(attempts, SizeIs(kRuns));
  const auto again = [](const auto& one) { return one.second == 2; };
  EXPECT_EQ(std::ranges::count_if(attempts, again), 1) << "one was on the node";
  EXPECT_THAT(drilled.stderr_text, testing::HasSubstr("its node failed (NODE_FAIL on n1)"));
}

}  // namespace
}  // namespace rharness
