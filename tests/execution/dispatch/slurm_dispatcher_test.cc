// What the dispatcher makes of a Slurm that fails in the middle of a call.
#include "harness/execution/dispatch/slurm_dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <map>

#include "harness/base/files.h"
#include "harness/execution/rerun/end_marker.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Answers each program with the next of its lines; none is a controller that is down, and one that
// begins with "!" is said on stderr by a program that fails.
class Answers {
 public:
  void Say(const std::string& program, std::vector<std::optional<std::string>> lines) {
    lines_[program] = {lines.begin(), lines.end()};
  }
  ProcessResult operator()(const ProcessSpec& spec) {
    const std::string& program = spec.argv[0];
    ++calls[program];
    last[program] = spec.argv;
    std::deque<std::optional<std::string>>& lines = lines_[program];
    ProcessResult result;
    result.outcome.kind = OutcomeKind::kExited;
    const std::optional<std::string> line = lines.empty() ? "" : lines.front();
    if (lines.size() > 1) lines.pop_front();
    if (line && line->starts_with('!')) {
      result.outcome.exit_code = 1;
      result.stderr_text = line->substr(1);
    } else if (line) {
      result.stdout_text = *line;
    } else {
      result.outcome.exit_code = 1;
      result.stderr_text = "error: Unable to contact slurm controller (connect failure)\n";
    }
    return result;
  }
  std::map<std::string, int> calls;
  std::map<std::string, std::vector<std::string>> last;  // arguments

 private:
  std::map<std::string, std::deque<std::optional<std::string>>> lines_;
};

class SlurmThatFails : public testing::Test {
 protected:
  void SetUp() override {
    auto made = ScopedTempDir::Make();
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*made));
    client_ =
        std::make_unique<SlurmClient>([this](const ProcessSpec& spec) { return answers_(spec); });
    dispatcher_ = std::make_unique<SlurmDispatcher>(
        SlurmOptions{.folder = folder_->path(), .drill_id = "d", .program = "/rharness"},
        client_.get(), &clock_, std::function<Status(const RerunStep&)>(), std::function<bool()>());
    Ticket ticket{.drill_id = "d", .launcher = "host"};
    ticket.manifest.run_id = "r";
    ticket.manifest.command = {"true"};
    attempt_ = {0, ticket};
  }
  fs::path batch() const { return folder_->path() / "dispatch/1"; }
  // What has ended after so much time on the clock.
  std::vector<AttemptEnd> After(std::chrono::seconds time) {
    const auto until = clock_.Monotonic() + time;
    while (clock_.Monotonic() < until) {
      auto ends = dispatcher_->Wait(std::chrono::milliseconds(100));
      EXPECT_TRUE(ends.ok());
      if (!ends.ok() || !ends->empty()) return ends.ok() ? *ends : std::vector<AttemptEnd>();
      clock_.SleepFor(std::chrono::milliseconds(100));
    }
    return {};
  }

  std::unique_ptr<ScopedTempDir> folder_;
  Answers answers_;
  FakeClock clock_;
  std::unique_ptr<SlurmClient> client_;
  std::unique_ptr<SlurmDispatcher> dispatcher_;
  Attempt attempt_;
};

// What is for one node goes there and nowhere else, also after that node has failed.
TEST_F(SlurmThatFails, PinsWhatIsForOneNode) {
  Ticket ticket = attempt_.ticket;
  ticket.node = "n2";
  const SlurmOptions options{.folder = "/d",
                             .drill_id = "d",
                             .program = "/rharness",
                             .sbatch = {"--nodelist=n[1-2]", "--exclude=n3", "--qos=x"}};
  const auto pinned = SbatchArguments(options, "/d/dispatch/1", ClassOf(ticket), 1, {"n2"});
  EXPECT_THAT(pinned, testing::Contains("--nodelist=n2"));
  EXPECT_THAT(pinned, testing::Contains("--qos=x"));
  EXPECT_THAT(pinned, testing::Not(testing::Contains("--nodelist=n[1-2]")));
  EXPECT_THAT(pinned, testing::Not(testing::Contains(testing::StartsWith("--exclude"))));
  const auto anywhere =
      SbatchArguments(options, "/d/dispatch/1", ClassOf(attempt_.ticket), 1, {"n2"});
  EXPECT_THAT(anywhere, testing::Contains("--nodelist=n[1-2]"));
  EXPECT_THAT(anywhere, testing::Contains("--exclude=n2"));
  EXPECT_NE(ClassOf(ticket), ClassOf(attempt_.ticket)) << "an array a node";
}

TEST_F(SlurmThatFails, NumbersTheNodesOfAGangInTheOrderThatIsAskedFor) {
  Ticket ticket = attempt_.ticket;
  ticket.manifest.gang = Gang{.nodes = 2, .tasks_per_node = 2, .start = GangStart::kPerTask};
  ticket.node = "n2,n1";
  const SlurmOptions options{.folder = "/d", .drill_id = "d", .program = "/rharness", .sbatch = {}};
  const auto numbered = SbatchArguments(options, "/d/dispatch/1", ClassOf(ticket), 1, {});
  EXPECT_THAT(numbered, testing::Contains("--nodelist=n2,n1"));
  EXPECT_EQ(numbered.back(), "2") << "the script starts all of them by a step";
  ticket.manifest.gang->start = GangStart::kOnce;
  EXPECT_FALSE(ClassOf(ticket).numbers) << "its command numbers them";
  ticket.node.clear();
  ticket.manifest.gang->start = GangStart::kPerTask;
  EXPECT_FALSE(ClassOf(ticket).numbers);
}

// It took the job, and went down before it said so: the job is waited for, and not sent again.
TEST_F(SlurmThatFails, InTheMiddleOfASubmissionIsAskedForTheJobByName) {
  answers_.Say("sbatch", {std::nullopt});
  answers_.Say("squeue", {std::nullopt, std::nullopt, "77\n", "77_0|RUNNING|n1|None\n"});
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  EXPECT_TRUE(After(std::chrono::hours(1)).empty());
  EXPECT_EQ(answers_.calls["sbatch"], 1);
  EXPECT_EQ(*ReadFile(batch() / "job"), "77\n");
}

TEST_F(SlurmThatFails, AndKnowsNoSuchJobLetsItBeTriedAgain) {
  answers_.Say("sbatch", {std::nullopt});
  answers_.Say("squeue", {std::nullopt, ""});
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kInfrastructure);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("refused it"));
  EXPECT_FALSE(fs::exists(batch() / "0"));
}

// Unknown is never done: as long as nobody answers, nothing is decided.
TEST_F(SlurmThatFails, ForADayIsWaitedFor) {
  answers_.Say("sbatch", {std::nullopt});
  answers_.Say("squeue", {std::nullopt});
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  EXPECT_TRUE(After(std::chrono::hours(24)).empty());
  EXPECT_TRUE(fs::exists(batch() / "0/ticket.json"));
}

// A task was taken up, and Slurm has forgotten its array: what it leaves is not thrown away.
TEST_F(SlurmThatFails, ByForgettingIsNoReasonToThrowAwayWhatWasTakenUp) {
  ASSERT_TRUE(WriteBatch(batch(), {attempt_}).ok());
  fs::create_directories(batch() / "0/out");
  answers_.Say("squeue", {""});
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  EXPECT_TRUE(After(std::chrono::seconds(60)).empty());
  EXPECT_EQ(answers_.calls["sbatch"], 0);
  const auto ends = After(std::chrono::minutes(5));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("nor its accounting"));
}

// It exited with 0, or without a word: the array may be there, and is not to run unwatched.
TEST_F(SlurmThatFails, ByAnUnreadableNumberIsAskedForTheJobByName) {
  for (const char* said : {"", "123abc\n", "-5\n", "99999999999999999999999\n", " 77\n", "!",
                           "warning: the default account is used\n77\n"}) {
    SCOPED_TRACE(said);
    SetUp();
    answers_.calls.clear();
    answers_.Say("sbatch", {said});
    answers_.Say("squeue", {"77\n", "77_0|RUNNING|n1|None\n"});
    ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
    EXPECT_TRUE(After(std::chrono::minutes(10)).empty());
    EXPECT_EQ(answers_.calls["sbatch"], 1);
    EXPECT_EQ(*ReadFile(batch() / "job"), "77\n");
  }
}

TEST_F(SlurmThatFails, ByAnUnreadableListOfNamesIsNotBelievedThatThereIsNone) {
  answers_.Say("sbatch", {std::nullopt});
  answers_.Say("squeue", {"slurm_load_jobs error: no connection\n", "note: slow\n77\n",
                          "77_0|RUNNING|n1|None\n"});
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  EXPECT_TRUE(After(std::chrono::minutes(10)).empty());
  EXPECT_EQ(answers_.calls["sbatch"], 1);
  EXPECT_EQ(*ReadFile(batch() / "job"), "77\n");
}

TEST_F(SlurmThatFails, AtLengthIsQuotedInShort) {
  answers_.Say("sbatch", {"!sbatch: error: " + std::string(std::size_t{10} << 20, 'x')});
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("refused it: sbatch: xxx"));
  EXPECT_LT(ends[0].evidence.obstacle.size(), 1200U);
}

// Whatever Slurm says of a task that is given up: a second attempt does not run beside it.
TEST_F(SlurmThatFails, ByAStateThatNobodyKnowsHasTheTaskCancelled) {
  for (const char* said : {"77_0|QUANTUM|n1|None\n", "77_0|NODE_FAIL|n1|None\n"}) {
    SCOPED_TRACE(said);
    SetUp();
    answers_.Say("sbatch", {"77\n"});
    answers_.Say("squeue", {said});
    ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
    const auto ends = After(std::chrono::minutes(5));
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kInfrastructure);
    EXPECT_THAT(answers_.last["scancel"], testing::ElementsAre("scancel", "--quiet", "77_0"));
    answers_.last.clear();
  }
}

// srun's words of a step lie on a disk that all share, and are read there while it runs.
TEST_F(SlurmThatFails, SaysOfAStepNoMoreThanIsRead) {
  ASSERT_TRUE(WriteBatch(batch(), {attempt_}).ok());
  const auto program = [&](const char* name, const std::string& text) {
    EXPECT_TRUE(WriteFileAtomic(folder_->path() / name, "#!/bin/sh\n" + text).ok());
    fs::permissions(folder_->path() / name, fs::perms::owner_all);
  };
  program("srun",
          "echo of the task; echo 'srun: error: first' >&2; yes no | head -c 20000000 >&2; "
          "echo last >&2; exit 3\n");
  program("rharness", "until grep -q 'ended with' \"$4/step.log\"; do sleep 0.01; done\n");
  ProcessSpec spec{.argv = {"sh", (batch() / "script.sh").string(), "rharness", batch().string(),
                            folder_->path().string() + ":" + std::getenv("PATH")},
                   .environment = PickEnvironment({"PATH"})};
  spec.environment["SLURM_ARRAY_TASK_ID"] = "0";
  spec.environment["SLURM_JOB_NUM_NODES"] = "2";
  const ProcessResult result = RunProcess(spec, {.timeout = std::chrono::seconds(100)});
  EXPECT_TRUE(result.outcome.Succeeded()) << result.outcome.ToString() << result.stderr_text;
  EXPECT_EQ(result.stdout_text, "of the task\n");
  const auto log = ReadFile(batch() / "0/out/step.log", 4 << 20);
  ASSERT_TRUE(log.ok()) << log.error().ToString();
  EXPECT_THAT(log->substr(0, 30), testing::StartsWith("srun: error: first\n"));
  EXPECT_THAT(log->substr(log->size() - 30), testing::EndsWith("last\nsrun: ended with 3\n"));
}

// Evidence needs no word of Slurm's, nor the number of its job.
TEST_F(SlurmThatFails, DoesNotKeepBackWhatHasLeftItsEvidence) {
  for (const bool numbered : {true, false}) {
    SCOPED_TRACE(numbered);
    SetUp();
    answers_.Say("sbatch", {numbered ? std::optional<std::string>("77\n") : std::nullopt});
    answers_.Say("squeue", {numbered ? std::nullopt : std::optional<std::string>("no number")});
    ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
    EXPECT_TRUE(After(std::chrono::minutes(10)).empty());
    RerunResult result;
    result.evidence.run_id = "r";
    result.evidence.rerun = 1;
    result.evidence.attempt = 1;
    result.evidence.ticket_sha256 = TicketSha256(attempt_.ticket);
    result.evidence.outcome.kind = OutcomeKind::kExited;
    const fs::path out = batch() / "0/out";
    const std::string evidence = ToJson(result.evidence).Dump();
    ASSERT_TRUE(WriteFileAtomic(out / "runs/r/1/evidence.json", evidence).ok());
    ASSERT_TRUE(WriteEndMarker(out, attempt_.ticket, result).ok());
    const auto ends = After(std::chrono::minutes(1));
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kFinal);
  }
}

}  // namespace
}  // namespace rharness
