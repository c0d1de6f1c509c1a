// A real Slurm of two nodes carries reruns out, loses them, and is found again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

#include "harness/execution/dispatch/slurm_dispatcher.h"
#include "tests/execution/dispatch/slurm_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using Kind = AttemptEnd::Kind;

class Slurm : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = new SlurmWorld; }
  static void TearDownTestSuite() { delete world_; }
  void SetUp() override {
    if (!world_->problem().empty()) GTEST_SKIP() << "no Slurm here: " << world_->problem();
    auto made = ScopedTempDir::Make("rharness-slurm-drill-");
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*made));
    fs::create_directories(folder() / "drill");
  }
  void TearDown() override {
    if (!world_->problem().empty()) return;
    SlurmWorld::Run({"scancel", "--user=root"});
    SlurmWorld::Run({"scontrol", "update", "nodename=n1,n2", "state=resume"});
  }

  fs::path folder() const { return folder_->path(); }
  std::unique_ptr<SlurmDispatcher> Make(std::vector<std::string> sbatch = {}) {
    return std::make_unique<SlurmDispatcher>(
        SlurmOptions{.folder = folder() / "drill",
                     .drill_id = "test-" + folder().filename().string(),
                     .program = fs::path(RHARNESS_BIN_DIR) / "rharness",
                     .sbatch = std::move(sbatch)},
        &client_, &SystemClock(),
        [this](const RerunStep& step) {
          steps_.push_back(step);
          return Status();
        },
        [this] { return stop_; });
  }
  // Reruns "r0", "r1", ... of a shell command.
  std::vector<Attempt> Attempts(int count, const std::string& script) const {
    std::vector<Attempt> attempts;
    for (int i = 0; i < count; ++i) {
      Ticket ticket{.drill_id = "test", .launcher = "host", .places = {.root = folder()}};
      ticket.resources.timeout_seconds = 60;
      ticket.manifest.run_id = "r" + std::to_string(i);
      ticket.manifest.image.kind = ImageKind::kHost;
      ticket.manifest.command = {"sh", "-c", script, "sh", std::to_string(i), folder().string()};
      attempts.push_back({static_cast<std::size_t>(i), std::move(ticket)});
    }
    return attempts;
  }
  // Until so many have ended, for half a minute at most.
  std::map<std::size_t, AttemptEnd> Ends(SlurmDispatcher* dispatcher, std::size_t count) const {
    std::map<std::size_t, AttemptEnd> ends;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (ends.size() < count && std::chrono::steady_clock::now() < until) {
      auto some = dispatcher->Wait(std::chrono::milliseconds(100));
      EXPECT_TRUE(some.ok()) << some.error().ToString();
      if (!some.ok()) break;
      for (AttemptEnd& end : *some) {
        const std::size_t index = end.index;
        EXPECT_TRUE(ends.emplace(index, std::move(end)).second) << "twice: " << index;
      }
    }
    EXPECT_EQ(ends.size(), count);
    return ends;
  }
  static bool Await(const std::function<bool()>& holds) {
    for (int i = 0; i < 300 && !holds(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return holds();
  }
  // How often runs wrote a line into the file "started".
  std::size_t Starts() const {
    const auto text = ReadFile(folder() / "started");
    return text.ok() ? static_cast<std::size_t>(std::ranges::count(*text, '\n')) : 0;
  }

  static SlurmWorld* world_;
  std::unique_ptr<ScopedTempDir> folder_;
  SlurmClient client_;
  std::vector<RerunStep> steps_;
  bool stop_ = false;
};
SlurmWorld* Slurm::world_ = nullptr;

// Nine of one kind, where an array holds four: three submissions, and one look at the queue a
// round.
TEST_F(Slurm, CarriesRerunsOutAndBringsTheirEvidenceHome) {
  auto dispatcher = Make();
  auto attempts = Attempts(9, "echo run $1; test $1 != 3");
  ASSERT_TRUE(dispatcher->Submit(attempts).ok());
  EXPECT_EQ(client_.calls(), 4) << "scontrol once, sbatch three times";
  const auto ends = Ends(dispatcher.get(), 9);
  for (const auto& [index, end] : ends) {
    const Ticket& ticket = attempts[index].ticket;
    EXPECT_EQ(end.kind, index == 3 ? Kind::kCutShort : Kind::kFinal) << end.evidence.obstacle;
    EXPECT_EQ(end.evidence.ticket_sha256, TicketSha256(ticket));
    EXPECT_EQ(end.evidence.outcome.exit_code, index == 3 ? 1 : 0);
    const fs::path home = folder() / "drill/runs" / ticket.run_id() / "1";
    EXPECT_TRUE(LoadEvidence(home / "evidence.json").ok());
    EXPECT_EQ(*ReadFile(home / "stdout.log"), "run " + std::to_string(index) + "\n");
  }
  EXPECT_EQ(steps_.size(), 9U) << "a run that fails is an answer, too";
}

// A submission hands its environment to the task: what the task needs, and nothing else that is
// here.
TEST_F(Slurm, HandsOverWhatANodeNeedsOfTheEnvironmentAndNoMore) {
  ::setenv("RHARNESS_TEST_TOKEN", "secret", 1);
  ::setenv("NO_PROXY", "cluster.example", 1);
  auto dispatcher = Make();
  const auto attempts =
      Attempts(1, "tr '\\0' '\\n' < /proc/$PPID/environ; echo of the run:; env; echo end");
  ASSERT_TRUE(dispatcher->Submit(attempts).ok());
  ASSERT_EQ(Ends(dispatcher.get(), 1).at(0).kind, Kind::kFinal);
  ::unsetenv("RHARNESS_TEST_TOKEN");
  ::unsetenv("NO_PROXY");
  const std::string text = *ReadFile(folder() / "drill/runs/r0/1/stdout.log");
  const std::string task = text.substr(0, text.find("of the run:"));
  EXPECT_THAT(task, HasSubstr("SLURM_JOB_ID="));
  EXPECT_THAT(task, HasSubstr("\nNO_PROXY=cluster.example\n"));
  EXPECT_THAT(task, Not(HasSubstr("RHARNESS_TEST_TOKEN")));
  EXPECT_THAT(task, Not(HasSubstr("RHARNESS_JOB"))) << "or a drill that goes on would kill it";
  EXPECT_THAT(text.substr(task.size()), Not(HasSubstr("NO_PROXY"))) << "the run gets neither";
}

TEST_F(Slurm, TellsAtOnceWhatItRefuses) {
  auto dispatcher = Make({"--partition=nope"});
  ASSERT_TRUE(dispatcher->Submit(Attempts(1, "true")).ok());
  const auto ends = Ends(dispatcher.get(), 1);
  EXPECT_EQ(ends.at(0).kind, Kind::kCutShort);
  EXPECT_THAT(ends.at(0).evidence.obstacle, HasSubstr("Slurm refused it"));
  EXPECT_THAT(ends.at(0).evidence.obstacle, HasSubstr("nvalid partition"));
  EXPECT_TRUE(steps_.empty());
}

TEST_F(Slurm, FindsWhatAnEarlierProcessSubmitted) {
  const auto attempts = Attempts(4, "echo >> $2/started; sleep 2; echo $1");
  ASSERT_TRUE(Make()->Submit(attempts).ok());
  ASSERT_TRUE(Await([this] { return Starts() == 4; }));
  auto dispatcher = Make();
  ASSERT_TRUE(dispatcher->Adopt().ok());
  ASSERT_TRUE(dispatcher->Submit(attempts).ok());
  for (const auto& [index, end] : Ends(dispatcher.get(), 4)) EXPECT_EQ(end.kind, Kind::kFinal);
  EXPECT_EQ(Starts(), 4U) << "none was started again";
}

// Killed between sbatch and the line that keeps its number, and between collecting and journalling.
TEST_F(Slurm, FindsWhatItHadNoTimeToNote) {
  const auto attempts = Attempts(2, "echo >> $2/started; echo $1");
  ASSERT_TRUE(Make()->Submit(attempts).ok());
  const fs::path batch = folder() / "drill/dispatch/1";
  ASSERT_TRUE(fs::remove(batch / "job"));
  ASSERT_TRUE(Await([&] {
    return fs::exists(batch / "0/out/ended.json") && fs::exists(batch / "1/out/ended.json");
  }));
  fs::create_directories(folder() / "drill/runs/r0");
  fs::rename(batch / "0/out/runs/r0/1", folder() / "drill/runs/r0/1");
  auto dispatcher = Make();
  ASSERT_TRUE(dispatcher->Adopt().ok());
  ASSERT_TRUE(dispatcher->Submit(attempts).ok());
  for (const auto& [index, end] : Ends(dispatcher.get(), 2)) EXPECT_EQ(end.kind, Kind::kFinal);
  EXPECT_EQ(Starts(), 2U);
}

TEST_F(Slurm, TakesABatchThatWasNeverSubmittedForNone) {
  ASSERT_TRUE(WriteBatch(folder() / "drill/dispatch/1", Attempts(1, "true")).ok());
  auto dispatcher = Make();
  ASSERT_TRUE(dispatcher->Adopt().ok());
  ASSERT_TRUE(dispatcher->Submit(Attempts(1, "true")).ok());
  EXPECT_EQ(Ends(dispatcher.get(), 1).at(0).kind, Kind::kFinal);
}

TEST_F(Slurm, AvoidsANodeThatFailed) {
  auto dispatcher = Make({"--nodelist=n1"});
  ASSERT_TRUE(dispatcher->Submit(Attempts(1, "echo >> $2/started; sleep 50")).ok());
  ASSERT_TRUE(Await([this] { return Starts() == 1; }));
  SlurmWorld::Run({"scontrol", "update", "nodename=n1", "state=down", "reason=test"});
  const auto ends = Ends(dispatcher.get(), 1);
  EXPECT_EQ(ends.at(0).kind, Kind::kInfrastructure);
  EXPECT_THAT(ends.at(0).evidence.obstacle, HasSubstr("its node failed (NODE_FAIL"));
  // Now n1 is excluded, and asked for: Slurm says that these contradict each other.
  ASSERT_TRUE(dispatcher->Submit(Attempts(1, "true")).ok());
  EXPECT_THAT(Ends(dispatcher.get(), 1).at(0).evidence.obstacle, HasSubstr("Slurm refused it"));
}

TEST_F(Slurm, TriesAgainWhatSomebodyElseCancelled) {
  auto dispatcher = Make();
  ASSERT_TRUE(dispatcher->Submit(Attempts(1, "echo >> $2/started; sleep 50")).ok());
  ASSERT_TRUE(Await([this] { return Starts() == 1; }));
  SlurmWorld::Run({"scancel", "--user=root"});
  const auto ends = Ends(dispatcher.get(), 1);
  EXPECT_EQ(ends.at(0).kind, Kind::kInfrastructure);
  EXPECT_THAT(ends.at(0).evidence.obstacle, HasSubstr("not by this drill"));
  EXPECT_TRUE(steps_.empty());
}

TEST_F(Slurm, SaysWhatWillNeverStart) {
  auto dispatcher = Make({"--hold"});
  ASSERT_TRUE(dispatcher->Submit(Attempts(1, "true")).ok());
  const auto ends = Ends(dispatcher.get(), 1);
  EXPECT_EQ(ends.at(0).kind, Kind::kCutShort);
  EXPECT_THAT(ends.at(0).evidence.obstacle, HasSubstr("JobHeldUser"));
}

TEST_F(Slurm, CancelsWhatRunsAndWhatWaits) {
  auto dispatcher = Make();
  ASSERT_TRUE(dispatcher->Submit(Attempts(1, "echo >> $2/started; sleep 50")).ok());
  ASSERT_TRUE(Await([this] { return Starts() == 1; }));
  stop_ = true;
  const auto ends = Ends(dispatcher.get(), 1);
  EXPECT_EQ(ends.at(0).kind, Kind::kCutShort);
  EXPECT_EQ(ends.at(0).evidence.outcome.kind, OutcomeKind::kCancelled);
  EXPECT_TRUE(steps_.empty()) << "a drill that goes on does it again";
}

// Evidence that somebody changed between the node and here is none.
TEST_F(Slurm, BelievesNoEvidenceButTheNodes) {
  auto dispatcher = Make();
  ASSERT_TRUE(dispatcher->Submit(Attempts(1, "echo 1")).ok());
  const fs::path out = folder() / "drill/dispatch/1/0/out";
  ASSERT_TRUE(Await([&] { return fs::exists(out / "ended.json"); }));
  const std::string text = *ReadFile(out / "runs/r0/1/evidence.json");
  ASSERT_TRUE(WriteFileAtomic(out / "runs/r0/1/evidence.json", text + " ").ok());
  const auto ends = Ends(dispatcher.get(), 1);
  EXPECT_EQ(ends.at(0).kind, Kind::kInfrastructure);
  EXPECT_THAT(ends.at(0).evidence.obstacle, HasSubstr("is not the evidence"));
  EXPECT_FALSE(fs::exists(folder() / "drill/runs/r0/1"));
}

}  // namespace
}  // namespace rharness
