// Building the objects that the server is handed.
#include "harness/execution/dispatch/kubernetes_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/glob.h"
#include "harness/execution/dispatch/job_margins.h"
#include "harness/execution/launch/image_reference.h"
#include "harness/execution/rerun/rendezvous.h"

namespace rharness {
namespace {

// "$(NAME)" in a command is a variable's value; "$$(NAME)" is these characters. Source: API
// reference, Container, "command".
std::string Literal(std::string text) {
  for (auto at = text.find("$("); at != std::string::npos; at = text.find("$(", at + 3)) {
    text.insert(at, 1, '$');
  }
  return text;
}

// Where a pod that shares no volume has its ticket, and its folder.
constexpr std::string_view kTicketPlace = "/rharness/ticket";
constexpr std::string_view kOutPlace = "/rharness/out";
constexpr std::string_view kTicketFile = "ticket.json";
// Of a Secret, by the server; names and labels count, too. Source: API reference, Secret.
constexpr std::size_t kMostSecretBytes = (1U << 20U) - (8U << 10U);

std::vector<std::string> RerunCommand(const KubernetesOptions& options,
                                      const KubernetesBatch& batch, const std::string& index) {
  if (options.evidence_in_log) {
    return {Literal(options.program.string()),
            "rerun",
            fmt::format("{}/{}", kTicketPlace, kTicketFile),
            "--out",
            fmt::format("{}/rerun", kOutPlace),
            "--to-log"};
  }
  const std::string task = Literal(batch.folder.string()) + "/" + index;
  std::vector<std::string> command = {Literal(options.program.string()), "rerun",
                                      task + "/ticket.json", "--out", task + "/out"};
  if (batch.needs.nodes > 1) {
    command.insert(command.end(), {"--node", batch.numbered ? "step" : "next"});
  }
  return command;
}

// All pods of a gang: none is replaced, and one that fails ends all.
void AddNodes(const KubernetesBatch& batch, Json* spec) {
  if (batch.needs.nodes > 1 && batch.numbered) spec->Set("completionMode", "Indexed");
  spec->Set("completions", batch.needs.nodes);
  spec->Set("parallelism", batch.needs.nodes);
  spec->Set("backoffLimit", 0);
}

// With indexes: each that fails has failed, for good, and the others go on; and a pod that somebody
// deleted is not replaced while it is still there.
void AddIndexes(std::size_t count, Json* spec) {
  const Json not_zero = Json::MakeObject({{"operator", "NotIn"}, {"values", Json::MakeArray({0})}});
  const Json disrupted = Json::MakeObject({{"type", "DisruptionTarget"}, {"status", "True"}});
  const Json by_code = Json::MakeObject({{"action", "FailIndex"}, {"onExitCodes", not_zero}});
  const Json by_condition = Json::MakeObject(
      {{"action", "FailIndex"}, {"onPodConditions", Json::MakeArray({disrupted})}});
  spec->Set("completionMode", "Indexed");
  spec->Set("completions", count);
  spec->Set("parallelism", count);
  spec->Set("backoffLimitPerIndex", 0);
  spec->Set("podReplacementPolicy", "Failed");
  spec->Set("podFailurePolicy",
            Json::MakeObject({{"rules", Json::MakeArray({by_code, by_condition})}}));
}

Json Labels(const Json& given, const std::vector<std::pair<std::string_view, std::string>>& ours) {
  Json labels = given.IsObject() ? given : Json::MakeObject();
  for (const auto& [name, value] : ours) labels.Set(name, value);
  return labels;
}

Json Metadata(Json labels, const Json& annotations) {
  Json metadata = Json::MakeObject({{"labels", std::move(labels)}});
  if (annotations.IsObject()) metadata.Set("annotations", annotations);
  return metadata;
}

void Append(Json* object, std::string_view list, Json one) {
  const Json* found = object->Find(list);
  Json all = found != nullptr && found->IsArray() ? *found : Json::MakeArray();
  all.Append(std::move(one));
  object->Set(list, std::move(all));
}

// No two pods with these labels on one node: a node of the record is one here.
void KeepApart(Json labels, Json* spec) {
  const Json* given = spec->Find("affinity");
  Json affinity = given != nullptr && given->IsObject() ? *given : Json::MakeObject();
  const Json* old = affinity.Find("podAntiAffinity");
  Json apart = old != nullptr && old->IsObject() ? *old : Json::MakeObject();
  Append(
      &apart, "requiredDuringSchedulingIgnoredDuringExecution",
      Json::MakeObject({{"labelSelector", Json::MakeObject({{"matchLabels", std::move(labels)}})},
                        {"topologyKey", "kubernetes.io/hostname"}}));
  affinity.Set("podAntiAffinity", std::move(apart));
  spec->Set("affinity", std::move(affinity));
}

// By which pods of a gang find each other, also before they are ready.
Json BuildService(const std::string& name, Json labels) {
  Json spec = Json::MakeObject(
      {{"clusterIP", "None"}, {"publishNotReadyAddresses", true}, {"selector", labels}});
  return Json::MakeObject(
      {{"apiVersion", "v1"},
       {"kind", "Service"},
       {"metadata", Json::MakeObject({{"name", name}, {"labels", std::move(labels)}})},
       {"spec", std::move(spec)}});
}

void JoinService(const std::string& name, Json* spec) {
  spec->Set("subdomain", name);
  Json container = spec->Find("containers")->AsArray()[0];
  Append(&container, "env", Json::MakeObject({{"name", kServiceVariable}, {"value", name}}));
  spec->Set("containers", Json::MakeArray({std::move(container)}));
}

constexpr std::string_view kPodGroup = "PodGroup";
constexpr std::string_view kVolcanoGroup = "scheduling.volcano.sh";
constexpr std::string_view kPluginsGroup = "scheduling.x-k8s.io";

// Sources: Volcano, config/crd/volcano/bases/scheduling.volcano.sh_podgroups.yaml, and the
// annotations of its pods and queues; kubernetes-sigs/scheduler-plugins,
// manifests/coscheduling/crd.yaml, and doc/coscheduling.
Json BuildPodGroup(const PodTemplate& pod, const std::string& name, Json labels, int nodes) {
  const bool volcano = pod.groups == PodGroups::kVolcano;
  Json spec = Json::MakeObject({{"minMember", nodes}});
  const std::string queue = TextAt(pod.pod_annotations, {"scheduling.volcano.sh/queue-name"});
  if (volcano && !queue.empty()) spec.Set("queue", queue);
  return Json::MakeObject(
      {{"apiVersion", volcano ? fmt::format("{}/v1beta1", kVolcanoGroup)
                              : fmt::format("{}/v1alpha1", kPluginsGroup)},
       {"kind", kPodGroup},
       {"metadata", Json::MakeObject({{"name", name}, {"labels", std::move(labels)}})},
       {"spec", std::move(spec)}});
}

// The scheduler of scheduler-plugins has the name that its site gave it.
void JoinPodGroup(PodGroups groups, const std::string& name, Json* metadata, Json* spec) {
  const bool volcano = groups == PodGroups::kVolcano;
  const std::string_view list = volcano ? "annotations" : "labels";
  const Json* found = metadata->Find(list);
  Json named = found != nullptr ? *found : Json::MakeObject();
  named.Set(volcano ? "scheduling.k8s.io/group-name" : "scheduling.x-k8s.io/pod-group", name);
  metadata->Set(list, std::move(named));
  if (volcano && spec->Find("schedulerName") == nullptr) spec->Set("schedulerName", "volcano");
}

// The ticket's Secret, and a folder that goes with the pod.
void AddTicketVolumes(const std::string& secret, Json* spec) {
  Append(spec, "volumes",
         Json::MakeObject({{"name", "rharness-ticket"},
                           {"secret", Json::MakeObject({{"secretName", secret}})}}));
  Append(spec, "volumes",
         Json::MakeObject({{"name", "rharness-out"}, {"emptyDir", Json::MakeObject()}}));
  Json container = spec->Find("containers")->AsArray()[0];
  Append(&container, "volumeMounts",
         Json::MakeObject(
             {{"name", "rharness-ticket"}, {"mountPath", kTicketPlace}, {"readOnly", true}}));
  Append(&container, "volumeMounts",
         Json::MakeObject({{"name", "rharness-out"}, {"mountPath", kOutPlace}}));
  spec->Set("containers", Json::MakeArray({std::move(container)}));
}

// Tickets have variables that the drill sets, which may be secrets.
Json BuildSecret(const KubernetesOptions& options, int batch, const std::string& index,
                 const std::string& ticket) {
  Json metadata = Json::MakeObject(
      {{"name", JobName(options, batch, index, false)},
       {"labels", Json::MakeObject({{std::string(kDrillLabel), DrillLabel(options.drill_id)},
                                    {std::string(kBatchLabel), std::to_string(batch)}})}});
  return Json::MakeObject({{"apiVersion", "v1"},
                           {"kind", "Secret"},
                           {"metadata", std::move(metadata)},
                           {"type", "Opaque"},
                           {"stringData", Json::MakeObject({{std::string(kTicketFile), ticket}})}});
}

bool HasService(const KubernetesBatch& batch) { return batch.needs.nodes > 1 && batch.numbered; }

bool HasPodGroup(const PodTemplate& pod, const KubernetesBatch& batch) {
  return batch.needs.nodes > 1 && pod.groups != PodGroups::kNone;
}

std::vector<std::pair<std::string_view, std::string>> OurLabels(const KubernetesOptions& options,
                                                                const KubernetesBatch& batch,
                                                                const std::string& index) {
  std::vector<std::pair<std::string_view, std::string>> labels = {
      {kDrillLabel, DrillLabel(options.drill_id)}, {kBatchLabel, std::to_string(batch.number)}};
  if (!batch.indexed) labels.emplace_back(kIndexLabel, index);
  return labels;
}

// `index`: of its one task, or the variable that has it in the pods of an indexed Job.
Json BuildJob(const KubernetesOptions& options, const PodTemplate& pod,
              const KubernetesBatch& batch, const std::string& index) {
  const auto labels = OurLabels(options, batch, index);
  Json metadata = Metadata(Labels(pod.job_labels, labels), pod.job_annotations);
  metadata.Set("name", JobName(options, batch.number, index, batch.indexed));
  const std::string at = batch.indexed ? "$(JOB_COMPLETION_INDEX)" : index;
  Json spec = Json::MakeObject();
  if (batch.indexed) {
    AddIndexes(batch.indexes.size(), &spec);
  } else {
    AddNodes(batch, &spec);
  }
  if (!pod.Queue().empty()) spec.Set("suspend", true);
  Json tmpl = Json::MakeObject();
  Json pod_metadata = Metadata(Labels(pod.pod_labels, labels), pod.pod_annotations);
  Json pod_spec = BuildPodSpec(pod, batch.needs, RerunCommand(options, batch, at), batch.avoid);
  if (batch.needs.nodes > 1) KeepApart(Labels(Json(), labels), &pod_spec);
  if (HasService(batch)) JoinService(JobName(options, batch.number, index, false), &pod_spec);
  if (HasPodGroup(pod, batch)) {
    JoinPodGroup(pod.groups, JobName(options, batch.number, index, false), &pod_metadata,
                 &pod_spec);
  }
  if (options.evidence_in_log) {
    AddTicketVolumes(JobName(options, batch.number, index, false), &pod_spec);
  }
  tmpl.Set("metadata", std::move(pod_metadata));
  tmpl.Set("spec", std::move(pod_spec));
  spec.Set("template", std::move(tmpl));
  return Json::MakeObject({{"apiVersion", "batch/v1"},
                           {"kind", "Job"},
                           {"metadata", std::move(metadata)},
                           {"spec", std::move(spec)}});
}

// If substitutes are allowed, no label selects them; the node checks.
bool MayDiffer(const Ticket& ticket, const std::string& model) {
  return std::ranges::any_of(ticket.substitutions, [&](const Substitution& one) {
    return GlobMatches(one.recorded, model);
  });
}

}  // namespace

Status CheckKubectlOption(const std::string& option) {
  static constexpr std::array<std::string_view, 9> kWhere = {
      "--context", "--namespace", "--kubeconfig", "--cluster",        "--user",
      "--as",      "--as-group",  "--server",     "--tls-server-name"};
  const auto equals = option.find('=');
  const bool known = equals != std::string::npos && equals + 1 < option.size() &&
                     std::ranges::find(kWhere, option.substr(0, equals)) != kWhere.end();
  if (known) return {};
  return InvalidInput(
      fmt::format(
          "'{}' does not select a cluster, namespace or user; expected one of {}, each with =VALUE",
          TerminalSafe(option), fmt::join(kWhere, ", ")),
      "--kubectl");
}

Result<PodNeeds> NeedsOf(const Ticket& ticket, const PodTemplate& pod) {
  const Resources& asked = ticket.resources;
  PodNeeds needs;
  if (ticket.manifest.gang) needs.nodes = ticket.manifest.gang->nodes;
  needs.resources.cpus = std::max(1, asked.cpus);
  needs.resources.gpus = std::max(0, asked.gpus);
  if (asked.memory_bytes > 0) {
    needs.resources.memory_mib = ((asked.memory_bytes + (1U << 20U) - 1) >> 20U) + kJobMarginMib;
  }
  const double minutes = std::ceil((asked.timeout_seconds + kJobMarginSeconds) / 60.0);
  needs.minutes = std::bit_ceil(static_cast<std::uint64_t>(std::clamp(minutes, 1.0, 1e6)));
  const std::vector<Gpu>& gpus = ticket.manifest.environment.hardware.gpus;
  if (needs.resources.gpus > 0 && !gpus.empty() && !MayDiffer(ticket, gpus[0].model)) {
    needs.gpu_model = gpus[0].model;
  }
  if (ticket.launcher == "pod") {
    ASSIGN_OR_RETURN(needs.image, ImageReference(ticket.manifest.image));
    needs.image_digest = ticket.manifest.image.digest;
    return needs;
  }
  needs.image = pod.Image();
  if (!needs.image.empty()) return needs;
  return InvalidInput(
      "was not recorded in an image, and the pod template names none for such runs; expected "
      "template.spec.containers[0].image",
      ticket.job());
}

bool IsIndexed(KubernetesVersion version, const PodTemplate& pod) {
  return HasIndexes(version) && pod.Queue().empty();
}

Status FitsASecret(const Ticket& ticket) {
  const std::size_t bytes = ToJson(ticket).Dump().size();
  if (bytes <= kMostSecretBytes) return {};
  return InvalidInput(
      fmt::format("its ticket has {} bytes, and a Secret holds {}; expected a "
                  "volume that its pod and this machine see (--pod-evidence volume)",
                  bytes, kMostSecretBytes),
      ticket.job());
}

std::string DrillLabel(const std::string& drill_id) {
  constexpr std::size_t kLongest = 40;
  constexpr std::size_t kDigest = 8;
  std::string label = drill_id;
  bool same = !label.empty();
  for (char& c : label) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-') continue;
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : '-';
    same = false;
  }
  same = same && label.size() <= kLongest && label.front() != '-' && label.back() != '-';
  if (same) return label;
  label = "d" + label.substr(0, kLongest - kDigest - 2);
  return label + "-" + Sha256HexOf(drill_id).substr(0, kDigest);
}

std::string JobName(const KubernetesOptions& options, int batch, const std::string& index,
                    bool indexed) {
  const std::string name = fmt::format("rharness-{}-{}", DrillLabel(options.drill_id), batch);
  return indexed ? name : name + "-" + index;
}

Json BuildJobs(const KubernetesOptions& options, const PodTemplate& pod,
               const KubernetesBatch& batch) {
  Json items = Json::MakeArray();
  if (batch.indexed) {
    items.Append(BuildJob(options, pod, batch, ""));
  } else {
    for (std::size_t i = 0; i < batch.indexes.size(); ++i) {
      const std::string& index = batch.indexes[i];
      if (i < batch.tickets.size()) {
        items.Append(BuildSecret(options, batch.number, index, batch.tickets[i]));
      }
      if (HasService(batch)) {
        items.Append(BuildService(JobName(options, batch.number, index, false),
                                  Labels(Json(), OurLabels(options, batch, index))));
      }
      if (HasPodGroup(pod, batch)) {
        items.Append(BuildPodGroup(pod, JobName(options, batch.number, index, false),
                                   Labels(Json(), OurLabels(options, batch, index)),
                                   batch.needs.nodes));
      }
      items.Append(BuildJob(options, pod, batch, index));
    }
  }
  return Json::MakeObject({{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}});
}

std::set<std::string> KindsIn(const Json& jobs) {
  std::set<std::string> kinds;
  const Json* items = jobs.Find("items");
  for (const Json& item : items != nullptr ? items->AsArray() : std::vector<Json>()) {
    const std::string kind = TextAt(item, {"kind"});
    const std::string version = TextAt(item, {"apiVersion"});
    if (kind == "Job") kinds.insert("jobs");
    if (kind == "Secret") kinds.insert("secrets");
    if (kind == "Service") kinds.insert("services");
    if (kind == kPodGroup) kinds.insert("podgroups." + version.substr(0, version.find('/')));
  }
  return kinds;
}

}  // namespace rharness
