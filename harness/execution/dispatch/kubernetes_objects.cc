// Reading the JSON of kubectl.
#include "harness/execution/dispatch/kubernetes_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "harness/base/files.h"

namespace rharness {
namespace {

// A server's text is shown on terminals and pages.
std::string Said(const Json& json, std::initializer_list<std::string_view> path) {
  return TerminalSafe(TextAt(json, path));
}

const Json::Array& ElementsAt(const Json& json, std::initializer_list<std::string_view> path) {
  static const Json::Array none;
  const Json* array = FindAt(json, path);
  return array != nullptr && array->IsArray() ? array->AsArray() : none;
}

bool IsTrue(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* value = FindAt(json, path);
  return value != nullptr && value->kind() == Json::Kind::kBool && value->AsBool();
}

const Json* ElementNamed(const Json::Array& elements, std::string_view key,
                         std::string_view value) {
  const auto found =
      std::ranges::find_if(elements, [&](const Json& one) { return TextAt(one, {key}) == value; });
  return found == elements.end() ? nullptr : &*found;
}

// A condition that is "True" or, on request, one that is not.
const Json* Condition(const Json& object, std::string_view type, std::string_view status) {
  const Json* found = ElementNamed(ElementsAt(object, {"status", "conditions"}), "type", type);
  return found != nullptr && TextAt(*found, {"status"}) == status ? found : nullptr;
}

KubernetesJob ReadJob(const Json& object) {
  KubernetesJob job{.name = TextAt(object, {"metadata", "name"}),
                    .uid = TextAt(object, {"metadata", "uid"}),
                    .suspended = IsTrue(object, {"spec", "suspend"})};
  job.complete = Condition(object, "Complete", "True") != nullptr;
  if (const Json* failed = Condition(object, "Failed", "True"); failed != nullptr) {
    job.failed = true;
    job.reason = Said(*failed, {"reason"});
    job.message = Said(*failed, {"message"});
  }
  return job;
}

void ReadContainerState(const Json& status, KubernetesContainer* container) {
  container->running = FindAt(status, {"state", "running"}) != nullptr;
  if (const Json* waiting = FindAt(status, {"state", "waiting"}); waiting != nullptr) {
    container->waiting = Said(*waiting, {"reason"});
    container->message = Said(*waiting, {"message"});
  }
  if (const Json* ended = FindAt(status, {"state", "terminated"}); ended != nullptr) {
    container->ended = Said(*ended, {"reason"});
    container->message = Said(*ended, {"message"});
    if (const Json* code = ended->Find("exitCode"); code != nullptr && code->ToInt64()) {
      container->exit_code = static_cast<int>(*code->ToInt64());
    }
  }
}

// An init container that cannot start blocks ours.
KubernetesContainer ReadContainer(const Json& object) {
  KubernetesContainer container;
  for (const Json& status : ElementsAt(object, {"status", "initContainerStatuses"})) {
    KubernetesContainer init;
    ReadContainerState(status, &init);
    if (!init.waiting.empty() && init.waiting != "PodInitializing") return init;
  }
  const Json* status =
      ElementNamed(ElementsAt(object, {"status", "containerStatuses"}), "name", kContainerName);
  if (status != nullptr) ReadContainerState(*status, &container);
  return container;
}

KubernetesPod ReadPod(const Json& object) {
  KubernetesPod pod{.name = TextAt(object, {"metadata", "name"}),
                    .job = TextAt(object, {"metadata", "labels", "batch.kubernetes.io/job-name"}),
                    .index = TextAt(object, {"metadata", "labels", kIndexLabel}),
                    .created = TextAt(object, {"metadata", "creationTimestamp"}),
                    .node = Said(object, {"spec", "nodeName"}),
                    .phase = Said(object, {"status", "phase"}),
                    .reason = Said(object, {"status", "reason"}),
                    .message = Said(object, {"status", "message"}),
                    .leaving = FindAt(object, {"metadata", "deletionTimestamp"}) != nullptr,
                    .container = ReadContainer(object)};
  if (pod.job.empty()) pod.job = TextAt(object, {"metadata", "labels", "job-name"});
  if (pod.index.empty()) {
    pod.index =
        TextAt(object, {"metadata", "annotations", "batch.kubernetes.io/job-completion-index"});
  }
  const Json* container =
      ElementNamed(ElementsAt(object, {"spec", "containers"}), "name", kContainerName);
  if (container != nullptr) pod.image = Said(*container, {"image"});
  // A container without a readiness probe is ready while it runs, unless the control plane reports
  // otherwise.
  pod.unready = pod.phase == "Running" && pod.container.running &&
                Condition(object, "Ready", "False") != nullptr;
  if (const Json* scheduled = Condition(object, "PodScheduled", "False"); scheduled != nullptr) {
    if (TextAt(*scheduled, {"reason"}) == "Unschedulable") {
      pod.unschedulable = Said(*scheduled, {"message"});
    }
  }
  for (const std::string_view type : {"DisruptionTarget", "TerminationTarget"}) {
    const Json* target = Condition(object, type, "True");
    if (target == nullptr) continue;
    pod.disruption = Said(*target, {"reason"});
    pod.disruption_message = Said(*target, {"message"});
    break;
  }
  return pod;
}

KubernetesEvent ReadEvent(const Json& object) {
  KubernetesEvent event{.object = TextAt(object, {"involvedObject", "name"}),
                        .reason = TextAt(object, {"reason"}),
                        .message = Said(object, {"message"}),
                        .time = TextAt(object, {"lastTimestamp"})};
  if (event.time.empty()) event.time = TextAt(object, {"eventTime"});
  return event;
}

KubernetesWorkload ReadWorkload(const Json& object) {
  KubernetesWorkload workload;
  for (const Json& owner : ElementsAt(object, {"metadata", "ownerReferences"})) {
    if (TextAt(owner, {"kind"}) == "Job") workload.job = TextAt(owner, {"name"});
  }
  workload.reserved = Condition(object, "QuotaReserved", "True") != nullptr;
  if (const Json* waits = Condition(object, "QuotaReserved", "False"); waits != nullptr) {
    workload.reason = Said(*waits, {"reason"});
    workload.message = Said(*waits, {"message"});
  }
  for (const std::string_view type : {"Preempted", "Evicted"}) {
    const Json* gone = Condition(object, type, "True");
    if (gone != nullptr && workload.evicted.empty()) workload.evicted = Said(*gone, {"message"});
  }
  return workload;
}

KubernetesNode ReadNode(const Json& object) {
  const auto amount = [&](std::string_view resource) {
    const Json* value = FindAt(object, {"status", "allocatable", resource});
    if (value == nullptr) return 0.0;
    if (value->kind() == Json::Kind::kString) return ParseQuantity(value->AsString()).value_or(0.0);
    return value->ToDouble().value_or(0.0);
  };
  std::string silence;
  for (const std::string_view status : {"False", "Unknown"}) {
    const Json* ready = Condition(object, "Ready", status);
    if (ready != nullptr) silence = Said(*ready, {"reason"}) + ": " + Said(*ready, {"message"});
  }
  return {.name = TextAt(object, {"metadata", "name"}),
          .silence = std::move(silence),
          .cpus = amount("cpu"),
          .memory_bytes = amount("memory"),
          .gpus = amount("nvidia.com/gpu")};
}

// Names are shown, and become arguments of kubectl.
bool IsObjectName(std::string_view name) {
  constexpr std::size_t kLongest = 253;
  return !name.empty() && name.size() <= kLongest && name[0] != '-' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == name.npos;
}

}  // namespace

const Json* FindAt(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* at = &json;
  for (const std::string_view name : path) {
    at = at->Find(name);
    if (at == nullptr || at->IsNull()) return nullptr;
  }
  return at;
}

std::string TextAt(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* at = FindAt(json, path);
  return at != nullptr && at->kind() == Json::Kind::kString ? at->AsString() : "";
}

std::optional<double> ParseQuantity(std::string_view text) {
  struct Suffix {
    std::string_view name;
    double factor;
  };
  static constexpr std::array<Suffix, 15> kSuffixes = {{{"", 1.0},
                                                        {"m", 1e-3},
                                                        {"u", 1e-6},
                                                        {"n", 1e-9},
                                                        {"k", 1e3},
                                                        {"M", 1e6},
                                                        {"G", 1e9},
                                                        {"T", 1e12},
                                                        {"P", 1e15},
                                                        {"Ki", 1024.0},
                                                        {"Mi", 1048576.0},
                                                        {"Gi", 1073741824.0},
                                                        {"Ti", 1099511627776.0},
                                                        {"Pi", 1125899906842624.0},
                                                        {"E", 1e18}}};
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  const auto found = std::ranges::find(kSuffixes, suffix, &Suffix::name);
  if (found == kSuffixes.end()) return std::nullopt;
  return number * found->factor;
}

Status AddKubernetesObjects(const Json& json, std::string_view file, KubernetesObjects* objects) {
  if (json.Find("items") != nullptr) {
    for (const Json& item : ElementsAt(json, {"items"})) {
      RETURN_IF_ERROR(AddKubernetesObjects(item, file, objects));
    }
    return {};
  }
  const std::string kind = TextAt(json, {"kind"});
  if (kind.empty() || !IsObjectName(TextAt(json, {"metadata", "name"}))) {
    return InvalidInput(fmt::format("expected objects with a kind and a name; found {}",
                                    TerminalSafe(json.Dump().substr(0, 80))),
                        std::string(file));
  }
  if (kind == "Job") {
    KubernetesJob job = ReadJob(json);
    objects->jobs[job.name] = std::move(job);
  } else if (kind == "Pod") {
    objects->pods.push_back(ReadPod(json));
  } else if (kind == "Event") {
    objects->events.push_back(ReadEvent(json));
  } else if (kind == "Workload") {
    objects->workloads.push_back(ReadWorkload(json));
  } else if (kind == "Node") {
    objects->nodes.push_back(ReadNode(json));
  }
  return {};
}

}  // namespace rharness
