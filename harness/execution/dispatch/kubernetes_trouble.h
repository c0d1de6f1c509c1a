// What blocks a task, from Kubernetes' messages. Pure.
//
// Sources: kubernetes.io/docs, "Debug Pods", "Assigning Pods to Nodes" and "Resource Quotas";
// kueue.sigs.k8s.io/docs, "Troubleshooting Jobs". Knows the messages of servers 1.20 to 1.30; an
// unknown message is no trouble.
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
  std::uint64_t memory_mib = 0;  // 0: from the pod template
  auto operator<=>(const PodResources&) const = default;
};

// What is known of one task, and for how long.
struct KubernetesTask {
  std::optional<KubernetesJob> job;     // none: the server has no such Job
  std::vector<KubernetesPod> pods;      // of this task alone
  std::vector<KubernetesEvent> events;  // of the Job and of these pods
  std::optional<KubernetesWorkload> workload;
  std::vector<KubernetesNode> nodes;  // none: not queried, or not readable
  PodResources needs;
  std::size_t wanted = 1;  // pods that run together
  std::string gone;        // the pods of a gang that went first, as far as seen: "NAME on NODE"
  std::string image;       // that its pod is to have
  std::string disruption;  // why a pod of it had to go, when last seen
  bool claimed = false;    // `rharness rerun` started it
  bool by_log = false;     // its pod shares no volume: see KubernetesOptions::evidence_in_log
  bool stopped = false;    // its evidence says that the run was stopped from outside
  std::chrono::nanoseconds since_ended{0};    // since nothing of it was first seen alive
  std::chrono::nanoseconds since_trouble{0};  // since its trouble was first seen
};

// What keeps a task from running on.
struct KubernetesTrouble {
  enum class Kind {
    kNone,
    kWaits,     // it will pass: others use the resources that it needs
    kMayNever,  // it may pass soon, else never by itself
    kNever,
    kHere,  // another try may go well
    kNode,  // another node may do
  };
  Kind kind = Kind::kNone;
  std::string name;       // equal as long as the trouble is the same: "image", "mount", ...
  std::string why;        // one sentence, with the server's message
  std::string node = {};  // of kNode
};
KubernetesTrouble TroubleOf(const KubernetesTask& task);

// Whether a part of it runs or may still run: a waiting Job, an unfinished pod.
bool IsLive(const KubernetesTask& task);

// The most informative pod: a live one, else one that failed, else the one made first, since later
// ones find the attempt claimed. nullptr if there is none.
const KubernetesPod* TellingPod(const KubernetesTask& task);

// "exceeded quota" because of others' use, which will end; not because of the request alone.
bool IsQuotaInUse(std::string_view message);

// The format of a server's message: "REASON: MESSAGE", and " on NODE".
std::string ReasonAnd(const std::string& reason, const std::string& message);
std::string OnNode(const KubernetesPod& pod);

bool IsIn(std::string_view text, std::span<const std::string_view> list);
bool HasAnyOf(std::string_view text, std::span<const std::string_view> parts);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_KUBERNETES_TROUBLE_H_
