// What the dispatcher makes of a cluster that fails, refuses, is silent or is another one.
#include "harness/dispatch/kubernetes_dispatcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "harness/base/files.h"
#include "harness/dispatch/task_folder.h"
#include "harness/rerun/end_marker.h"
#include "tests/dispatch/kubernetes_answers.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// A server as far as kubectl shows one: what it is told to create is there, in what state a test
// says.
class ScriptedCluster {
 public:
  ProcessResult operator()(const ProcessSpec& spec) {
    std::size_t at = 1;
    while (at < spec.argv.size() && spec.argv[at].starts_with("--")) ++at;
    const std::vector<std::string> rest(spec.argv.begin() + static_cast<std::ptrdiff_t>(at),
                                        spec.argv.end());
    const std::string verb = rest.at(0);
    ++calls[verb + (verb == "get" ? " " + rest.at(1) : "")];
    if (verb == "config")
      return Say(R"({"current-context": "here",
        "clusters": [{"cluster": {"server": "https://10.0.0.1"}}]})");
    if (silent > 0) {
      --silent;
      return Fail(
          "The connection to the server 10.0.0.1 was refused - did you specify the right "
          "host or port?\n");
    }
    if (verb == "version") return Say(R"({"serverVersion": {"major": "1", "minor": "20"}})");
    if (verb == "get") return Get(rest.at(1));
    if (verb == "create") return Create(rest);
    if (verb == "delete") {
      deleted.push_back(fmt::format("{}", fmt::join(rest, " ")));
      return Say("");
    }
    return Fail("error: unknown command\n");
  }

  std::map<std::string, int> calls;
  int silent = 0;  // so many calls are not answered
  std::string uid = "u-1";
  std::string refusal;             // of what is created
  bool forgets_to_answer = false;  // creates, and dies before it says so
  std::set<std::string> jobs;      // that are there
  std::string pods;                // items
  std::string events;
  std::vector<std::string> deleted;

 private:
  static ProcessResult Say(const std::string& text) {
    ProcessResult result;
    result.outcome.kind = OutcomeKind::kExited;
    result.stdout_text = text;
    return result;
  }
  static ProcessResult Fail(const std::string& text) {
    ProcessResult result = Say("");
    result.outcome.exit_code = 1;
    result.stderr_text = text;
    return result;
  }
  ProcessResult Get(const std::string& kinds) {
    if (kinds == "namespace") {
      return Say(R"({"kind": "Namespace", "metadata": {"name": "kube-system", "uid": ")" + uid +
                 "\"}}");
    }
    if (kinds == "events") return Say(answers::List(events));
    if (kinds == "nodes") return Say(answers::List(answers::Node("n1", "4", "8Gi")));
    std::string items;
    for (const std::string& job : jobs) items += (items.empty() ? "" : ",") + answers::Job(job);
    if (!pods.empty()) items += (items.empty() ? "" : ",") + pods;
    return Say(answers::List(items));
  }
  ProcessResult Create(const std::vector<std::string>& rest) {
    const auto given = std::ranges::find_if(
        rest, [](const std::string& one) { return one.starts_with("--filename="); });
    const std::string file = given->substr(given->find('=') + 1);
    if (rest.back() == "json") return Say(*ReadFile(file));  // --dry-run=client
    if (std::ranges::find(rest, "--dry-run=server") != rest.end()) {
      return refusal.empty() ? Say("") : Fail(refusal);
    }
    if (!refusal.empty()) return Fail(refusal);
    std::string there;
    const auto json = ReadJsonFile(file);
    for (const Json& job : json->Find("items")->AsArray()) {
      const std::string name = TextAt(job, {"metadata", "name"});
      if (!jobs.insert(name).second) {
        there += "Error from server (AlreadyExists): jobs.batch \"" + name + "\" already exists\n";
      }
    }
    if (std::exchange(forgets_to_answer, false))
      return Fail("Unable to connect to the server: EOF\n");
    return there.empty() ? Say("") : Fail(there);
  }
};

class ClusterThatFails : public testing::Test {
 protected:
  void SetUp() override {
    auto made = ScopedTempDir::Make();
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*made));
    ASSERT_TRUE(WriteFileAtomic(folder() / "site.json",
                                R"({"kind": "PodTemplate", "template": {"spec": {"containers": [{
                                    "image": "localhost/base:1",
                                    "volumeMounts": [{"mountPath": ")" +
                                    folder().string() + "\"}]}]}}}")
                    .ok());
    Make();
    Ticket ticket{.drill_id = "d", .launcher = "host"};
    ticket.manifest.run_id = "r";
    ticket.manifest.command = {"true"};
    attempt_ = {0, ticket};
  }
  void Make() {
    client_ = std::make_unique<KubernetesClient>(
        std::vector<std::string>(), [this](const ProcessSpec& spec) { return cluster_(spec); });
    dispatcher_ = std::make_unique<KubernetesDispatcher>(
        KubernetesOptions{.folder = folder() / "drill",
                          .drill_id = "d",
                          .program = "/rharness",
                          .pod_template = folder() / "site.json"},
        client_.get(), &clock_, std::function<Status(const RerunStep&)>(),
        [this] { return stop_; });
  }
  fs::path folder() const { return folder_->path(); }
  fs::path task() const { return folder() / "drill/dispatch/1/0"; }
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
  static std::string PodOf(const std::string& status, const std::string& metadata = "") {
    return answers::Pod({.job = "rharness-d-1-0", .metadata = metadata, .status = status});
  }
  // The task leaves its evidence, as `rharness rerun` does.
  void Finish(OutcomeKind outcome = OutcomeKind::kExited) {
    RerunResult result;
    result.evidence.run_id = "r";
    result.evidence.rerun = 1;
    result.evidence.attempt = 1;
    result.evidence.ticket_sha256 = TicketSha256(attempt_.ticket);
    result.evidence.outcome.kind = outcome;
    const fs::path out = task() / "out";
    ASSERT_TRUE(WriteFileAtomic(out / "claimed.json", "{}").ok());
    ASSERT_TRUE(
        WriteFileAtomic(out / "runs/r/1/evidence.json", ToJson(result.evidence).Dump(2) + "\n")
            .ok());
    ASSERT_TRUE(WriteEndMarker(out, attempt_.ticket, result).ok());
  }

  std::unique_ptr<ScopedTempDir> folder_;
  ScriptedCluster cluster_;
  FakeClock clock_;
  std::unique_ptr<KubernetesClient> client_;
  std::unique_ptr<KubernetesDispatcher> dispatcher_;
  Attempt attempt_;
  bool stop_ = false;
};

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
