// The Jobs, pods, events, nodes and Kueue workloads that `kubectl get -o json` printed, as plain
// data. Pure.
//
// Sources: Kubernetes API reference, batch/v1 Job, core/v1 Pod, Event and Node, releases 1.20 to
// 1.30; Kueue API reference, kueue.x-k8s.io/v1beta1 Workload.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_OBJECTS_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_OBJECTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// The labels of rharness's own objects. Values are label values: at most 63 characters.
inline constexpr std::string_view kDrillLabel = "rharness-drill";
inline constexpr std::string_view kBatchLabel = "rharness-batch";
inline constexpr std::string_view kIndexLabel = "rharness-index";  // of a Job with one rerun
inline constexpr std::string_view kContainerName = "rerun";

struct KubernetesJob {
  std::string name;
  std::string uid;
  bool suspended = false;
  bool complete = false;
  bool failed = false;
  std::string reason;  // of its failure: "BackoffLimitExceeded", "DeadlineExceeded", ...
  std::string message;
};

// What our container of a pod does.
struct KubernetesContainer {
  bool running = false;
  std::string waiting;  // "ContainerCreating", "ImagePullBackOff", ...; empty: not waiting
  std::string ended;    // "Completed", "Error", "OOMKilled", "StartError", ...
  std::string message;  // of either
  std::optional<int> exit_code;
};

struct KubernetesPod {
  std::string name;
  std::string job;
  std::string index;    // of the rerun in its batch
  std::string created;  // RFC 3339
  std::string node;     // empty before it is scheduled
  std::string image;    // that the container has
  std::string phase;    // "Pending", "Running", "Succeeded", "Failed", "Unknown"
  std::string reason;   // of the phase: "Evicted", "NodeLost", "DeadlineExceeded", ...
  std::string message;
  bool unready = false;       // it runs, and its node has been silent for a while
  bool leaving = false;       // it is deleted, and still exists
  std::string unschedulable;  // why the scheduler finds no node for it
  std::string disruption;     // reason of the condition DisruptionTarget or TerminationTarget
  std::string disruption_message;
  KubernetesContainer container;

  bool IsOver() const { return phase == "Succeeded" || phase == "Failed"; }
};

struct KubernetesEvent {
  std::string object;  // its name
  std::string reason;  // "FailedMount", "FailedCreate", "TriggeredScaleUp", ...
  std::string message;
  std::string time;  // RFC 3339
};

// Kueue's object for a Job.
struct KubernetesWorkload {
  std::string job;        // its owner's name
  bool reserved = false;  // it has its quota
  std::string reason;     // why not: "Pending", "Inadmissible", ...
  std::string message;
  std::string evicted;  // why it had to go, the last time
};

struct KubernetesNode {
  std::string name;
  std::string silence;  // why it is not ready; empty: it is
  double cpus = 0.0;
  double memory_bytes = 0.0;
  double gpus = 0.0;
};

struct KubernetesObjects {
  std::map<std::string, KubernetesJob> jobs;  // by name
  std::vector<KubernetesPod> pods;
  std::vector<KubernetesEvent> events;
  std::vector<KubernetesWorkload> workloads;
  std::vector<KubernetesNode> nodes;
};

// Adds the content of a list (or a single object). Ignores other kinds. Errors: invalid_input for
// anything but a list of objects with names.
Status AddKubernetesObjects(const Json& json, std::string_view file, KubernetesObjects* objects);

// A quantity such as "4", "500m", "2Gi", "1e3", in its unit; empty if invalid. Source: Kubernetes
// API reference, Quantity.
std::optional<double> ParseQuantity(std::string_view text);

// The member at a path of names; nullptr if there is none.
const Json* FindAt(const Json& json, std::initializer_list<std::string_view> path);
// The text there; empty where there is none.
std::string TextAt(const Json& json, std::initializer_list<std::string_view> path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_OBJECTS_H_
