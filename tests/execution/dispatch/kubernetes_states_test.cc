// What Kubernetes 1.20 to 1.30 and Kueue say, and what is made of it.
#include "harness/execution/dispatch/kubernetes_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/execution/dispatch/kubernetes_answers.h"

namespace rharness {
namespace {

using answers::ContainerStatus;
using answers::Event;
using answers::Node;
using answers::NotAdmitted;
using answers::Pod;
using answers::Unschedulable;
using answers::Workload;
using std::chrono::seconds;
using testing::HasSubstr;
using Kind = TaskDecision::Kind;

KubernetesObjects Parse(const std::string& items) {
  const auto json = ParseJson(answers::List(items), "kubectl get");
  EXPECT_TRUE(json.ok()) << json.error().ToString();
  KubernetesObjects objects;
  const auto status = AddKubernetesObjects(*json, "kubectl get", &objects);
  EXPECT_TRUE(status.ok());
  return objects;
}

// The one task of the Job "j-0", as these objects have it.
KubernetesTask TaskOf(const std::string& items) {
  KubernetesObjects objects = Parse(items);
  KubernetesTask task{.pods = objects.pods, .events = objects.events, .nodes = objects.nodes};
  if (objects.jobs.contains("j-0")) task.job = objects.jobs.at("j-0");
  if (!objects.workloads.empty()) task.workload = objects.workloads[0];
  return task;
}
KubernetesTask WithPod(const std::string& status, const std::string& more = "") {
  return TaskOf(answers::Job("j-0") + "," + Pod({.status = status}) + (more.empty() ? "" : ",") +
                more);
}
KubernetesTask WithoutNode(const std::string& message, const std::string& more = "") {
  return TaskOf(answers::Job("j-0") + "," + Pod({.node = "", .status = Unschedulable(message)}) +
                (more.empty() ? "" : ",") + more);
}
// So long after its trouble was seen first.
TaskDecision After(KubernetesTask task, seconds time) {
  (IsLive(task) ? task.since_trouble : task.since_ended) = time;
  return DecideTask(task);
}

TEST(KubernetesObjects, AreReadFromAList) {
  const auto objects = Parse(answers::FailedJob("j-0") + "," +
                             Pod({.metadata = R"(, "deletionTimestamp": "2026-11-20T02:01:00Z")",
                                  .status = ContainerStatus("Running", R"("running": {})")}) +
                             R"(, {"kind": "ConfigMap", "metadata": {"name": "other"}})");
  EXPECT_TRUE(objects.jobs.at("j-0").failed);
  EXPECT_EQ(objects.jobs.at("j-0").reason, "BackoffLimitExceeded");
  ASSERT_EQ(objects.pods.size(), 1U);
  EXPECT_EQ(objects.pods[0].job, "j-0");
  EXPECT_EQ(objects.pods[0].index, "0");
  EXPECT_EQ(objects.pods[0].node, "n1");
  EXPECT_TRUE(objects.pods[0].leaving);
  EXPECT_EQ(objects.pods[0].image, "localhost/base:1");
}

// 1.29 and later: the index is an annotation, the Job's name has a longer label beside the old one.
TEST(KubernetesObjects, HaveTheIndexOfAnIndexedJob) {
  const auto objects = Parse(
      R"({"kind": "Pod", "metadata": {"name": "p", "labels": {"batch.kubernetes.io/job-name": "j"},
          "annotations": {"batch.kubernetes.io/job-completion-index": "7"}}})");
  EXPECT_EQ(objects.pods.at(0).job, "j");
  EXPECT_EQ(objects.pods.at(0).index, "7");
}

TEST(KubernetesObjects, AreRefusedWhereTheyAreNone) {
  KubernetesObjects objects;
  for (const char* text : {"3", "{}", R"({"kind": "Job"})", R"({"items": [{"kind": "Pod"}]})"}) {
    EXPECT_FALSE(AddKubernetesObjects(*ParseJson(text, "x"), "x", &objects).ok()) << text;
  }
}

TEST(KubernetesObjects, HaveQuantities) {
  EXPECT_EQ(ParseQuantity("4"), 4.0);
  EXPECT_EQ(ParseQuantity("500m"), 0.5);
  EXPECT_EQ(ParseQuantity("2Gi"), 2147483648.0);
  EXPECT_EQ(ParseQuantity("1e3"), 1000.0);
  EXPECT_EQ(ParseQuantity("1k"), 1000.0);
  for (const char* text : {"", "Gi", "4 Gi", "4GiB"}) EXPECT_FALSE(ParseQuantity(text)) << text;
}

TEST(KubernetesVersions, AreReadAsVendorsWriteThem) {
  const auto parse = [](const char* minor) {
    return ParseKubernetesVersion(*ParseJson(
        std::string(R"({"serverVersion": {"major": "1", "minor": ")") + minor + "\"}}", "x"));
  };
  EXPECT_FALSE(HasIndexes(*parse("20")));
  EXPECT_FALSE(HasIndexes(*parse("28+")));
  EXPECT_TRUE(HasIndexes(*parse("29")));
  EXPECT_FALSE(HasNodeNumbers(*parse("23")));
  EXPECT_TRUE(HasNodeNumbers(*parse("24+")));
  EXPECT_FALSE(ParseKubernetesVersion(*ParseJson(R"({"clientVersion": {}})", "x")).ok());
}

TEST(KubernetesStates, WaitsForWhatRuns) {
  const auto task =
      WithPod(ContainerStatus("Running", R"("running": {"startedAt": "2026-11-20T02:00:01Z"})"));
  EXPECT_EQ(After(task, seconds(999999)).kind, Kind::kWait);
  EXPECT_EQ(After(TaskOf(answers::Job("j-0")), seconds(999999)).kind, Kind::kWait)
      << "its pod has not been made yet";
  EXPECT_EQ(
      After(WithPod(ContainerStatus("Pending", R"("waiting": {"reason": "ContainerCreating"})")),
            seconds(999999))
          .kind,
      Kind::kWait);
}

TEST(KubernetesStates, SaysWithinAMinuteThatAnImageIsGone) {
  EXPECT_EQ(After(WithPod(answers::kPullBackOff), seconds(5)).kind, Kind::kWait);
  const TaskDecision gone = After(WithPod(answers::kPullBackOff), kTroubleLimit);
  EXPECT_EQ(gone.kind, Kind::kRefused);
  EXPECT_THAT(gone.why, HasSubstr("localhost/base:1 is not available on n1: ImagePullBackOff"));
  EXPECT_THAT(gone.why, HasSubstr("sha256:ab: not found"));
  EXPECT_LE(kTroubleLimit, seconds(60));
}

// A registry that does not answer may answer the next attempt, on whatever node.
TEST(KubernetesStates, TriesAgainWhereARegistryDoesNotAnswer) {
  const TaskDecision decision = After(WithPod(answers::kPullRefused), kTroubleLimit);
  EXPECT_EQ(decision.kind, Kind::kRetry);
  EXPECT_THAT(decision.why, HasSubstr("connection refused"));
  EXPECT_EQ(decision.avoid, "");
}

TEST(KubernetesStates, SaysThatAContainerCannotBeMade) {
  const TaskDecision decision = After(WithPod(answers::kConfigError), kTroubleLimit);
  EXPECT_EQ(decision.kind, Kind::kRefused);
  EXPECT_THAT(decision.why, HasSubstr("secret \"s3\" not found"));
}

TEST(KubernetesStates, AvoidsANodeThatDoesNotSeeAVolume) {
  const std::string creating =
      ContainerStatus("Pending", R"("waiting": {"reason": "ContainerCreating"})");
  const auto task = WithPod(
      creating, Event("j-0-x2x9q", "FailedMount",
                      "MountVolume.SetUp failed for volume \\\"shared\\\" : hostPath type check "
                      "failed: /shared is not a directory"));
  EXPECT_EQ(After(task, seconds(5)).kind, Kind::kWait);
  const TaskDecision decision = After(task, kTroubleLimit);
  EXPECT_EQ(decision.kind, Kind::kRetry);
  EXPECT_EQ(decision.avoid, "n1");
  EXPECT_THAT(decision.why, HasSubstr("/shared is not a directory"));
}

TEST(KubernetesStates, WaitsForNodesThatOthersUse) {
  const auto task = WithoutNode("0/2 nodes are available: 2 Insufficient cpu.",
                                Node("n1", "4", "8Gi") + "," + Node("n2", "4", "8Gi"));
  const TaskDecision decision = After(task, seconds(999999));
  EXPECT_EQ(decision.kind, Kind::kWait);
  EXPECT_THAT(decision.why, HasSubstr("2 Insufficient cpu")) << "but tells of it";
}

TEST(KubernetesStates, SaysThatNoNodeWillEverFit) {
  auto task = WithoutNode("0/2 nodes are available: 2 Insufficient cpu.",
                          Node("n1", "4", "8Gi") + "," + Node("n2", "3500m", "8Gi"));
  task.needs.cpus = 5;
  EXPECT_EQ(After(task, seconds(5)).kind, Kind::kWait) << "an autoscaler may make one";
  EXPECT_EQ(After(task, kTroubleLimit).kind, Kind::kRefused);
  task.needs.cpus = 4;
  EXPECT_EQ(After(task, kTroubleLimit).kind, Kind::kWait) << "one of them is large enough";
  for (const char* message :
       {"0/2 nodes are available: 2 node(s) didn't match node selector.",  // 1.20
        "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. preemption: "
        "0/2 nodes are available: 2 Preemption is not helpful for scheduling.",  // 1.27
        "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) "
        "had untolerated taint {gpu: yes}.",
        "0/2 nodes are available: 2 node(s) had taint {a: b}, that the pod didn't tolerate.",
        "persistentvolumeclaim \\\"shared\\\" not found", "no nodes available to schedule pods"}) {
    const TaskDecision decision = After(WithoutNode(message), kTroubleLimit);
    EXPECT_EQ(decision.kind, Kind::kRefused) << message;
  }
  for (const char* message :
       {"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match node selector.",
        "0/1 nodes are available: 1 node(s) had taint {node.kubernetes.io/unreachable: }, that the "
        "pod didn't tolerate.",
        "0/1 nodes are available: 1 node(s) were unschedulable."}) {
    EXPECT_EQ(After(WithoutNode(message), seconds(9999)).kind, Kind::kWait) << message;
  }
}

TEST(KubernetesStates, LetsAnAutoscalerMakeANode) {
  const auto task =
      WithoutNode("0/2 nodes are available: 2 node(s) didn't match node selector.",
                  Event("j-0-x2x9q", "TriggeredScaleUp", "pod triggered scale-up: gpu 0->1"));
  EXPECT_EQ(After(task, seconds(9999)).kind, Kind::kWait);
}

TEST(KubernetesStates, TellsAQuotaInUseFromOneThatIsTooSmall) {
  const auto task = [](const char* amounts) {
    return TaskOf(answers::Job("j-0") + "," +
                  Event("j-0", "FailedCreate",
                        std::string("Error creating: pods \\\"j-0-abcde\\\" is forbidden: exceeded "
                                    "quota: small, requested: ") +
                            amounts));
  };
  const auto used =
      task("requests.cpu=4,pods=1, used: requests.cpu=6,pods=3, limited: requests.cpu=8,pods=3");
  EXPECT_EQ(After(used, seconds(9999)).kind, Kind::kWait);
  EXPECT_THAT(After(used, seconds(9999)).why, HasSubstr("exceeded quota: small"));
  const auto small = task("requests.cpu=4, used: requests.cpu=0, limited: requests.cpu=2");
  EXPECT_EQ(After(small, seconds(5)).kind, Kind::kWait);
  EXPECT_EQ(After(small, kTroubleLimit).kind, Kind::kRefused);
  const auto forbidden = TaskOf(answers::Job("j-0") + "," +
                                Event("j-0", "FailedCreate",
                                      "Error creating: pods \\\"j-0-ab\\\" is forbidden: violates "
                                      "PodSecurity \\\"restricted:latest\\\": hostPath volumes"));
  EXPECT_EQ(After(forbidden, kTroubleLimit).kind, Kind::kRefused);
}

// Nothing is believed to have ended well without evidence, which may come late.
TEST(KubernetesStates, TakesNoWordForEvidence) {
  const auto succeeded = WithPod(
      ContainerStatus("Succeeded", R"("terminated": {"exitCode": 0, "reason": "Completed"})"));
  EXPECT_EQ(After(succeeded, seconds(5)).kind, Kind::kWait);
  const TaskDecision late = After(succeeded, kEvidenceLag);
  EXPECT_EQ(late.kind, Kind::kRetry);
  EXPECT_THAT(late.why, HasSubstr("no evidence"));
  EXPECT_EQ(late.avoid, "");
  const auto deadline = WithPod(
      R"("phase": "Failed", "reason": "DeadlineExceeded", "message": "Pod was active on the node longer than the specified deadline")");
  EXPECT_EQ(After(deadline, kEvidenceLag).kind, Kind::kRetry);
  EXPECT_THAT(After(deadline, kEvidenceLag).why, HasSubstr("DeadlineExceeded"));
}

TEST(KubernetesStates, BlamesNobodyForAPreemption) {
  for (const std::string& status : {answers::kPreempted, answers::kEvicted}) {
    EXPECT_EQ(After(WithPod(status), seconds(5)).kind, Kind::kWait);
    const TaskDecision decision = After(WithPod(status), kEvidenceLag);
    EXPECT_EQ(decision.kind, Kind::kPreempted) << status;
    EXPECT_EQ(decision.avoid, "");
  }
  // The pod is gone, and what was seen of it while it lived is all there is.
  KubernetesTask gone = TaskOf(answers::FailedJob("j-0"));
  gone.disruption = "PreemptionByScheduler";
  EXPECT_EQ(After(gone, kEvidenceLag).kind, Kind::kPreempted);
}

TEST(KubernetesStates, AvoidsANodeThatFailed) {
  const TaskDecision decision = After(WithPod(answers::kTainted), kEvidenceLag);
  EXPECT_EQ(decision.kind, Kind::kRetry);
  EXPECT_EQ(decision.avoid, "n1");
  EXPECT_THAT(decision.why, HasSubstr("its node failed"));
  // 1.20: its kubelet does not say that it ended what it was told to end.
  const auto leaving = TaskOf(answers::Job("j-0") + "," +
                              Pod({.metadata = R"(, "deletionTimestamp": "2026-11-20T02:01:00Z")",
                                   .status = ContainerStatus("Running", R"("running": {})")}));
  EXPECT_EQ(After(leaving, kPodGrace).kind, Kind::kWait);
  EXPECT_EQ(After(leaving, kLeavingLimit).kind, Kind::kRetry);
  EXPECT_EQ(After(leaving, kLeavingLimit).avoid, "n1");
}

// As 1.20 has it while most of its nodes are not ready: it evicts nothing then.
TEST(KubernetesStates, GivesUpANodeThatIsNotHeardOf) {
  const auto task =
      WithPod(ContainerStatus("Running", R"("running": {})",
                              R"(, "conditions": [{"type": "Ready", "status": "False"},
                         {"type": "ContainersReady", "status": "True"}])"));
  EXPECT_EQ(After(task, seconds(60)).kind, Kind::kWait);
  EXPECT_EQ(After(task, kNodeLimit).kind, Kind::kRetry);
  EXPECT_EQ(After(task, kNodeLimit).avoid, "n1");
}

// 1.20 does not evict from it; a pod that never began is not marked, either.
TEST(KubernetesStates, GivesUpAPodThatNeverBeganOnANodeThatIsSilent) {
  const std::string creating =
      ContainerStatus("Pending", R"("waiting": {"reason": "ContainerCreating"})");
  const auto task =
      WithPod(creating, R"({"kind": "Node", "metadata": {"name": "n1"}, "status": {"conditions": [
          {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown",
           "message": "Kubelet stopped posting node status."}]}})");
  EXPECT_EQ(After(task, seconds(60)).kind, Kind::kWait);
  EXPECT_EQ(After(task, kNodeLimit).kind, Kind::kRetry);
  EXPECT_EQ(After(task, kNodeLimit).avoid, "n1");
  EXPECT_THAT(After(task, kNodeLimit).why, HasSubstr("Kubelet stopped posting node status"));
  const TaskDecision gone = After(WithPod(creating, Node("n2", "4", "8Gi")), kNodeLimit);
  EXPECT_THAT(gone.why, HasSubstr("its node is gone on n1"));
  EXPECT_EQ(After(WithPod(creating, Node("n1", "4", "8Gi")), seconds(9999)).kind, Kind::kWait);
}

TEST(KubernetesStates, TakesMemoryForTheRunsOwnEnd) {
  const auto task = WithPod(
      ContainerStatus("Failed", R"("terminated": {"exitCode": 137, "reason": "OOMKilled"})"));
  EXPECT_EQ(After(task, kEvidenceLag).kind, Kind::kOutOfMemory);
}

TEST(KubernetesStates, SaysAtOnceWhatCannotBeStarted) {
  const auto missing = WithPod(ContainerStatus(
      "Failed", R"("terminated": {"exitCode": 128, "reason": "StartError", "message":
          "failed to create containerd task: exec: \"/shared/bin/rharness\": stat /shared/bin/rharness: no such file or directory"})"));
  EXPECT_EQ(After(missing, seconds(0)).kind, Kind::kRefused);
  EXPECT_THAT(After(missing, seconds(0)).why, HasSubstr("stat /shared/bin/rharness"));
  const auto foreign = WithPod(
      ContainerStatus("Failed", R"("terminated": {"exitCode": 127, "reason": "Error", "message":
          "rharness: error while loading shared libraries: libssl.so.3: cannot open"})"));
  EXPECT_EQ(After(foreign, seconds(0)).kind, Kind::kRefused);
  auto elsewhere =
      WithPod(ContainerStatus("Failed", R"("terminated": {"exitCode": 2, "reason": "Error",
          "message": "rharness: error: /shared/d/1/0/ticket.json: no such file\n"})"));
  EXPECT_EQ(After(elsewhere, seconds(0)).kind, Kind::kRefused);
  EXPECT_THAT(After(elsewhere, seconds(0)).why, HasSubstr("does not see the folder of the drill"));
  elsewhere.claimed = true;
  EXPECT_EQ(After(elsewhere, seconds(0)).kind, Kind::kWait) << "it did see it";
}

TEST(KubernetesStates, SaysThatTheClusterRunsAnotherImage) {
  auto task = WithPod(ContainerStatus("Running", R"("running": {})"));
  task.image = "registry.example.org/ml@sha256:ab";
  EXPECT_EQ(After(task, seconds(0)).kind, Kind::kRefused);
}

// Somebody deleted a pod: the one made in its place finds the attempt claimed.
TEST(KubernetesStates, TriesAgainWhatSomebodyDeleted) {
  auto task =
      WithPod(ContainerStatus("Failed", R"("terminated": {"exitCode": 6, "reason": "Error"})"));
  task.claimed = true;
  EXPECT_EQ(After(task, seconds(5)).kind, Kind::kWait);
  EXPECT_THAT(After(task, kEvidenceLag).why, HasSubstr("its pod is gone"));
  EXPECT_EQ(After(task, kEvidenceLag).kind, Kind::kRetry);
  task.stopped = true;
  EXPECT_EQ(After(task, seconds(0)).kind, Kind::kRetry) << "its own word that it was stopped";
  auto waits = WithPod(ContainerStatus("Pending", R"("waiting": {"reason": "x"})"));
  waits.claimed = waits.stopped = true;
  EXPECT_EQ(After(waits, seconds(0)).why,
            "its pod was deleted, and the run was stopped, but not by this drill");
  EXPECT_THAT(After(TaskOf(""), kEvidenceLag).why, HasSubstr("its Job is gone"));
  EXPECT_EQ(After(TaskOf(""), seconds(5)).kind, Kind::kWait);
}

TEST(Kueue, IsWaitedForWhereOthersHaveTheQuota) {
  const auto task = [](const std::string& message, const char* reason = "Pending") {
    return TaskOf(answers::Job("j-0", "", true) + "," +
                  Workload("j-0", NotAdmitted(reason, message)));
  };
  const auto used = task(
      "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor "
      "default-flavor, 4 more needed");
  EXPECT_EQ(After(used, seconds(99999)).kind, Kind::kWait);
  EXPECT_THAT(After(used, seconds(99999)).why, HasSubstr("4 more needed"));
  const auto one_flavor_is_larger = task(
      "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor small, "
      "request > maximum capacity (9 > 8), insufficient unused quota for cpu in flavor large, 1 "
      "more needed");
  EXPECT_EQ(After(one_flavor_is_larger, seconds(99999)).kind, Kind::kWait);
  const auto never = task(
      "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor "
      "default-flavor, request > maximum capacity (9 > 8)");
  EXPECT_EQ(After(never, kTroubleLimit).kind, Kind::kRefused);
  const auto no_queue = task("LocalQueue nope doesn't exist", "Inadmissible");
  EXPECT_EQ(After(no_queue, kTroubleLimit).kind, Kind::kRefused);
  EXPECT_THAT(After(no_queue, kTroubleLimit).why, HasSubstr("LocalQueue nope doesn't exist"));
}

// Suspended again after it had begun: its pod is deleted, and no cause stays with the Job.
TEST(Kueue, PreemptsBySuspending) {
  auto task =
      TaskOf(answers::Job("j-0", "", true) + "," +
             Workload("j-0", R"({"type": "Preempted", "status": "True", "reason": "InClusterQueue",
                          "message": "Preempted to accommodate a workload in the ClusterQueue"})"));
  EXPECT_EQ(After(task, seconds(99999)).kind, Kind::kWait) << "it never began";
  task.claimed = true;
  EXPECT_EQ(After(task, seconds(5)).kind, Kind::kWait);
  EXPECT_EQ(After(task, kEvidenceLag).kind, Kind::kPreempted);
  EXPECT_THAT(After(task, kEvidenceLag).why, HasSubstr("Preempted to accommodate"));
}

TEST(KubernetesStates, TellsTroubleOfTheServerFromARefusal) {
  for (const char* text :
       {"The connection to the server 127.0.0.1:1 was refused - did you specify the right host or "
        "port?\n",
        "Unable to connect to the server: dial tcp 10.0.0.1:443: i/o timeout\n",
        "Error from server (Timeout): the server was unable to return a response in the time\n",
        "error: You must be logged in to the server (Unauthorized)\n"}) {
    EXPECT_TRUE(IsServerTrouble(text)) << text;
  }
  EXPECT_FALSE(IsServerTrouble("Error from server (NotFound): namespaces \"nope\" not found\n"));
  const std::string there =
      "Error from server (AlreadyExists): jobs.batch \"j-0\" already exists\n";
  EXPECT_TRUE(IsAlreadyThere(there + there));
  EXPECT_TRUE(IsAlreadyThere("Warning: would violate PodSecurity\n" + there));
  EXPECT_FALSE(IsAlreadyThere(there + "Error from server (Forbidden): no\n"));
  EXPECT_FALSE(IsAlreadyThere(""));
}

}  // namespace
}  // namespace rharness
