// What a sweep makes of a Slurm whose nodes are free, busy, broken or refused.
#include "harness/execution/dispatch/node_sweep.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// A queue that does what it is told: a job is pending until a test says otherwise.
class FakeSlurm {
 public:
  struct Job {
    std::vector<std::string> nodes;
    std::string name;
    std::string folder;  // of the job
    std::string state = "PENDING";
    std::string reason = "Resources";
  };
  ProcessResult operator()(const ProcessSpec& spec) {
    ProcessResult result;
    result.outcome.kind = OutcomeKind::kExited;
    const std::vector<std::string>& argv = spec.argv;
    ++calls[argv[0]];
    if (down) return Fail("error: Unable to contact slurm controller (connect failure)");
    if (argv[0] == "sinfo" && !sinfo_refuses.empty()) return Fail("sinfo: error: " + sinfo_refuses);
    if (argv[0] == "squeue" && !squeue_refuses.empty()) return Fail(squeue_refuses);
    if (argv[0] == "sinfo") {
      for (const auto& [name, state] : nodes) {
        result.stdout_text += fmt::format("{}|p*|{}|(null)|{}\n", name, state, reason);
      }
    } else if (argv[0] == "squeue") {
      for (const auto& [number, job] : jobs) {
        if (job.state.empty()) continue;
        const std::string by_name = Value(argv, "--name=");
        if (by_name.empty()) {
          result.stdout_text += fmt::format("{}_N/A|{}||{}\n", number, job.state, job.reason);
        } else if (by_name == job.name) {
          result.stdout_text += fmt::format("{}\n", number);
        }
      }
    } else if (argv[0] == "scancel") {
      cancelled.insert(argv.back());
      for (auto& [number, job] : jobs) {
        if (argv.back() == std::to_string(number)) job.state = "CANCELLED";
      }
    } else if (argv[0] == "sbatch") {
      return Take(argv);
    }
    return result;
  }
  // The task of a node ends.
  static void Answer(const Job& job, const std::string& node, int code) {
    std::ofstream(fs::path(job.folder) / node / "log.txt") << "first\nlast\n";
    std::ofstream(fs::path(job.folder) / node / "exit") << code << "\n";
  }

  std::map<std::string, std::string> nodes;  // to state
  std::string reason = "none";
  std::map<int, Job> jobs;
  std::map<std::string, int> calls;
  std::set<std::string> cancelled;
  std::string refuses;         // what sbatch says
  std::string sinfo_refuses;   // likewise
  std::string squeue_refuses;  // likewise
  bool forgets = false;        // sbatch takes a job and does not say so
  bool down = false;

 private:
  static ProcessResult Fail(const std::string& said) {
    ProcessResult result;
    result.outcome.kind = OutcomeKind::kExited;
    result.outcome.exit_code = 1;
    result.stderr_text = said + "\n";
    return result;
  }
  static std::string Value(const std::vector<std::string>& argv, const std::string& option) {
    for (const std::string& one : argv) {
      if (one.starts_with(option)) return one.substr(option.size());
    }
    return "";
  }
  ProcessResult Take(const std::vector<std::string>& argv) {
    if (!refuses.empty()) return Fail("sbatch: error: " + refuses);
    Job job{.nodes = {}, .name = Value(argv, "--job-name="), .folder = Value(argv, "--chdir=")};
    std::istringstream list(Value(argv, "--nodelist="));
    for (std::string node; std::getline(list, node, ',');) job.nodes.push_back(node);
    EXPECT_EQ(Value(argv, "--nodes="), std::to_string(job.nodes.size()));
    const int number = static_cast<int>(jobs.size()) + 1;
    jobs[number] = job;
    if (forgets) return Fail("sbatch: error: Socket timed out on send/recv operation");
    ProcessResult result;
    result.outcome.kind = OutcomeKind::kExited;
    result.stdout_text = std::to_string(number) + "\n";
    return result;
  }
};

class Sweep : public testing::Test {
 protected:
  void Begin(NodeChoice choice = {}) {
    auto made = ScopedTempDir::Make();
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*made));
    sweep_ = std::make_unique<NodeSweep>(
        SweepOptions{.folder = folder_->path() / "sweep", .id = "x", .command = {"/bin/true"}},
        std::move(choice), &client_, &clock_);
    const Status begun = sweep_->Begin();
    ASSERT_TRUE(begun.ok()) << begun.error().ToString();
  }
  // Those that end in this time.
  std::map<std::string, NodeEnd> After(seconds time) {
    std::map<std::string, NodeEnd> ends;
    const auto until = clock_.Monotonic() + time;
    while (clock_.Monotonic() < until && !sweep_->Done()) {
      const auto some = sweep_->Wait(seconds(1));
      EXPECT_TRUE(some.ok());
      if (!some.ok()) break;
      for (const NodeEnd& end : *some) {
        EXPECT_TRUE(ends.emplace(end.node, end).second) << "twice: " << end.node;
      }
    }
    return ends;
  }

  FakeSlurm slurm_;
  FakeClock clock_;
  SlurmClient client_{[this](const ProcessSpec& spec) { return slurm_(spec); }};
  std::unique_ptr<ScopedTempDir> folder_;
  std::unique_ptr<NodeSweep> sweep_;
};

TEST(SweepGroups, TakeFreeNodesTogetherAndFewOfTheOthersSingly) {
  std::vector<WaitingNode> waiting = {{"a", NodeRoom::kFree},
                                      {"b", NodeRoom::kBusy},
                                      {"c", NodeRoom::kFree},
                                      {"d", NodeRoom::kFree, true},
                                      {"e", NodeRoom::kUnusable}};
  EXPECT_THAT(NextGroups(waiting, 0),
              ElementsAre(ElementsAre("a", "c"), ElementsAre("b"), ElementsAre("d")));
  EXPECT_THAT(NextGroups(waiting, kMostQueued - 1),
              ElementsAre(ElementsAre("a", "c"), ElementsAre("b")));
  EXPECT_THAT(NextGroups(waiting, kMostQueued), ElementsAre(ElementsAre("a", "c")));
  EXPECT_TRUE(NextGroups({}, 0).empty());
  waiting.assign(2500, {"n", NodeRoom::kFree});
  EXPECT_EQ(NextGroups(waiting, 0).size(), 3U);
  waiting.assign(2500, {"n", NodeRoom::kBusy});
  EXPECT_EQ(NextGroups(waiting, 0).size(), kMostQueued);
}

TEST(SweepLog, SpeaksOfANodeByItsWholeName) {
  const std::string log =
      "srun: error: n1: task 0: Killed\nsrun: error: Node failure on n11\nsrun: First task exited "
      "5s ago\n";
  EXPECT_EQ(LineAbout(log, "n1"), "srun: error: n1: task 0: Killed");
  EXPECT_EQ(LineAbout(log, "n11"), "srun: error: Node failure on n11");
  EXPECT_EQ(LineAbout(log, "n111"), "");
  EXPECT_EQ(LineAbout(log, "n"), "");
  EXPECT_EQ(LineAbout("", "n1"), "");
  EXPECT_EQ(LineAbout("n1", "n1"), "n1");
  EXPECT_EQ(LineAbout("an1\nn1b", "n1"), "");
}

TEST_F(Sweep, HandsFreeNodesOverInOneJob) {
  for (int i = 0; i < 800; ++i) slurm_.nodes[fmt::format("n{:03}", i)] = "idle";
  Begin();
  EXPECT_EQ(sweep_->nodes().size(), 800U);
  EXPECT_TRUE(After(seconds(1)).empty());
  ASSERT_EQ(slurm_.calls["sbatch"], 1);
  FakeSlurm::Job& job = slurm_.jobs.at(1);
  ASSERT_EQ(job.nodes.size(), 800U);
  job.state = "RUNNING";
  for (const std::string& node : job.nodes) FakeSlurm::Answer(job, node, node == "n007" ? 4 : 0);
  const auto ends = After(seconds(60));
  ASSERT_EQ(ends.size(), 800U);
  EXPECT_EQ(ends.at("n007").exit_code, 4);
  EXPECT_EQ(ends.at("n007").why, "last");
  EXPECT_EQ(ends.at("n008").exit_code, 0);
  EXPECT_EQ(ends.at("n008").folder, fs::path(job.folder) / "n008");
  EXPECT_TRUE(sweep_->Done());
  EXPECT_EQ(slurm_.calls["sbatch"], 1);
}

TEST_F(Sweep, TellsAtOnceOfNodesThatCannotAnswer) {
  slurm_.nodes = {{"n1", "drained"}, {"n2", "down*"}};
  slurm_.reason = "bad DIMM";
  Begin();
  const auto ends = After(seconds(2));
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends.at("n1").why, "drained: bad DIMM");
  EXPECT_EQ(ends.at("n2").why, "down, does not respond: bad DIMM");
  EXPECT_FALSE(ends.at("n1").exit_code);
  EXPECT_EQ(slurm_.calls["sbatch"], 0);
}

TEST_F(Sweep, NeedsANode) {
  NodeSweep sweep({.folder = "/nowhere", .id = "x", .command = {}}, {.partition = "q"}, &client_,
                  &clock_);
  const Status begun = sweep.Begin();
  ASSERT_FALSE(begun.ok());
  EXPECT_EQ(begun.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(begun.error().ToString(), HasSubstr("no node of partition q"));
}

TEST_F(Sweep, LetsABusyNodeWaitByItselfAndGivesItUpInTime) {
  slurm_.nodes = {{"n1", "idle"}, {"n2", "allocated"}};
  Begin();
  EXPECT_TRUE(After(seconds(1)).empty());
  ASSERT_EQ(slurm_.jobs.size(), 2U);
  EXPECT_THAT(slurm_.jobs.at(2).nodes, ElementsAre("n2"));
  slurm_.jobs.at(1).state = "COMPLETED";
  FakeSlurm::Answer(slurm_.jobs.at(1), "n1", 0);
  EXPECT_EQ(After(minutes(50)).size(), 1U);
  const auto ends = After(minutes(15));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_THAT(ends.at("n2").why, HasSubstr("did not come free within 1 h"));
  EXPECT_THAT(ends.at("n2").why, HasSubstr("allocated; Slurm's reason: Resources"));
  EXPECT_THAT(slurm_.cancelled, ElementsAre("2"));
  EXPECT_EQ(slurm_.calls["sbatch"], 2);
}

// The others of its job do not wait for it.
TEST_F(Sweep, TakesAJobBackOfWhichANodeIsGone) {
  slurm_.nodes = {{"n1", "idle"}, {"n2", "idle"}};
  Begin();
  EXPECT_TRUE(After(seconds(1)).empty());
  slurm_.nodes["n2"] = "down*";
  const auto ends = After(seconds(20));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_THAT(ends.at("n2").why, HasSubstr("down, does not respond"));
  EXPECT_THAT(slurm_.cancelled, ElementsAre("1"));
  ASSERT_EQ(slurm_.jobs.size(), 2U);
  EXPECT_THAT(slurm_.jobs.at(2).nodes, ElementsAre("n1"));
}

TEST_F(Sweep, TakesAJobBackThatDoesNotStart) {
  slurm_.nodes = {{"n1", "idle"}, {"n2", "idle"}};
  Begin();
  EXPECT_TRUE(After(minutes(5)).empty());
  EXPECT_THAT(slurm_.cancelled, ElementsAre("1"));
  ASSERT_EQ(slurm_.jobs.size(), 3U);
  EXPECT_THAT(slurm_.jobs.at(2).nodes, ElementsAre("n1"));
  EXPECT_THAT(slurm_.jobs.at(3).nodes, ElementsAre("n2"));
}

TEST_F(Sweep, TriesANodeThatLeftNothingOnceMoreByItself) {
  slurm_.nodes = {{"n1", "idle"}, {"n2", "idle"}};
  Begin();
  EXPECT_TRUE(After(seconds(1)).empty());
  slurm_.jobs.at(1).state = "FAILED";
  FakeSlurm::Answer(slurm_.jobs.at(1), "n1", 0);
  EXPECT_EQ(After(minutes(2)).size(), 1U);
  ASSERT_EQ(slurm_.jobs.size(), 2U);
  FakeSlurm::Job& again = slurm_.jobs.at(2);
  EXPECT_THAT(again.nodes, ElementsAre("n2"));
  again.state = "FAILED";
  ASSERT_TRUE(WriteFileAtomic(fs::path(again.folder) / "log.txt",
                              "srun: error: Task launch failed on node n2: Connection refused\n")
                  .ok());
  const auto ends = After(minutes(2));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_THAT(ends.at("n2").why, HasSubstr("Slurm says FAILED of its job 2"));
  EXPECT_THAT(ends.at("n2").why, HasSubstr("launch failed on node n2: Connection refused"));
  EXPECT_TRUE(ends.at("n2").folder.empty());
  EXPECT_EQ(slurm_.jobs.size(), 2U);
}

// Evidence may come late, and a job that the queue has forgotten is no answer.
TEST_F(Sweep, WaitsForWhatASharedFolderShowsLate) {
  slurm_.nodes = {{"n1", "idle"}};
  Begin();
  EXPECT_TRUE(After(seconds(1)).empty());
  slurm_.jobs.at(1).state = "";
  EXPECT_TRUE(After(seconds(60)).empty());
  FakeSlurm::Answer(slurm_.jobs.at(1), "n1", 0);
  EXPECT_EQ(After(seconds(60)).size(), 1U);
  EXPECT_EQ(slurm_.jobs.size(), 1U);
}

// It may still run: nothing is started beside it.
TEST_F(Sweep, GivesUpInTwoMinutesWhatTheQueueDoesNotShowAnyMore) {
  slurm_.nodes = {{"n1", "idle"}, {"n2", "idle"}};
  Begin();
  EXPECT_TRUE(After(seconds(1)).empty());
  slurm_.jobs.at(1).state = "RUNNING";
  EXPECT_TRUE(After(minutes(30)).empty());
  slurm_.jobs.at(1).state = "";
  EXPECT_TRUE(After(seconds(100)).empty());
  const auto ends = After(seconds(60));
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_THAT(ends.at("n2").why, HasSubstr("queue does not know its job 1 any more, and"));
  EXPECT_EQ(slurm_.jobs.size(), 1U);
  EXPECT_THAT(slurm_.cancelled, ElementsAre("1"));
  EXPECT_TRUE(sweep_->Done());
}

TEST_F(Sweep, GivesUpInTwoMinutesWhatTheQueueRefusesToTell) {
  slurm_.nodes = {{"n1", "idle"}};
  Begin();
  EXPECT_TRUE(After(seconds(1)).empty());
  slurm_.squeue_refuses = "squeue: error: Access/permission denied";
  const auto ends = After(seconds(160));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_THAT(ends.at("n1").why, HasSubstr("any more: squeue: Access/permission denied, and"));
}

TEST_F(Sweep, TellsARefusalOfSinfoAsSlurmsTrouble) {
  slurm_.sinfo_refuses = "Access/permission denied";
  NodeSweep sweep({.folder = "/nowhere", .id = "x", .command = {}}, {}, &client_, &clock_);
  const Status begun = sweep.Begin();
  ASSERT_FALSE(begun.ok());
  EXPECT_EQ(begun.error().code, ErrorCode::kProcess);
  EXPECT_EQ(begun.error().ToString(), "sinfo: Access/permission denied");
}

TEST_F(Sweep, DoesNotSubmitAThousandTimesWhatSlurmRefuses) {
  for (int i = 0; i < 1000; ++i) slurm_.nodes[fmt::format("n{:03}", i)] = "idle";
  slurm_.refuses = "Invalid account or account/partition combination specified";
  Begin();
  const auto ends = After(minutes(2));
  EXPECT_EQ(ends.size(), 1000U);
  EXPECT_THAT(ends.at("n500").why, HasSubstr("Slurm refused it"));
  EXPECT_THAT(ends.at("n500").why, HasSubstr("Invalid account"));
  EXPECT_LE(slurm_.calls["sbatch"], 3);
}

TEST_F(Sweep, FindsAJobOfWhichItWasNotTold) {
  slurm_.nodes = {{"n1", "idle"}};
  slurm_.forgets = true;
  Begin();
  EXPECT_TRUE(After(seconds(1)).empty());
  slurm_.jobs.at(1).state = "COMPLETED";
  FakeSlurm::Answer(slurm_.jobs.at(1), "n1", 0);
  EXPECT_EQ(After(seconds(30)).size(), 1U);
  EXPECT_EQ(slurm_.calls["sbatch"], 1);
}

TEST_F(Sweep, EndsAlsoWhereSlurmDoesNotAnswerAnyMore) {
  slurm_.nodes = {{"n1", "idle"}, {"n2", "allocated"}};
  Begin();
  EXPECT_TRUE(After(seconds(1)).empty());
  for (auto& [number, job] : slurm_.jobs) job.state = "RUNNING";
  EXPECT_TRUE(After(seconds(10)).empty());
  slurm_.down = true;
  EXPECT_TRUE(After(minutes(60)).empty()) << "its jobs may be running";
  const auto ends = After(minutes(120));
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_THAT(ends.at("n1").why, HasSubstr("does not"));
  EXPECT_TRUE(sweep_->Done());
}

TEST_F(Sweep, TakesEverythingBack) {
  slurm_.nodes = {{"n1", "idle"}, {"n2", "allocated"}, {"n3", "drained"}};
  Begin();
  EXPECT_EQ(After(seconds(1)).size(), 1U);
  sweep_->Cancel();
  const auto ends = After(seconds(1));
  EXPECT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends.at("n1").why, "cancelled");
  EXPECT_THAT(slurm_.cancelled, UnorderedElementsAre("1", "2"));
  EXPECT_TRUE(sweep_->Done());
}

TEST_F(Sweep, IsFoundInTheQueueByItsNameOnceItsProcessIsGone) {
  slurm_.nodes = {{"n1", "idle"}, {"n2", "allocated"}};
  Begin();
  EXPECT_TRUE(After(seconds(1)).empty());
  ASSERT_TRUE(CancelSweep(folder_->path() / "sweep", &client_).ok());
  EXPECT_THAT(slurm_.cancelled, UnorderedElementsAre("--name=rharness.x.1", "--name=rharness.x.2"));
  EXPECT_TRUE(CancelSweep(folder_->path() / "nothing", &client_).ok());
}

}  // namespace
}  // namespace rharness
