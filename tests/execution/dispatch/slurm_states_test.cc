// What Slurm 22.05 printed, and what is made of it.
#include "harness/execution/dispatch/slurm_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::HasSubstr;
using Kind = TaskDecision::Kind;
using std::chrono::seconds;

TEST(SlurmStates, KnowsAnArrayThatWasCancelledBeforeItStartedAsAWhole) {
  const auto queue = ParseSqueue("18_N/A|CANCELLED||None\n17_0|RUNNING|n1|None\n");
  ASSERT_TRUE(queue.ok());
  EXPECT_EQ(queue->at("18").state, "CANCELLED");
  EXPECT_EQ(queue->at("17_0").state, "RUNNING");
  const auto accounting = ParseSacct("1|CANCELLED by 0|n1\n");
  ASSERT_TRUE(accounting.ok());
  EXPECT_EQ(accounting->at("1").state, "CANCELLED");
}

TEST(SlurmStates, ReadsTheQueue) {
  // As printed for an array of which one task runs and one waits, and a job that is no array.
  const auto tasks = ParseSqueue(
      "7_0|RUNNING|n1|None\n7_1|PENDING||Resources\n8_N/A|RUNNING|n2|None\n7_[2-9]|PENDING||\n");
  ASSERT_TRUE(tasks.ok()) << tasks.error().ToString();
  ASSERT_EQ(tasks->size(), 3U) << "the job as a whole";
  EXPECT_EQ(tasks->at("7_0").node, "n1");
  EXPECT_EQ(tasks->at("7_1").state, "PENDING");
  EXPECT_EQ(tasks->at("7_1").reason, "Resources");
  EXPECT_TRUE(ParseSqueue("")->empty());
  const auto bad = ParseSqueue("7_0|RUNNING|n1|None\nslurm_load_jobs error\n");
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().ToString(), HasSubstr("slurm_load_jobs error"));
}

TEST(SlurmStates, ReadsTheAccounting) {
  const auto tasks = ParseSacct(
      "7_0|NODE_FAIL|n1\n7_0|COMPLETED|n2\n7_1|CANCELLED by 0|None assigned\n7_2|RUNNING+|n1\n");
  ASSERT_TRUE(tasks.ok());
  EXPECT_EQ(tasks->at("7_0").state, "COMPLETED") << "the last line of a requeued task holds";
  EXPECT_EQ(tasks->at("7_1").state, "CANCELLED");
  EXPECT_EQ(tasks->at("7_1").node, "");
  EXPECT_EQ(tasks->at("7_2").state, "RUNNING");
}

// A failed node is named in an argument of sbatch.
TEST(SlurmStates, TakesNoNodeFromWhatIsNoName) {
  for (const std::string& node :
       {std::string("--wrap=x"), std::string("a b"), std::string("n1\x1b[31m"), std::string("<b>"),
        std::string(10'000'000, 'n')}) {
    const auto tasks = ParseSqueue("7_0|NODE_FAIL|" + node + "|None\n");
    ASSERT_TRUE(tasks.ok());
    EXPECT_EQ(tasks->at("7_0").node, "") << node.substr(0, 20);
  }
  EXPECT_EQ(ParseSqueue("7_0|NODE_FAIL|gpu-[01-03,7].x_y|None\n")->at("7_0").node,
            "gpu-[01-03,7].x_y");
}

TEST(SlurmStates, ReadsTheNumberOfAJob) {
  EXPECT_EQ(*ParseSbatch("42\n"), 42U);
  EXPECT_EQ(*ParseSbatch("42;east\n"), 42U);
  for (const char* text : {"", "\n", "0\n", "Submitted batch job 42", "42x", "-3"}) {
    EXPECT_FALSE(ParseSbatch(text).ok()) << text;
  }
}

TEST(SlurmStates, FindsTheLargestArray) {
  EXPECT_EQ(MaxArraySize("LogTimeFormat = x\nMaxArraySize            = 4001\nMaxBatch = 3\n"),
            4001);
  EXPECT_EQ(MaxArraySize("nothing of it"), 1001);
}

TaskDecision Queued(const char* state, const char* reason, seconds since_ended = seconds(0)) {
  return DecideTask({.queue = SlurmTask{.state = state, .node = "n1", .reason = reason},
                     .since_ended = since_ended});
}

TEST(SlurmStates, WaitsForWhatLives) {
  for (const char* state : {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED",
                            "REQUEUED", "RESIZING", "STOPPED"}) {
    EXPECT_EQ(Queued(state, "Priority", seconds(999999)).kind, Kind::kWait) << state;
  }
}

TEST(SlurmStates, SaysAtOnceWhatWillNeverStart) {
  const TaskDecision decision = Queued("PENDING", "BadConstraints");
  EXPECT_EQ(decision.kind, Kind::kRefused);
  EXPECT_THAT(decision.why, HasSubstr("BadConstraints"));
  // As Slurm 22.05 says of more CPUs or nodes than any node or the partition has.
  EXPECT_EQ(Queued("PENDING", "PartitionConfig").kind, Kind::kRefused);
  EXPECT_EQ(Queued("PENDING", "PartitionNodeLimit").kind, Kind::kRefused);
  EXPECT_EQ(Queued("REQUEUE_HOLD", "None").kind, Kind::kRefused);
  EXPECT_EQ(Queued("PENDING", "Resources").kind, Kind::kWait);
}

// What may run on one node alone, and that is down: a while, since nodes come back.
TEST(SlurmStates, WaitsSomeTimeForANodeThatIsOutOfService) {
  SlurmTask task{.state = "PENDING", .node = "", .reason = "ReqNodeNotAvail, UnavailableNodes:n2"};
  EXPECT_TRUE(IsNodeOut(task));
  TaskView view{.queue = task, .since_out = seconds(30)};
  EXPECT_EQ(DecideTask(view).kind, Kind::kWait);
  view.since_out = kOutLimit;
  EXPECT_EQ(DecideTask(view).kind, Kind::kRefused);
  EXPECT_THAT(DecideTask(view).why, HasSubstr("UnavailableNodes:n2"));
  task.reason = "ReqNodeNotAvail";  // as it says of one that is busy, too
  EXPECT_FALSE(IsNodeOut(task));
  task = {.state = "RUNNING", .node = "n2", .reason = "UnavailableNodes:n2"};
  EXPECT_FALSE(IsNodeOut(task));
}

TEST(SlurmStates, AvoidsANodeThatFailed) {
  const TaskDecision decision = Queued("NODE_FAIL", "None");
  EXPECT_EQ(decision.kind, Kind::kRetry);
  EXPECT_EQ(decision.avoid, "n1");
  EXPECT_THAT(decision.why, HasSubstr("NODE_FAIL on n1"));
}

TEST(SlurmStates, BlamesNobodyForAPreemption) {
  EXPECT_EQ(Queued("PREEMPTED", "None").kind, Kind::kPreempted);
}

// A scheduler's "completed" is no evidence, and evidence may come late.
TEST(SlurmStates, TakesNoWordForEvidence) {
  for (const char* state : {"COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "CANCELLED"}) {
    EXPECT_EQ(Queued(state, "None").kind, Kind::kWait) << state;
    const TaskDecision late = Queued(state, "None", kEvidenceLag);
    EXPECT_EQ(late.kind, Kind::kRetry) << state;
    EXPECT_THAT(late.why, HasSubstr("no evidence"));
    EXPECT_EQ(late.avoid, "");
  }
}

// Whoever stopped it: it has no answer, and need not be waited for.
TEST(SlurmStates, TriesAgainWhatSomebodyElseStopped) {
  TaskView view{.queue = SlurmTask{.state = "CANCELLED", .node = "n1", .reason = "None"},
                .stopped = true};
  EXPECT_EQ(DecideTask(view).kind, Kind::kRetry);
  EXPECT_THAT(DecideTask(view).why, HasSubstr("not by this drill"));
  view.queue->state = "PREEMPTED";
  EXPECT_EQ(DecideTask(view).kind, Kind::kPreempted);
}

TEST(SlurmStates, NeverTakesUnknownForDone) {
  TaskView view{.accounting_answers = true, .since_ended = seconds(60)};
  EXPECT_EQ(DecideTask(view).kind, Kind::kWait);
  view.since_ended = kUnknownLimit;
  EXPECT_EQ(DecideTask(view).kind, Kind::kRetry);
  EXPECT_THAT(DecideTask(view).why, HasSubstr("nor its accounting knows"));
  view.accounting_answers = false;
  EXPECT_THAT(DecideTask(view).why, HasSubstr("does not answer"));
  // The accounting lags behind the queue.
  view.accounting = SlurmTask{.state = "RUNNING", .node = "n1", .reason = ""};
  EXPECT_THAT(DecideTask(view).why, HasSubstr("says RUNNING"));
  view.queue = SlurmTask{.state = "SOMETHING_NEW", .node = "", .reason = ""};
  view.since_ended = seconds(0);
  EXPECT_EQ(DecideTask(view).kind, Kind::kWait);
}

TEST(SlurmStates, TellsTroubleOfTheServiceFromARefusal) {
  EXPECT_TRUE(IsServiceTrouble(
      "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect "
      "failure)"));
  EXPECT_FALSE(
      IsServiceTrouble("sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job "
                       "submission failed: "
                       "Invalid partition name specified"));
}

}  // namespace
}  // namespace rharness
