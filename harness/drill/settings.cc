// Writing and reading drill settings.
#include "harness/drill/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

#include "harness/base/json_reader.h"
#include "harness/execution/rerun/ticket.h"

namespace rharness {
namespace {

Json PlanJson(const PlanOptions& plan) {
  Json nodes = Json::MakeArray();
  for (const std::string& node : plan.nodes) nodes.Append(node);
  return Json::MakeObject({{"reruns", plan.reruns},
                           {"nodes", std::move(nodes)},
                           {"replicates", plan.replicates},
                           {"jobs", plan.jobs},
                           {"cpus", plan.slots.cpus},
                           {"memory_bytes", plan.slots.memory_bytes},
                           {"gpus", plan.slots.gpus},
                           {"budget_seconds", plan.budget_seconds},
                           {"budget_gpu_hours", plan.budget_gpu_hours},
                           {"timeout_factor", plan.timeout_factor},
                           {"timeout_floor_seconds", plan.timeout_floor_seconds},
                           {"longest_seconds", plan.longest_seconds},
                           {"rerun_memory_bytes", plan.memory_bytes},
                           {"rerun_disk_bytes", plan.disk_bytes}});
}

void ReadPlan(JsonReader& reader, PlanOptions* plan) {
  reader.Read("reruns", &plan->reruns);
  if (reader.Has("nodes")) reader.ReadArray("nodes", &plan->nodes);
  reader.ReadOptional("replicates", &plan->replicates);
  reader.Read("jobs", &plan->jobs);
  reader.Read("cpus", &plan->slots.cpus);
  reader.Read("memory_bytes", &plan->slots.memory_bytes);
  reader.Read("gpus", &plan->slots.gpus);
  reader.Read("budget_seconds", &plan->budget_seconds);
  reader.ReadOptional("budget_gpu_hours", &plan->budget_gpu_hours);
  reader.Read("timeout_factor", &plan->timeout_factor);
  reader.Read("timeout_floor_seconds", &plan->timeout_floor_seconds);
  reader.ReadOptional("longest_seconds", &plan->longest_seconds);
  reader.Read("rerun_memory_bytes", &plan->memory_bytes);
  reader.Read("rerun_disk_bytes", &plan->disk_bytes);
}

// The accepted substitutes, decided once, like everything behind verdicts.
Json SubstitutesJson(const std::vector<Substitute>& substitutes) {
  Json json = Json::MakeArray();
  for (const Substitute& one : substitutes) {
    Json proof = Json::MakeArray();
    for (const auto& path : one.proof) proof.Append(path.string());
    json.Append(Json::MakeObject({{"recorded", one.recorded},
                                  {"here", one.here},
                                  {"reason", one.reason},
                                  {"signed_by", one.signed_by},
                                  {"until", one.is_proved() ? "" : FormatTime(one.until)},
                                  {"proof", std::move(proof)},
                                  {"verified", one.verified}}));
  }
  return json;
}

Json CertificatesJson(const std::vector<Sensitivity>& certificates) {
  Json json = Json::MakeArray();
  for (const Sensitivity& one : certificates) json.Append(ToJson(one));
  return json;
}

void ReadCertificate(JsonReader& reader, std::vector<Sensitivity>* out) {
  auto certificate = ParseSensitivity(reader.json(), reader.path());
  if (!certificate.ok()) return reader.Fail(certificate.error().message);
  out->push_back(std::move(*certificate));
}

void ReadSubstitute(JsonReader& reader, Substitute* out) {
  std::string until;
  std::vector<std::string> proof;
  reader.Read("recorded", &out->recorded);
  reader.Read("here", &out->here);
  reader.Read("reason", &out->reason);
  reader.Read("signed_by", &out->signed_by);
  reader.Read("until", &until);
  reader.ReadArray("proof", &proof);
  reader.ReadOptional("verified", &out->verified);
  out->proof.assign(proof.begin(), proof.end());
  if (until.empty()) return;
  const auto time = ParseTime(until);
  if (!time.ok()) return reader.Fail(time.error().message, "until");
  out->until = *time;
}

void ReadKeptAudit(JsonReader& reader, std::map<std::string, std::string>* audit) {
  for (const char* name : {"log", "key", "passphrase_file", "policy"}) {
    if (reader.Has(name)) reader.Read(name, &(*audit)[name]);
  }
}

// Where the settings keep an option: a member, or one of a member's.
struct KeptOption {
  const char* name;
  const char* member;
  const char* part;
};
constexpr std::array<KeptOption, 35> kKept = {{
    {"--history", "history", nullptr},
    {"--reruns", "plan", "reruns"},
    {"--replicates", "plan", "replicates"},
    {"--no-confirm", "confirm", nullptr},
    {"--jobs", "plan", "jobs"},
    {"--cpus", "plan", "cpus"},
    {"--gpus", "plan", "gpus"},
    {"--memory", "plan", "memory_bytes"},
    {"--budget", "plan", "budget_seconds"},
    {"--gpu-budget", "plan", "budget_gpu_hours"},
    {"--rerun-memory", "plan", "rerun_memory_bytes"},
    {"--rerun-disk", "plan", "rerun_disk_bytes"},
    {"--rerun-time", "plan", "longest_seconds"},
    {"--timeout-factor", "plan", "timeout_factor"},
    {"--timeout-floor", "plan", "timeout_floor_seconds"},
    {"--root", "places", "root"},
    {"--map", "places", "maps"},
    {"--data-cache", "places", "cache"},
    {"--python-environment", "places", "python"},
    {"--make-environments", "places", "environments"},
    {"--environment-cache", "places", "environments"},
    {"--env", "environment", nullptr},
    {"--launcher", "launcher", nullptr},
    {"--dispatch", "executor", nullptr},
    {"--sbatch", "sbatch", nullptr},
    {"--ports", "ports", nullptr},
    {"--distribute", "distribute", nullptr},
    {"--kubectl", "kubectl", nullptr},
    {"--pod-template", "pod_template", nullptr},
    {"--pod-evidence", "pod_evidence", nullptr},
    {"--pod-program", "pod_program", nullptr},
    {"--container-root", "container_root", nullptr},
    {"--keep-workspaces", "keep_workspaces", nullptr},
    {"--no-observe", "no_observe", nullptr},
    {"--certificate", "certificates", nullptr},
}};

std::string ValueOf(const KeptOption& option, const Json& settings) {
  const Json* value = settings.Find(option.member);
  if (value != nullptr && option.part != nullptr) value = value->Find(option.part);
  return value == nullptr ? "" : value->Dump();
}

}  // namespace

std::vector<std::string> KeptOptions() {
  std::vector<std::string> names;
  for (const KeptOption& option : kKept) names.emplace_back(option.name);
  return names;
}

Status RefuseOtherSettings(const DrillOptions& given, const DrillSettings& started) {
  const Json old = ToJson(started);
  DrillSettings asked = started;
  asked.options = given;
  const Json now = ToJson(asked);
  for (const KeptOption& option : kKept) {
    if (!given.given.contains(option.name)) continue;
    const std::string before = ValueOf(option, old);
    const std::string after = ValueOf(option, now);
    if (before == after) continue;
    // Variables may be secrets.
    const bool shown = std::string_view(option.name) != "--env";
    return InvalidInput(fmt::format("{}differs from the drill's own setting{}; --resume continues "
                                    "with the drill's own settings",
                                    shown ? after + " " : "", shown ? ", " + before : ""),
                        option.name);
  }
  return {};
}

Json ToJson(const DrillSettings& settings) {
  const DrillOptions& options = settings.options;
  Json run_ids = Json::MakeArray();
  for (const std::string& run_id : settings.run_ids) run_ids.Append(run_id);
  Json risks = Json::MakeArray();
  for (const RunRisk& risk : settings.risks) risks.Append(ToJson(risk));
  const auto texts = [](const std::vector<std::string>& list) {
    Json array = Json::MakeArray();
    for (const std::string& text : list) array.Append(text);
    return array;
  };
  Json audit = Json::MakeObject({});
  for (const auto& [name, value] : options.audit) audit.Set(name, value);
  return Json::MakeObject({{"schema", "rharness.drill/v1"},
                           {"drill_id", settings.drill_id},
                           {"started", FormatTime(settings.started)},
                           {"history", options.history},
                           {"selection", options.selection},
                           {"run_ids", std::move(run_ids)},
                           {"elsewhere", texts(settings.elsewhere)},
                           {"risks", std::move(risks)},
                           {"plan", PlanJson(options.plan)},
                           {"places", ToJson(options.places)},
                           {"environment", OverridesToJson(options.environment)},
                           {"launcher", options.launcher},
                           {"executor", options.dispatch},
                           {"sbatch", texts(options.sbatch)},
                           {"ports", options.ports ? options.ports->ToString() : ""},
                           {"distribute", options.distribute},
                           {"kubectl", texts(options.kubectl)},
                           {"pod_template", options.pod_template},
                           {"pod_evidence", options.pod_evidence},
                           {"pod_program", options.pod_program},
                           {"substitutes", SubstitutesJson(options.substitutes)},
                           {"container_root", options.container_root},
                           {"confirm", options.confirm},
                           {"keep_workspaces", options.keep_workspaces},
                           {"no_observe", options.no_observe},
                           {"certificates", CertificatesJson(options.certificates)},
                           {"audit", std::move(audit)}});
}

Result<DrillSettings> ParseDrillSettings(const Json& json, std::string_view file) {
  DrillSettings settings;
  DrillOptions& options = settings.options;
  JsonReader reader(json, std::string(file));
  reader.ReadSchema("rharness.drill", 1);
  std::string started;
  reader.Read("drill_id", &settings.drill_id);
  reader.Read("started", &started);
  reader.Read("history", &options.history);
  reader.Read("selection", &options.selection);
  reader.ReadArray("run_ids", &settings.run_ids);
  if (json.Find("elsewhere") != nullptr) reader.ReadArray("elsewhere", &settings.elsewhere);
  reader.ForEach("risks",
                 [&](JsonReader& one) { ReadRunRisk(one, &settings.risks.emplace_back()); });
  reader.ReadObject("plan", true, [&](JsonReader& plan) { ReadPlan(plan, &options.plan); });
  reader.ReadObject("places", true,
                    [&](JsonReader& places) { ReadPlaces(places, &options.places); });
  ReadOverrides(reader, "environment", &options.environment);
  reader.Read("launcher", &options.launcher);
  reader.Read("executor", &options.dispatch);
  reader.ReadArray("sbatch", &options.sbatch);
  std::string ports;
  reader.ReadOptional("ports", &ports);
  reader.ReadOptional("distribute", &options.distribute);
  reader.ReadArray("kubectl", &options.kubectl);
  reader.ReadOptional("pod_template", &options.pod_template);
  reader.ReadOptional("pod_evidence", &options.pod_evidence);
  reader.ReadOptional("pod_program", &options.pod_program);
  reader.ForEach("substitutes", [&](JsonReader& one) {
    ReadSubstitute(one, &options.substitutes.emplace_back());
  });
  reader.ReadOptional("container_root", &options.container_root);
  reader.Read("confirm", &options.confirm);
  reader.Read("keep_workspaces", &options.keep_workspaces);
  reader.ReadOptional("no_observe", &options.no_observe);
  reader.ForEach("certificates",
                 [&](JsonReader& one) { ReadCertificate(one, &options.certificates); });
  reader.ReadObject("audit", false,
                    [&](JsonReader& audit) { ReadKeptAudit(audit, &options.audit); });
  RETURN_IF_ERROR(reader.status());
  ASSIGN_OR_RETURN(settings.started, ParseTime(started));
  if (!ports.empty()) {
    ASSIGN_OR_RETURN(options.ports, ParsePortRange(ports));
  }
  return settings;
}

std::string MakeDrillId(WallTime now) {
  std::string stamp = FormatTime(now).substr(0, 19);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  std::random_device device;
  return fmt::format("{}Z-{:08x}", stamp, device());
}

std::string OfCandidate(const std::string& sha256) {
  return sha256.empty() ? "" : "-of-" + sha256.substr(0, 24);
}

}  // namespace rharness
