// Decides from Kubernetes' reports.
#include "harness/execution/dispatch/kubernetes_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "harness/base/files.h"

namespace rharness {
namespace {

using Kind = TaskDecision::Kind;
using Trouble = KubernetesTrouble;

// Exit codes of `rharness rerun` (harness/cli/verb_rerun.cc).
constexpr int kExitUsage = 2;
constexpr int kExitIntegrity = 5;
constexpr int kExitClaimed = 6;

// Why a pod ended, in the server's words.
std::string WhyEnded(const KubernetesPod& pod) {
  std::string why = ReasonAnd(pod.reason, pod.message);
  if (why.empty() && !pod.disruption.empty()) {
    why = ReasonAnd(pod.disruption, pod.disruption_message);
  }
  if (why.empty() || pod.reason == "Error") {
    std::string message = pod.container.message;
    while (!message.empty() && message.back() == '\n') message.pop_back();
    const std::string code =
        pod.container.exit_code ? fmt::format(" with exit code {}", *pod.container.exit_code) : "";
    why = fmt::format("{}{}{}", pod.container.ended.empty() ? pod.phase : pod.container.ended, code,
                      message.empty() ? "" : ": " + message);
  }
  return why;
}

// Ends of pods that are somebody's decision.
std::optional<TaskDecision> ByDisruption(const std::string& reason, const std::string& node,
                                         const std::string& why) {
  static constexpr std::array<std::string_view, 6> kPreempted = {"PreemptionByScheduler",
                                                                 "PreemptionByKubeScheduler",
                                                                 "EvictionByEvictionAPI",
                                                                 "Preempting",
                                                                 "Preempted",
                                                                 "Evicted"};
  static constexpr std::array<std::string_view, 9> kNode = {"DeletionByTaintManager",
                                                            "DeletionByPodGC",
                                                            "NodeLost",
                                                            "NodeAffinity",
                                                            "UnexpectedAdmissionError",
                                                            "NodeShutdown",
                                                            "Shutdown",
                                                            "Terminated",
                                                            "NodeGone"};
  const std::string on = node.empty() ? "" : " on " + node;
  if (IsIn(reason, kPreempted) || reason == "TerminationByKubelet") {
    return TaskDecision{Kind::kPreempted, fmt::format("Kubernetes ended its pod{} ({})", on, why),
                        ""};
  }
  if (IsIn(reason, kNode) || reason.starts_with("OutOf")) {
    return TaskDecision{Kind::kRetry, fmt::format("its node failed ({}{})", why, on), node};
  }
  return std::nullopt;
}

// What says by itself that no run took place.
std::optional<TaskDecision> NeverRan(const KubernetesPod& pod, const KubernetesTask& task) {
  const bool claimed = task.claimed;
  static constexpr std::array<std::string_view, 3> kCannotStart = {
      "StartError", "ContainerCannotRun", "ContainerCannotStart"};
  // The program's libraries are not those of the image.
  const bool foreign =
      pod.container.message.find("while loading shared libraries") != std::string::npos ||
      pod.container.message.find("GLIBC") != std::string::npos;
  if (IsIn(pod.container.ended, kCannotStart) || (foreign && !claimed)) {
    return TaskDecision{
        Kind::kRefused,
        fmt::format("rharness cannot be started in {}: {}", pod.name, WhyEnded(pod)), ""};
  }
  const int code = pod.container.exit_code.value_or(0);
  if (!claimed && (code == kExitUsage || code == kExitIntegrity)) {
    return TaskDecision{
        Kind::kRefused,
        fmt::format("{} {}: {}", pod.name,
                    task.by_log ? "does not take the ticket; expected its rharness to be of this "
                                  "version"
                                : "does not see the folder of the drill as this machine does",
                    WhyEnded(pod)),
        ""};
  }
  return std::nullopt;
}

// What is over, for no reason that Kubernetes gives.
TaskDecision DecideUntold(const KubernetesTask& task, const KubernetesPod* pod) {
  const bool twice = pod != nullptr && pod->container.exit_code == kExitClaimed;
  if (!task.job || task.pods.empty() || twice) {
    const std::string what = !task.job           ? "its Job"
                             : task.gone.empty() ? "its pod"
                                                 : "its pod " + task.gone;
    const std::string failed =
        task.job && task.job->failed
            ? fmt::format(" ({})", ReasonAnd(task.job->reason, task.job->message))
            : "";
    return {Kind::kRetry, fmt::format("{} is gone, which somebody deleted{}", what, failed), ""};
  }
  const std::string outcome = task.stopped ? "the run was stopped, but not by this drill"
                                           : "there is no evidence of the run";
  // A waiting replacement, or a terminating pod, says nothing about the one that ran.
  const bool replaced = !pod->IsOver() && (pod->phase == "Pending" || task.pods.size() > 1);
  if (task.stopped && (replaced || pod->leaving || !task.gone.empty())) {
    return {Kind::kRetry,
            fmt::format("its pod {}was deleted, and {}", task.gone.empty() ? "" : task.gone + " ",
                        outcome),
            ""};
  }
  return {Kind::kRetry,
          fmt::format("Kubernetes says {}{}, and {}", WhyEnded(*pod), OnNode(*pod), outcome), ""};
}

TaskDecision DecideEnded(const KubernetesTask& task) {
  const KubernetesPod* pod = TellingPod(task);
  if (pod != nullptr && pod->IsOver()) {
    if (auto decision = NeverRan(*pod, task)) return *decision;
  }
  if (!task.stopped && task.since_ended < kEvidenceLag) return {};
  const std::string node = pod == nullptr ? "" : pod->node;
  if (pod != nullptr) {
    for (const std::string& reason : {pod->disruption, pod->reason}) {
      if (auto decision = ByDisruption(reason, node, WhyEnded(*pod))) return *decision;
    }
    if (pod->container.ended == "OOMKilled") {
      return {Kind::kOutOfMemory,
              fmt::format("the container was killed out of memory{}", OnNode(*pod)), ""};
    }
  }
  if (auto decision = ByDisruption(task.disruption, node, task.disruption)) return *decision;
  if (task.job && task.job->suspended) {
    return {Kind::kPreempted,
            fmt::format("its Job was suspended{}", task.workload && !task.workload->evicted.empty()
                                                       ? ": " + task.workload->evicted
                                                       : ""),
            ""};
  }
  return DecideUntold(task, pod);
}

}  // namespace

TaskDecision DecideTask(const KubernetesTask& task) {
  // Stopped: its own word that nothing of it runs any more.
  if (task.stopped || !IsLive(task)) return DecideEnded(task);
  const Trouble trouble = TroubleOf(task);
  const bool lasts = task.since_trouble >= (trouble.name == "leaving" ? kLeavingLimit
                                            : trouble.name == "node"  ? kNodeLimit
                                                                      : kTroubleLimit);
  switch (trouble.kind) {
    case Trouble::Kind::kNone:
      return {};
    case Trouble::Kind::kWaits:
      return {Kind::kWait, trouble.why, ""};
    case Trouble::Kind::kNever:
      return {Kind::kRefused, trouble.why, ""};
    case Trouble::Kind::kMayNever:
      if (!lasts) return {};
      return {Kind::kRefused, trouble.why, ""};
    case Trouble::Kind::kHere:
    case Trouble::Kind::kNode:
      break;
  }
  if (!lasts) return {};
  return {Kind::kRetry, trouble.why, trouble.node};
}

bool IsServerTrouble(std::string_view kubectl_stderr) {
  static constexpr std::array<std::string_view, 24> kTrouble = {
      "Unable to connect to the server",
      "connection refused",
      "was refused - did you specify the right host",
      "connection reset",
      "i/o timeout",
      "TLS handshake timeout",
      "context deadline exceeded",
      "Client.Timeout exceeded",
      "unexpected EOF",
      ": EOF",
      "no route to host",
      "no such host",
      "etcdserver:",
      "(ServiceUnavailable)",
      "(Timeout)",
      "(ServerTimeout)",
      "(TooManyRequests)",
      "(InternalError)",
      "(Unauthorized)",
      "getting credentials",
      "currently unable to handle the request",
      "http2: client connection lost",
      "couldn't get current server API group list",
      "the server is shutting down"};
  return HasAnyOf(kubectl_stderr, kTrouble);
}

bool IsAlreadyThere(std::string_view kubectl_stderr) {
  bool any = false;
  while (!kubectl_stderr.empty()) {
    const auto end = kubectl_stderr.find('\n');
    const std::string_view line = kubectl_stderr.substr(0, end);
    kubectl_stderr.remove_prefix(end == line.npos ? kubectl_stderr.size() : end + 1);
    if (line.empty() || line.starts_with("Warning:")) continue;
    if (line.find("(AlreadyExists)") == line.npos) return false;
    any = true;
  }
  return any;
}

Result<KubernetesVersion> ParseKubernetesVersion(const Json& json) {
  // "1" and "27+", as some vendors write it.
  const auto number = [&](std::string_view key) {
    const std::string text = TextAt(json, {"serverVersion", key});
    int value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  const KubernetesVersion version{number("major"), number("minor")};
  if (version.major >= 1 && version.minor >= 0) return version;
  return InvalidInput("expected serverVersion with major and minor; found " +
                          TerminalSafe(json.Dump().substr(0, 200)),
                      "kubectl version");
}

}  // namespace rharness
