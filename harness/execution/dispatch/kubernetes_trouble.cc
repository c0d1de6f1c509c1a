// Reads the complaints of a scheduler, a kubelet, a quota or Kueue.
#include "harness/execution/dispatch/kubernetes_trouble.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <tuple>
#include <utility>

namespace rharness {
namespace {

using Trouble = KubernetesTrouble;

// The latest event with this reason; nullptr if there is none.
const KubernetesEvent* EventOf(const KubernetesTask& task, std::string_view object,
                               std::string_view reason) {
  const KubernetesEvent* found = nullptr;
  for (const KubernetesEvent& event : task.events) {
    if (event.object != object || event.reason != reason) continue;
    if (found == nullptr || event.time > found->time) found = &event;
  }
  return found;
}

// Number of nodes too small for this, even when empty.
int NodesTooSmall(const KubernetesTask& task, std::string_view resource) {
  const PodResources& needs = task.needs;
  return static_cast<int>(std::ranges::count_if(task.nodes, [&](const KubernetesNode& node) {
    if (resource == "cpu") return node.cpus < needs.cpus;
    if (resource == "memory") {
      return node.memory_bytes < static_cast<double>(needs.memory_mib) * 1048576.0;
    }
    return resource == "nvidia.com/gpu" && node.gpus < needs.gpus;
  }));
}

// "2 Insufficient cpu": whether these nodes stay insufficient when others' pods are gone.
bool IsLasting(const KubernetesTask& task, std::string_view reason) {
  static constexpr std::array<std::string_view, 4> kLasting = {
      "didn't match", "had volume node affinity conflict", "had taint", "untolerated taint"};
  // Taints that the control plane sets and removes by itself.
  if (reason.find("node.kubernetes.io/") != reason.npos) return false;
  if (HasAnyOf(reason, kLasting)) return true;
  constexpr std::string_view kInsufficient = "Insufficient ";
  const auto at = reason.find(kInsufficient);
  int nodes = 0;
  std::from_chars(reason.data(), reason.data() + reason.size(), nodes);
  if (at == reason.npos || nodes == 0) return false;
  std::string_view resource = reason.substr(at + kInsufficient.size());
  resource = resource.substr(0, resource.find_first_of(",; "));
  while (resource.ends_with('.')) resource.remove_suffix(1);
  return NodesTooSmall(task, resource) >= nodes;
}

// Of "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had taint {a: b}, that the pod didn't
// tolerate.", whether each of the reasons lasts.
bool FitsNowhere(const KubernetesTask& task, std::string_view message) {
  const auto begin = message.find("nodes are available: ");
  if (begin == message.npos) return message.find("no nodes available") != message.npos;
  message.remove_prefix(begin + std::string_view("nodes are available: ").size());
  message = message.substr(0, message.find(" preemption: "));
  while (!message.empty()) {
    std::size_t end = 0;
    do {  // a reason may contain commas; the next one begins with a number
      end = message.find(", ", end);
      if (end == message.npos) break;
      end += 2;
    } while (end < message.size() && (message[end] < '0' || message[end] > '9'));
    if (!IsLasting(task, message.substr(0, end))) return false;
    message = end == message.npos ? std::string_view() : message.substr(end);
  }
  return true;
}

Trouble TroubleOfScheduling(const KubernetesTask& task, const KubernetesPod& pod) {
  const std::string why =
      fmt::format("the scheduler finds no node for {}: {}", pod.name, pod.unschedulable);
  // An autoscaler has been seen to make room.
  if (EventOf(task, pod.name, "TriggeredScaleUp") != nullptr ||
      EventOf(task, pod.name, "Nominated") != nullptr) {
    return {Trouble::Kind::kWaits, "nodes", why};
  }
  const bool claim = pod.unschedulable.find("persistentvolumeclaim") != std::string::npos &&
                     pod.unschedulable.find("not found") != std::string::npos;
  if (claim || FitsNowhere(task, pod.unschedulable)) {
    return {Trouble::Kind::kMayNever, "unschedulable", why};
  }
  return {Trouble::Kind::kWaits, "nodes", why};
}

Trouble TroubleOfImage(const KubernetesPod& pod) {
  static constexpr std::array<std::string_view, 10> kGone = {
      "not found",    "manifest unknown", "does not exist", "denied",
      "nauthorized",  "no match for",     "authentication", "is not present with",
      "InvalidImage", "invalid reference"};
  const KubernetesContainer& container = pod.container;
  const bool gone = container.waiting == "InvalidImageName" ||
                    container.waiting == "ErrImageNeverPull" || HasAnyOf(container.message, kGone);
  return {gone ? Trouble::Kind::kMayNever : Trouble::Kind::kHere, "image",
          fmt::format("{} is not available{}: {}", pod.image, OnNode(pod),
                      ReasonAnd(container.waiting, container.message))};
}

Trouble TroubleOfContainer(const KubernetesTask& task, const KubernetesPod& pod) {
  static constexpr std::array<std::string_view, 6> kImage = {
      "ErrImagePull",      "ImagePullBackOff",  "InvalidImageName",
      "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable"};
  static constexpr std::array<std::string_view, 4> kConfig = {
      "CreateContainerConfigError", "CreateContainerError", "RunContainerError",
      "CrashLoopBackOff"};
  const KubernetesContainer& container = pod.container;
  if (IsIn(container.waiting, kImage)) return TroubleOfImage(pod);
  if (IsIn(container.waiting, kConfig)) {
    return {Trouble::Kind::kMayNever, "container",
            fmt::format("the container of {} cannot be made{}: {}", pod.name, OnNode(pod),
                        ReasonAnd(container.waiting, container.message))};
  }
  if (pod.phase != "Pending") return {};
  for (const std::string_view reason :
       {"FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "FailedMapVolume"}) {
    const KubernetesEvent* event = EventOf(task, pod.name, reason);
    if (event == nullptr) continue;
    return {Trouble::Kind::kNode, "mount",
            fmt::format("{} cannot be made ready{}: {}: {}", pod.name, OnNode(pod), reason,
                        event->message)};
  }
  return {};
}

// This user may not be allowed to see nodes; for a running pod the control plane reports it anyway.
Trouble TroubleOfNode(const KubernetesTask& task, const KubernetesPod& pod) {
  if (pod.node.empty()) return {};
  const auto node = std::ranges::find(task.nodes, pod.node, &KubernetesNode::name);
  const bool gone = !task.nodes.empty() && node == task.nodes.end();
  const std::string silence = node == task.nodes.end() ? "" : node->silence;
  if (!gone && silence.empty() && !pod.unready) return {};
  return {Trouble::Kind::kNode, "node",
          fmt::format("its node {}{}: {}", gone ? "is gone" : "does not answer", OnNode(pod),
                      silence.empty() ? "the pod is not ready, and was not told to end" : silence)};
}

// A quota smaller than the request itself: "exceeded quota: small, requested:
// requests.cpu=4,pods=1, used: ..., limited: requests.cpu=2".
bool AsksForMoreThanQuota(std::string_view message) {
  const auto part = [&](std::string_view name) {
    const auto at = message.find(name);
    if (at == message.npos) return std::string_view();
    const std::string_view rest = message.substr(at + name.size());
    return rest.substr(0, rest.find(", "));
  };
  const auto amount = [](std::string_view list, std::string_view resource) {
    for (std::size_t at = 0; at < list.size();) {
      const std::string_view one = list.substr(at, list.find(',', at) - at);
      const auto equals = one.find('=');
      if (equals != one.npos && one.substr(0, equals) == resource) {
        return ParseQuantity(one.substr(equals + 1));
      }
      at += one.size() + 1;
    }
    return std::optional<double>();
  };
  const std::string_view limited = part("limited: ");
  const std::string_view requested = part("requested: ");
  for (std::size_t at = 0; at < limited.size();) {
    const std::string_view one = limited.substr(at, limited.find(',', at) - at);
    const std::string_view resource = one.substr(0, one.find('='));
    const auto most = amount(limited, resource);
    const auto asked = amount(requested, resource);
    if (most && asked && *asked > *most) return true;
    at += one.size() + 1;
  }
  return false;
}

// A Job without any pod.
Trouble TroubleOfCreation(const KubernetesTask& task) {
  const KubernetesEvent* event = EventOf(task, task.job->name, "FailedCreate");
  if (event == nullptr) return {};
  const std::string why =
      fmt::format("no pod of {} can be made: {}", task.job->name, event->message);
  if (IsQuotaInUse(event->message)) return {Trouble::Kind::kWaits, "quota", why};
  return {Trouble::Kind::kMayNever, "create", why};
}

// A Job that is suspended, and was never started: Kueue starts it.
Trouble TroubleOfQueue(const KubernetesTask& task) {
  if (!task.workload || task.workload->reserved || task.workload->message.empty()) return {};
  const std::string& message = task.workload->message;
  const auto count = [&](std::string_view part) {
    int found = 0;
    for (auto at = message.find(part); at != message.npos; at = message.find(part, at + 1)) ++found;
    return found;
  };
  const std::string why = fmt::format("Kueue does not admit {}: {}", task.job->name, message);
  const int flavors = count("insufficient ");
  const bool too_large = flavors > 0 && count("> maximum capacity") == flavors;
  if (too_large || count("doesn't exist") > 0) return {Trouble::Kind::kMayNever, "queue", why};
  return {Trouble::Kind::kWaits, "queue", why};
}

Trouble TroubleOfImageChange(const KubernetesTask& task, const KubernetesPod& pod) {
  return {Trouble::Kind::kNever, "changed",
          fmt::format("the cluster has {} run {}, not {}", pod.name, pod.image, task.image)};
}

Trouble TroubleOfLivePod(const KubernetesTask& task, const KubernetesPod& pod) {
  if (!task.image.empty() && !pod.image.empty() && pod.image != task.image) {
    return TroubleOfImageChange(task, pod);
  }
  if (pod.leaving) {
    return {Trouble::Kind::kNode, "leaving",
            fmt::format("its pod was told to end, and its node does not say that it has ({}{})",
                        pod.disruption.empty() ? pod.phase
                                               : ReasonAnd(pod.disruption, pod.disruption_message),
                        OnNode(pod))};
  }
  if (auto trouble = TroubleOfNode(task, pod); trouble.kind != Trouble::Kind::kNone) {
    return trouble;
  }
  if (pod.node.empty()) {
    return pod.unschedulable.empty() ? Trouble() : TroubleOfScheduling(task, pod);
  }
  return TroubleOfContainer(task, pod);
}

Trouble TroubleOfPod(const KubernetesTask& task, const KubernetesPod& pod) {
  Trouble trouble = TroubleOfLivePod(task, pod);
  if (trouble.kind == Trouble::Kind::kNode) trouble.node = pod.node;
  return trouble;
}

}  // namespace

bool IsIn(std::string_view text, std::span<const std::string_view> list) {
  return std::ranges::find(list, text) != list.end();
}

bool HasAnyOf(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts,
                             [&](std::string_view one) { return text.find(one) != text.npos; });
}

bool IsQuotaInUse(std::string_view message) {
  return message.find("exceeded quota") != message.npos && !AsksForMoreThanQuota(message);
}

std::string OnNode(const KubernetesPod& pod) { return pod.node.empty() ? "" : " on " + pod.node; }

std::string ReasonAnd(const std::string& reason, const std::string& message) {
  if (message.empty()) return reason;
  return reason.empty() ? message : reason + ": " + message;
}

const KubernetesPod* TellingPod(const KubernetesTask& task) {
  const KubernetesPod* found = nullptr;
  for (const KubernetesPod& pod : task.pods) {
    const auto rank = [](const KubernetesPod& one) {
      return std::tuple(one.IsOver(), one.phase == "Succeeded", one.leaving);
    };
    if (found == nullptr || rank(pod) < rank(*found) ||
        (rank(pod) == rank(*found) && pod.created < found->created)) {
      found = &pod;
    }
  }
  return found;
}

bool IsLive(const KubernetesTask& task) {
  if (std::ranges::any_of(task.pods, [](const KubernetesPod& pod) { return !pod.IsOver(); })) {
    return true;
  }
  if (!task.job || !task.pods.empty()) return false;
  // A started attempt has had its pod; a second pod would find it claimed.
  return !task.job->failed && !task.job->complete && !task.claimed;
}

KubernetesTrouble TroubleOf(const KubernetesTask& task) {
  if (!IsLive(task)) return {};
  const KubernetesPod* pod = TellingPod(task);
  if (pod == nullptr) {
    return task.job->suspended ? TroubleOfQueue(task) : TroubleOfCreation(task);
  }
  if (task.wanted == 1) return TroubleOfPod(task, *pod);
  // A gang runs with all its pods or not at all.
  for (const KubernetesPod& one : task.pods) {
    if (one.IsOver()) continue;
    auto trouble = TroubleOfPod(task, one);
    if (trouble.kind == Trouble::Kind::kNone) continue;
    if (one.node.empty()) {
      trouble.why = fmt::format("the run needs {} nodes, and {}", task.wanted, trouble.why);
    }
    return trouble;
  }
  return task.job && task.pods.size() < task.wanted ? TroubleOfCreation(task) : Trouble();
}

}  // namespace rharness
