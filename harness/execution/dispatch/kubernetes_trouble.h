// What keeps a task from running on, in the words of those that Kubernetes says it in. Pure.
//
// Sources: kubernetes.io/docs, "Debug Pods", "Assigning Pods to Nodes" and "Resource Quotas";
// kueue.sigs.k8s.io/docs, "Troubleshooting Jobs". Messages are known as servers 1.20 to 1.30 write
// them; what is not known is no trouble.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_TROUBLE_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_TROUBLE_H_

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/execution/dispatch/kubernetes_objects.h"

namespace rharness {

// What a pod asks for.
struct PodResources {
  int cpus = 1;
  int gpus = 0;
  std::uint64_t memory_mib = 0;  // 0: what the pod template says
  auto operator<=>(const PodResources&) const = default;
};

// What is known of one task, and for how long.
struct KubernetesTask {
  std::optional<KubernetesJob> job;     // none: the server has no such Job
  std::vector<KubernetesPod> pods;      // of this task alone
  std::vector<KubernetesEvent> events;  // of the Job and of these pods
  std::optional<KubernetesWorkload> workload;
  std::vector<KubernetesNode> nodes;  // none: not asked for, or not to be told
  PodResources needs;
  std::string image;       // that its pod is to have
  std::string disruption;  // why a pod of it had to go, when that was last seen
  bool claimed = false;    // `rharness rerun` took it up
  bool by_log = false;     // its pod shares no volume: see KubernetesOptions::evidence_in_log
  bool stopped = false;    // there is evidence, and it says that the run was stopped from outside
  std::chrono::nanoseconds since_ended{0};    // that there was first nothing of it that lives
  std::chrono::nanoseconds since_trouble{0};  // that its trouble was first seen
};

// What keeps a task from running on.
struct KubernetesTrouble {
  enum class Kind {
    kNone,
    kWaits,     // it will pass: others use what it needs
    kMayNever,  // it will not pass by itself, unless it does soon
    kNever,
    kHere,  // another try may go well
    kNode,  // another node may do
  };
  Kind kind = Kind::kNone;
  std::string name;  // the same as long as it is the same trouble: "image", "mount", ...
  std::string why;   // one sentence, in the server's words
};
KubernetesTrouble TroubleOf(const KubernetesTask& task);

// Whether something of it runs or may still run: a Job that waits, a pod that is not over.
bool IsLive(const KubernetesTask& task);

// The pod that tells most: one that lives, else the one that was made first, since those that come
// after it find the attempt claimed. nullptr where there is none.
const KubernetesPod* TellingPod(const KubernetesTask& task);

// "exceeded quota" by what others use, which they will give back; not by what is asked for alone.
bool IsQuotaInUse(std::string_view message);

// How a server's words are put: "REASON: MESSAGE", and " on NODE".
std::string ReasonAnd(const std::string& reason, const std::string& message);
std::string OnNode(const KubernetesPod& pod);

bool IsIn(std::string_view text, std::span<const std::string_view> list);
bool HasAnyOf(std::string_view text, std::span<const std::string_view> parts);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_TROUBLE_H_
