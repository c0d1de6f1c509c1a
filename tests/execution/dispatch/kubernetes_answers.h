// What servers answer, cut down to what is asked of it: the shape and the wording are theirs.
//
// Sources: kubernetes.io/docs, "Pod Lifecycle", "Debug Pods", "Jobs", "Disruptions", "Resource
// Quotas"; API reference of the releases named; kueue.sigs.k8s.io/docs, "Troubleshooting Jobs".
#ifndef RHARNESS_TESTS_EXECUTION_DISPATCH_KUBERNETES_ANSWERS_H_
#define RHARNESS_TESTS_EXECUTION_DISPATCH_KUBERNETES_ANSWERS_H_

#include <string>

namespace rharness::answers {

inline std::string List(const std::string& items) {
  return R"({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": [)" +
         items + "]}";
}

// `status`: its members.
inline std::string Job(const std::string& name, const std::string& status = "",
                       bool suspend = false) {
  return R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": ")" + name +
         R"(", "uid": "u-)" + name + R"("}, "spec": {"suspend": )" + (suspend ? "true" : "false") +
         R"(}, "status": {)" + status + "}}";
}

inline std::string FailedJob(const std::string& name) {
  return Job(name, R"("conditions": [{"type": "Failed", "status": "True",
      "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}],
      "failed": 1)");
}

struct PodText {
  std::string name = "j-0-x2x9q";
  std::string job = "j-0";
  std::string index = "0";
  std::string metadata;  // further members: ", \"deletionTimestamp\": ..."
  std::string node = "n1";
  std::string status;  // members
};

inline std::string Pod(const PodText& pod) {
  return R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")" + pod.name +
         R"(", "creationTimestamp": "2026-11-20T02:00:00Z", "labels": {"job-name": ")" + pod.job +
         R"(", "rharness-index": ")" + pod.index + R"("})" + pod.metadata +
         R"(}, "spec": {"nodeName": ")" + pod.node +
         R"(", "containers": [{"name": "rerun", "image": "localhost/base:1"}]}, "status": {)" +
         pod.status + "}}";
}

// Of the container: "waiting": {...} or "terminated": {...}.
inline std::string ContainerStatus(const std::string& phase, const std::string& state,
                                   const std::string& more = "") {
  return R"("phase": ")" + phase + R"(", "containerStatuses": [{"name": "rerun", "state": {)" +
         state + "}}]" + more;
}

// 1.30, of a deleted image tag.
inline const std::string kPullBackOff = ContainerStatus(
    "Pending",
    R"("waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"registry.example.org/ml@sha256:ab\": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image: registry.example.org/ml@sha256:ab: not found"})");
// 1.20, of a registry that nobody listens at.
inline const std::string kPullRefused = ContainerStatus(
    "Pending",
    R"("waiting": {"reason": "ErrImagePull", "message": "rpc error: code = Unknown desc = failed to pull and unpack image \"127.0.0.1:1/x:1\": failed to resolve reference \"127.0.0.1:1/x:1\": failed to do request: Head \"https://127.0.0.1:1/v2/x/manifests/1\": dial tcp 127.0.0.1:1: connect: connection refused"})");
// 1.27.
inline const std::string kConfigError = ContainerStatus(
    "Pending",
    R"("waiting": {"reason": "CreateContainerConfigError", "message": "secret \"s3\" not found"})");

inline std::string Unschedulable(const std::string& message) {
  return R"("phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
      "reason": "Unschedulable", "message": ")" +
         message + R"("}])";
}

// 1.27, of a pod that made room for another.
inline const std::string kPreempted =
    ContainerStatus("Failed", R"("terminated": {"exitCode": 143, "reason": "Error"})",
                    R"(, "conditions": [{"type": "DisruptionTarget", "status": "True",
       "reason": "PreemptionByScheduler",
       "message": "default-scheduler: preempting to accommodate a higher priority pod"}])");
// 1.20, of a node that ran out of memory.
inline const std::string kEvicted =
    R"("phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory. Container rerun was using 9Gi, which exceeds its request of 8Gi. ")";
// 1.27, of a node that is gone.
inline const std::string kTainted =
    R"("phase": "Failed", "conditions": [{"type": "DisruptionTarget", "status": "True",
       "reason": "DeletionByTaintManager", "message": "Taint manager: deleting due to NoExecute taint"}])";

inline std::string Event(const std::string& object, const std::string& reason,
                         const std::string& message) {
  return R"({"apiVersion": "v1", "kind": "Event", "metadata": {"name": ")" + object +
         R"(.17a"}, "involvedObject": {"kind": "Pod", "name": ")" + object + R"("}, "reason": ")" +
         reason + R"(", "message": ")" + message +
         R"(", "lastTimestamp": "2026-11-20T02:00:05Z", "type": "Warning"})";
}

inline std::string Node(const std::string& name, const std::string& cpu, const std::string& memory,
                        const std::string& gpus = "0") {
  return R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": ")" + name +
         R"("}, "status": {"allocatable": {"cpu": ")" + cpu + R"(", "memory": ")" + memory +
         R"(", "nvidia.com/gpu": ")" + gpus + R"("}}})";
}

// Kueue 0.6 to 0.14.
inline std::string Workload(const std::string& job, const std::string& conditions) {
  return R"({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": {
      "name": "job-)" +
         job + R"(-19797", "ownerReferences": [{"kind": "Job", "name": ")" + job +
         R"("}]}, "status": {"conditions": [)" + conditions + "]}}";
}
inline std::string NotAdmitted(const std::string& reason, const std::string& message) {
  return R"({"type": "QuotaReserved", "status": "False", "reason": ")" + reason +
         R"(", "message": ")" + message + R"("})";
}

}  // namespace rharness::answers

#endif  // RHARNESS_TESTS_EXECUTION_DISPATCH_KUBERNETES_ANSWERS_H_
