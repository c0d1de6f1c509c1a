// What the dispatcher makes of a cluster that fails, refuses, is silent or is another one.
#include "harness/execution/dispatch/kubernetes_dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/execution/dispatch/task_folder.h"
#include "tests/execution/dispatch/cluster_that_fails.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ClusterThatFails, BringsEvidenceHomeAndClearsUp) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  EXPECT_THAT(cluster_.jobs, ElementsAre("rharness-d-1-0"));
  cluster_.pods = PodOf(answers::ContainerStatus("Running", R"("running": {})"));
  EXPECT_TRUE(After(std::chrono::minutes(5)).empty());
  Finish();
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kFinal);
  EXPECT_TRUE(fs::exists(folder() / "drill/runs/r/1/evidence.json"));
  EXPECT_EQ(cluster_.calls["create"], 3) << "the template, a dry run, and the batch";
  ASSERT_EQ(cluster_.deleted.size(), 1U);
  EXPECT_THAT(cluster_.deleted[0], HasSubstr("rharness-drill=d,rharness-batch in (1)"));
}

// It made the Job, and went down before it said so.
TEST_F(ClusterThatFails, InTheMiddleOfASubmissionIsAskedOnceMoreForTheSameJob) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  cluster_.forgets_to_answer = true;
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  EXPECT_FALSE(fs::exists(task().parent_path() / "submitted"));
  cluster_.pods = PodOf(answers::ContainerStatus("Running", R"("running": {})"));
  EXPECT_TRUE(After(std::chrono::minutes(1)).empty());
  EXPECT_THAT(cluster_.jobs, ElementsAre("rharness-d-1-0"));
  EXPECT_TRUE(fs::exists(task().parent_path() / "submitted"));
}

// Unknown is never done: as long as nobody answers, nothing is decided.
TEST_F(ClusterThatFails, ForADayIsWaitedFor) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  cluster_.silent = 1 << 30;
  EXPECT_TRUE(After(std::chrono::hours(24)).empty());
  EXPECT_TRUE(fs::exists(task() / "ticket.json"));
  cluster_.silent = 0;
  Finish();
  EXPECT_EQ(After(std::chrono::minutes(1)).size(), 1U);
}

TEST_F(ClusterThatFails, FromTheStartIsToldWithinAMinute) {
  cluster_.silent = 1 << 30;
  const auto began = clock_.Monotonic();
  const Status status = dispatcher_->Adopt();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kProcess);
  EXPECT_THAT(status.error().ToString(), HasSubstr("10.0.0.1 was refused"));
  EXPECT_LE(clock_.Monotonic() - began, std::chrono::minutes(1));
}

// An answer that nobody can read is trouble of the server's, not of the caller's.
TEST_F(ClusterThatFails, ByAnUnreadableAnswerRefusesNothing) {
  for (const char* said : {"", "<html>", "{\"kind\": ", "{\"a\": 1, \"a\": 2}", "{\"a\": NaN}"}) {
    KubernetesClient client({}, [&](const ProcessSpec&) {
      ProcessResult result;
      result.outcome.kind = OutcomeKind::kExited;
      result.stdout_text = said;
      return result;
    });
    const auto cluster = client.Identify();
    ASSERT_FALSE(cluster.ok()) << said;
    EXPECT_EQ(cluster.error().code, ErrorCode::kProcess) << cluster.error().ToString();
  }
}

TEST_F(ClusterThatFails, ByRefusingIsToldInItsOwnWords) {
  cluster_.refusal = "Error from server (NotFound): namespaces \"nope\" not found\n";
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  const auto ends = After(std::chrono::seconds(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kCutShort);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("namespaces \"nope\" not found"));
  EXPECT_TRUE(cluster_.jobs.empty());
  EXPECT_FALSE(fs::exists(task()));
}

TEST_F(ClusterThatFails, GivesNoNameThatIsAnOptionOrActsOnATerminal) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  for (const char* name : {"--kubeconfig=x", "a\\u001b[31m", "<b>", "A b"}) {
    cluster_.pods =
        answers::Pod({.name = name,
                      .job = "rharness-d-1-0",
                      .status = answers::ContainerStatus("Failed", R"("terminated": {})")});
    EXPECT_TRUE(After(std::chrono::minutes(5)).empty()) << name;
  }
  EXPECT_TRUE(cluster_.deleted.empty());
}

// kubectl goes on with a list after an object of it was refused.
TEST_F(ClusterThatFails, ByRefusingAPartKeepsNothingOfTheOther) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  cluster_.part_refusal = "Error from server (Forbidden): jobs.batch \"x\" is forbidden: no\n";
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  ASSERT_EQ(cluster_.jobs.size(), 1U);
  EXPECT_EQ(After(std::chrono::seconds(1)).size(), 1U);
  EXPECT_THAT(cluster_.deleted, ElementsAre(HasSubstr("rharness-drill=d,rharness-batch=1")));
}

TEST_F(ClusterThatFails, DoesNotKeepBackWhatHasLeftItsEvidence) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  cluster_.silent = 1 << 30;
  Finish();
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kFinal);
}

TEST_F(ClusterThatFails, SaysNothingOfARunThatWasStoppedWhileItIsSilent) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  cluster_.silent = 1 << 30;
  Finish(OutcomeKind::kCancelled);
  EXPECT_TRUE(After(std::chrono::hours(1)).empty());
  cluster_.silent = 0;
  EXPECT_EQ(After(std::chrono::minutes(1)).size(), 1U);
}

TEST_F(ClusterThatFails, ByAQuotaInUseIsWaitedFor) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  cluster_.refusal =
      "Error from server (Forbidden): jobs.batch \"x\" is forbidden: exceeded quota: q, requested: "
      "count/jobs.batch=1, used: count/jobs.batch=5, limited: count/jobs.batch=5\n";
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  EXPECT_TRUE(After(std::chrono::minutes(9)).empty());
  cluster_.refusal.clear();
  EXPECT_TRUE(After(std::chrono::minutes(1)).empty());
  EXPECT_EQ(cluster_.jobs.size(), 1U);
}

// The user's configuration leads somewhere else, before or while a drill goes on.
TEST_F(ClusterThatFails, ByBeingAnotherIsRefused) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  Make();
  cluster_.uid = "u-2";
  const Status status = dispatcher_->Adopt();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(status.error().ToString(), HasSubstr("uid u-2"));
  EXPECT_THAT(status.error().ToString(), HasSubstr("was started on https://10.0.0.1 (uid u-1)"));
}

TEST_F(ClusterThatFails, ByBecomingAnotherIsNotBelievedThatJobsAreGone) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  cluster_.uid = "u-2";
  cluster_.jobs.clear();
  EXPECT_TRUE(After(std::chrono::hours(2)).empty());
  cluster_.uid = "u-1";
  const auto ends = After(std::chrono::minutes(2));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("its Job is gone, which somebody deleted"));
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kInfrastructure);
}

TEST_F(ClusterThatFails, IsFoundAgainByAnotherProcess) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  Finish();
  Make();
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kFinal);
  EXPECT_EQ(cluster_.jobs.size(), 1U) << "none was made again";
}

// Killed between writing what is to be submitted and submitting it, or before it was written whole.
TEST_F(ClusterThatFails, FindsWhatWasNeverSubmitted) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  cluster_.silent = 1;
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  ASSERT_TRUE(cluster_.jobs.empty());
  fs::create_directories(folder() / "drill/dispatch/2/0");
  Make();
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  EXPECT_FALSE(fs::exists(folder() / "drill/dispatch/2"));
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  EXPECT_TRUE(After(std::chrono::minutes(1)).empty());
  EXPECT_THAT(cluster_.jobs, ElementsAre("rharness-d-1-0"));
}

TEST_F(ClusterThatFails, ToPullAnImageIsToldWithinAMinute) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  cluster_.pods = PodOf(answers::kPullBackOff);
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kCutShort);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("ImagePullBackOff"));
  EXPECT_THAT(cluster_.deleted.at(0), HasSubstr("delete jobs rharness-d-1-0"));
}

TEST_F(ClusterThatFails, ToMountAVolumeIsToldWithinAMinuteAndTriedElsewhere) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  cluster_.pods =
      PodOf(answers::ContainerStatus("Pending", R"("waiting": {"reason": "ContainerCreating"})"));
  cluster_.events = answers::Event("j-0-x2x9q", "FailedMount", "Unable to attach or mount volumes");
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kInfrastructure);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("Unable to attach or mount volumes"));
  attempt_.ticket.attempt = 2;
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  EXPECT_THAT(*ReadFile(folder() / "drill/dispatch/2/jobs.json"), HasSubstr("\"n1\""));
}

// If only nodes that failed would fit, they get another chance.
TEST_F(ClusterThatFails, OnEveryNodeIsNotAvoidedForEver) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  cluster_.pods = PodOf(answers::kTainted);
  ASSERT_EQ(After(std::chrono::minutes(1)).size(), 1U);
  attempt_.ticket.attempt = 2;
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  cluster_.pods = answers::Pod(
      {.job = "rharness-d-2-0",
       .node = "",
       .status = answers::Unschedulable(
           "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.")});
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kInfrastructure);
  attempt_.ticket.attempt = 3;
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  EXPECT_THAT(*ReadFile(folder() / "drill/dispatch/2/jobs.json"), HasSubstr("\"n1\""));
  EXPECT_THAT(*ReadFile(folder() / "drill/dispatch/3/jobs.json"),
              testing::Not(HasSubstr("\"n1\"")));
}

TEST_F(ClusterThatFails, ToKeepARunGoingIsToBlameForItsStop) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  cluster_.pods = PodOf(answers::ContainerStatus("Running", R"("running": {})"),
                        R"(, "deletionTimestamp": "2026-11-20T02:01:00Z")");
  EXPECT_TRUE(After(std::chrono::seconds(10)).empty());
  Finish(OutcomeKind::kCancelled);
  const auto ends = After(std::chrono::seconds(30));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].kind, AttemptEnd::Kind::kInfrastructure);
  EXPECT_THAT(ends[0].evidence.obstacle, HasSubstr("not by this drill"));
}

TEST_F(ClusterThatFails, IsToldToStopByOneCall) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  ASSERT_TRUE(dispatcher_->Submit({attempt_}).ok());
  stop_ = true;
  const auto ends = After(std::chrono::minutes(1));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].evidence.outcome.kind, OutcomeKind::kCancelled);
  EXPECT_THAT(cluster_.deleted.at(0), HasSubstr("delete jobs --selector=rharness-drill=d"));
}

// Hundreds of reruns are looked at in one call.
TEST_F(ClusterThatFails, IsAskedAsOftenForManyAsForOne) {
  ASSERT_TRUE(dispatcher_->Adopt().ok());
  std::vector<Attempt> attempts(300, attempt_);
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    attempts[i].index = i;
    attempts[i].ticket.manifest.run_id = "r" + std::to_string(i);
  }
  ASSERT_TRUE(dispatcher_->Submit(attempts).ok());
  EXPECT_EQ(cluster_.calls["create"], 5) << "a hundred Jobs a call, a dry run, the template";
  const int before = client_->calls();
  EXPECT_TRUE(After(std::chrono::minutes(3)).empty());
  const int looks = cluster_.calls["get jobs,pods"];
  EXPECT_GE(looks, 20);
  EXPECT_LE(client_->calls() - before, 3 * looks);
}

}  // namespace
}  // namespace rharness
