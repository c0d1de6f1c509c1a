// Decides on a task from Kubernetes' reports. Pure: objects and times in, decisions out.
//
// Sources: kubernetes.io/docs, "Pod Lifecycle", "Jobs", "Disruptions" (pod disruption conditions)
// and "Node-pressure Eviction".
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_STATES_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_STATES_H_

#include <chrono>
#include <string_view>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/execution/dispatch/kubernetes_trouble.h"
#include "harness/execution/dispatch/task_decision.h"

namespace rharness {

// How long to wait for transient troubles.
inline constexpr std::chrono::seconds kTroubleLimit{30};
// A pod gets `kPodGrace` to end, and its node as much again to report it.
inline constexpr std::chrono::seconds kPodGrace{30};
inline constexpr std::chrono::seconds kLeavingLimit{2 * kPodGrace};
// A silent node may only be busy, and a control plane in trouble evicts nothing.
inline constexpr std::chrono::seconds kNodeLimit{120};

// For a task without evidence of a completed run. Unknown is never done.
TaskDecision DecideTask(const KubernetesTask& task);

// Whether kubectl's failure is worth another try, or is an answer.
bool IsServerTrouble(std::string_view kubectl_stderr);
// Every line of it reports an existing object: an earlier call succeeded.
bool IsAlreadyThere(std::string_view kubectl_stderr);

// Of `kubectl version -o json`. Errors: invalid_input.
struct KubernetesVersion {
  int major = 0;
  int minor = 0;
  auto operator<=>(const KubernetesVersion&) const = default;
};
Result<KubernetesVersion> ParseKubernetesVersion(const Json& json);

// Whether the indexes of a Job fail separately (backoffLimitPerIndex with FailIndex, on by default
// since 1.29). Source: kubernetes.io/docs, "Feature Gates", JobBackoffLimitPerIndex.
inline bool HasIndexes(KubernetesVersion version) { return version >= KubernetesVersion{1, 29}; }

// Whether the pods of a Job have numbers, so that each knows its node of a gang: from 1.24 on no
// server can be without. Source: kubernetes.io/docs, "Feature Gates (removed)", IndexedJob.
inline bool HasNodeNumbers(KubernetesVersion version) {
  return version >= KubernetesVersion{1, 24};
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_STATES_H_
