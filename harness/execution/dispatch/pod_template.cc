// Reading a site's template, and completing it for a rerun.
#include "harness/execution/dispatch/pod_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/base/files.h"
#include "harness/execution/launch/pod_launcher.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/node_variable.h"

namespace rharness {
namespace {

constexpr std::string_view kGpu = "nvidia.com/gpu";
constexpr std::string_view kGpuProduct = "nvidia.com/gpu.product";
constexpr std::string_view kQueueLabel = "kueue.x-k8s.io/queue-name";

Json MemberOr(const Json& json, std::string_view key, Json otherwise) {
  const Json* found = json.Find(key);
  return found == nullptr || found->IsNull() ? std::move(otherwise) : *found;
}

void SetIfMissing(Json* json, std::string_view key, Json value) {
  if (const Json* found = json->Find(key); found == nullptr || found->IsNull()) {
    json->Set(key, std::move(value));
  }
}

Json Strings(const std::vector<std::string>& texts) {
  Json array = Json::MakeArray();
  for (const std::string& text : texts) array.Append(text);
  return array;
}

Json Requirement(std::string_view key, std::string_view operation,
                 const std::vector<std::string>& values) {
  return Json::MakeObject({{"key", key}, {"operator", operation}, {"values", Strings(values)}});
}

// A node selector term with one more entry in one of its lists: terms are alternatives, entries of
// a term are combined.
void AddToTerm(Json* term, std::string_view list, const std::vector<Json>& requirements) {
  if (requirements.empty()) return;
  Json all = MemberOr(*term, list, Json::MakeArray());
  for (const Json& one : requirements) all.Append(one);
  term->Set(list, std::move(all));
}

void AddAffinity(Json* spec, const std::vector<Json>& labels, const std::vector<Json>& fields) {
  if (labels.empty() && fields.empty()) return;
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  Json affinity = MemberOr(*spec, "affinity", Json::MakeObject());
  Json node = MemberOr(affinity, "nodeAffinity", Json::MakeObject());
  Json required = MemberOr(node, kRequired, Json::MakeObject());
  Json old = MemberOr(required, "nodeSelectorTerms", Json::MakeArray());
  if (old.AsArray().empty()) old.Append(Json::MakeObject());
  Json terms = Json::MakeArray();
  for (Json term : old.AsArray()) {
    AddToTerm(&term, "matchExpressions", labels);
    AddToTerm(&term, "matchFields", fields);
    terms.Append(std::move(term));
  }
  required.Set("nodeSelectorTerms", std::move(terms));
  node.Set(kRequired, std::move(required));
  affinity.Set("nodeAffinity", std::move(node));
  spec->Set("affinity", std::move(affinity));
}

// Detects a lost node before the usual five minutes.
void AddTolerations(Json* spec) {
  Json tolerations = MemberOr(*spec, "tolerations", Json::MakeArray());
  for (const std::string_view key :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const bool told = std::ranges::any_of(tolerations.AsArray(), [&](const Json& one) {
      const std::string its = TextAt(one, {"key"});
      return its == key || its.empty();
    });
    if (told) continue;
    tolerations.Append(Json::MakeObject({{"key", key},
                                         {"operator", "Exists"},
                                         {"effect", "NoExecute"},
                                         {"tolerationSeconds", 30}}));
  }
  spec->Set("tolerations", std::move(tolerations));
}

void SetResources(Json* container, const PodResources& needs) {
  Json resources = MemberOr(*container, "resources", Json::MakeObject());
  for (const std::string_view part : {"requests", "limits"}) {
    Json amounts = MemberOr(resources, part, Json::MakeObject());
    amounts.Set("cpu", std::to_string(needs.cpus));
    if (needs.memory_mib > 0) amounts.Set("memory", fmt::format("{}Mi", needs.memory_mib));
    if (needs.gpus > 0) amounts.Set(kGpu, std::to_string(needs.gpus));
    resources.Set(part, std::move(amounts));
  }
  container->Set("resources", std::move(resources));
}

Json BuildContainer(const PodTemplate& pod, const PodNeeds& needs,
                    const std::vector<std::string>& command) {
  Json container = pod.container;
  container.Set("name", kContainerName);
  container.Set("image", needs.image);
  container.Set("command", Strings(command));
  SetResources(&container, needs.resources);
  Json context = MemberOr(container, "securityContext", Json::MakeObject());
  SetIfMissing(&context, "allowPrivilegeEscalation", false);
  container.Set("securityContext", std::move(context));
  // The end of its log comes with the pod's status, without a call for it.
  SetIfMissing(&container, "terminationMessagePolicy", "FallbackToLogsOnError");
  Json variables = MemberOr(container, "env", Json::MakeArray());
  const Json node = Json::MakeObject({{"fieldPath", "spec.nodeName"}});
  variables.Append(Json::MakeObject(
      {{"name", kNodeVariable}, {"valueFrom", Json::MakeObject({{"fieldRef", node}})}}));
  if (!needs.image_digest.empty()) {
    variables.Append(
        Json::MakeObject({{"name", kPodImageVariable}, {"value", needs.image_digest}}));
  }
  container.Set("env", std::move(variables));
  return container;
}

bool IsAtOrBelow(const std::filesystem::path& path, const std::filesystem::path& above) {
  const std::filesystem::path from = above.lexically_normal();
  const std::filesystem::path to = path.lexically_normal();
  const auto [end, rest] = std::mismatch(from.begin(), from.end(), to.begin(), to.end());
  return !from.empty() && (end == from.end() || end->empty());
}

bool SpeaksOfGpus(const Json& spec) {
  return spec.Dump().find(fmt::format("\"{}\"", kGpuProduct)) != std::string::npos;
}

}  // namespace

std::string PodTemplate::Image() const { return TextAt(container, {"image"}); }

std::string PodTemplate::Queue() const { return TextAt(job_labels, {kQueueLabel}); }

Result<PodTemplate> ParsePodTemplate(const Json& json, std::string_view file) {
  const std::string where(file);
  if (TextAt(json, {"kind"}) != "PodTemplate") {
    return InvalidInput("expected one object of kind PodTemplate (apiVersion: v1)", where);
  }
  const Json* spec = FindAt(json, {"template", "spec"});
  if (spec == nullptr || !spec->IsObject()) {
    return InvalidInput("expected an object: the spec of a pod", where + ": $.template.spec");
  }
  PodTemplate pod{.spec = *spec};
  const auto copy = [&](std::initializer_list<std::string_view> path, Json* to) {
    if (const Json* found = FindAt(json, path); found != nullptr) *to = *found;
  };
  copy({"metadata", "labels"}, &pod.job_labels);
  copy({"metadata", "annotations"}, &pod.job_annotations);
  copy({"template", "metadata", "labels"}, &pod.pod_labels);
  copy({"template", "metadata", "annotations"}, &pod.pod_annotations);
  if (const std::string groups = TextAt(pod.job_annotations, {kPodGroupsAnnotation});
      !groups.empty()) {
    const auto* known =
        std::ranges::find(kPodGroupNames, groups, &std::pair<PodGroups, std::string_view>::second);
    if (known == kPodGroupNames.end()) {
      return InvalidInput(
          fmt::format("'{}': expected none, volcano or scheduler-plugins", TerminalSafe(groups)),
          fmt::format("{}: $.metadata.annotations.{}", where, kPodGroupsAnnotation));
    }
    pod.groups = known->first;
  }
  const Json containers = MemberOr(*spec, "containers", Json::MakeArray());
  if (!containers.IsArray() || containers.AsArray().size() > 1) {
    return InvalidInput("expected one container, which is the rerun's",
                        where + ": $.template.spec.containers");
  }
  pod.container = containers.AsArray().empty() ? Json::MakeObject() : containers.AsArray()[0];
  for (const std::string_view ours : {"command", "args"}) {
    if (FindAt(pod.container, {ours}) == nullptr) continue;
    return InvalidInput("is given by rharness itself",
                        fmt::format("{}: $.template.spec.containers[0].{}", where, ours));
  }
  return pod;
}

Status RequireMounted(const PodTemplate& pod, std::string_view file,
                      const std::vector<std::filesystem::path>& paths) {
  const Json mounts = MemberOr(pod.container, "volumeMounts", Json::MakeArray());
  for (const std::filesystem::path& path : paths) {
    const bool mounted =
        mounts.IsArray() && std::ranges::any_of(mounts.AsArray(), [&](const Json& one) {
          return IsAtOrBelow(path, TextAt(one, {"mountPath"}));
        });
    if (mounted) continue;
    return InvalidInput(
        fmt::format(
            "mounts no volume at {} or above it, so that no pod would see it; expected one "
            "in template.spec.containers[0].volumeMounts, which this machine sees under the "
            "same path",
            path.string()),
        std::string(file));
  }
  return {};
}

Json BuildPodSpec(const PodTemplate& pod, const PodNeeds& needs,
                  const std::vector<std::string>& command, const std::set<std::string>& avoid) {
  Json spec = pod.spec;
  spec.Set("restartPolicy", "Never");
  spec.Set("activeDeadlineSeconds", needs.minutes * 60);
  SetIfMissing(&spec, "terminationGracePeriodSeconds", 30);
  SetIfMissing(&spec, "automountServiceAccountToken", false);
  SetIfMissing(&spec, "enableServiceLinks", false);
  AddTolerations(&spec);
  std::vector<Json> labels;
  if (needs.resources.gpus > 0 && !needs.gpu_model.empty() && !SpeaksOfGpus(pod.spec)) {
    labels.push_back(Requirement(kGpuProduct, "In", GpuProducts(needs.gpu_model)));
  }
  // Fields of nodes take one value each.
  std::vector<Json> fields;
  for (const std::string& node : avoid) {
    fields.push_back(Requirement("metadata.name", "NotIn", {node}));
  }
  AddAffinity(&spec, labels, fields);
  spec.Set("containers", Json::MakeArray({BuildContainer(pod, needs, command)}));
  return spec;
}

std::vector<std::string> GpuProducts(const std::string& model) {
  std::string name = model;
  std::ranges::replace(name, ' ', '-');
  constexpr std::string_view kVendor = "NVIDIA-";
  if (name.starts_with(kVendor)) return {name, name.substr(kVendor.size())};
  return {name, std::string(kVendor) + name};
}

}  // namespace rharness
