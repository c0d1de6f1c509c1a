// Evidence to JSON and back.
#include "harness/records/manifest/evidence.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/records/manifest/fields.h"

namespace rharness {
namespace {

// Spans are written in seconds; reading rounds to the nanosecond, which is exact up to 26 days.
double ToSeconds(std::chrono::nanoseconds span) {
  return std::chrono::duration<double>(span).count();
}

void ReadNanoseconds(JsonReader& reader, std::string_view key, std::chrono::nanoseconds* out) {
  double seconds = 0.0;
  ReadSpan(reader, key, &seconds);
  if (seconds > 9e9) return reader.Fail("expected at most 9e9 seconds", key);
  *out = std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

void ReadOutcome(JsonReader& reader, Outcome* out) {
  RefuseUnknownMembers(reader, {"kind", "exit_code", "signal", "detail", "wall_seconds",
                                "cpu_seconds", "peak_memory_bytes", "not_held"});
  std::string kind;
  reader.Read("kind", &kind);
  if (!reader.ok()) return;
  const auto parsed = ParseOutcomeKind(kind);
  if (!parsed.ok()) return reader.Fail(TerminalSafe(parsed.error().message), "kind");
  out->kind = *parsed;
  reader.ReadOptional("exit_code", &out->exit_code);
  reader.ReadOptional("signal", &out->signal);
  reader.ReadOptional("detail", &out->detail);
  ReadNanoseconds(reader, "wall_seconds", &out->wall);
  ReadNanoseconds(reader, "cpu_seconds", &out->cpu);
  reader.ReadOptional("peak_memory_bytes", &out->peak_memory_bytes);
  reader.ReadOptional("not_held", &out->not_held);
}

Json OutcomeToJson(const Outcome& outcome) {
  Json json = Json::MakeObject({{"kind", OutcomeKindName(outcome.kind)},
                                {"exit_code", outcome.exit_code},
                                {"signal", outcome.signal},
                                {"detail", outcome.detail},
                                {"wall_seconds", ToSeconds(outcome.wall)},
                                {"cpu_seconds", ToSeconds(outcome.cpu)},
                                {"peak_memory_bytes", outcome.peak_memory_bytes}});
  if (!outcome.not_held.empty()) json.AppendMember("not_held", outcome.not_held);
  return json;
}

// "" is none, as older evidence has it.
void ReadLayer(JsonReader& reader, std::string_view key, std::optional<Layer>* out) {
  std::string name;
  ReadChoice(reader, key, Presence::kOptional,
             {"data", "code", "environment", "hardware", "randomness", ""}, &name);
  if (const auto layer = ParseLayer(name); layer.ok()) *out = *layer;
}

std::string_view NameOf(const std::optional<Layer>& layer) {
  return layer ? LayerName(*layer) : std::string_view();
}

void ReadRemark(JsonReader& reader, Finding* out) {
  RefuseUnknownMembers(reader, {"code", "layer", "subject", "observed", "limit", "message"});
  ReadName(reader, "code", &out->code);
  ReadLayer(reader, "layer", &out->layer);
  reader.ReadOptional("subject", &out->subject);
  reader.ReadOptional("observed", &out->observed);
  reader.ReadOptional("limit", &out->limit);
  reader.ReadOptional("message", &out->message);
}

Json RemarksToJson(const std::vector<Finding>& remarks) {
  Json array = Json::MakeArray();
  for (const Finding& remark : remarks) {
    array.Append(Json::MakeObject({{"code", remark.code},
                                   {"layer", NameOf(remark.layer)},
                                   {"subject", remark.subject},
                                   {"observed", remark.observed},
                                   {"limit", remark.limit},
                                   {"message", remark.message}}));
  }
  return array;
}

Json ToJson(const Machine& machine) {
  Json json = Json::MakeObject({{"host", machine.host}, {"boot_id", machine.boot_id}});
  if (!machine.node.empty()) json.Set("node", machine.node);
  return json;
}

void ReadRerun(JsonReader& reader, Evidence* out) {
  ReadRunId(reader, &out->run_id);
  reader.Read("rerun", &out->rerun);
  ReadCount(reader, "attempt", &out->attempt);
  ReadHex(reader, "ticket_sha256", &out->ticket_sha256);
  reader.ReadObject("machine", false, [&](JsonReader& r) {
    RefuseUnknownMembers(r, {"host", "boot_id", "node"});
    ReadText(r, "host", &out->machine.host);
    ReadText(r, "boot_id", &out->machine.boot_id);
    ReadText(r, "node", &out->machine.node);
  });
  ReadTime(reader, "started", Presence::kRequired, &out->started);
  ReadTime(reader, "ended", Presence::kRequired, &out->ended);
  reader.ReadObject("outcome", true, [&](JsonReader& r) { ReadOutcome(r, &out->outcome); });
  reader.ReadOptional("obstacle", &out->obstacle);
  ReadLayer(reader, "obstacle_layer", &out->obstacle_layer);
}

void ReadInputs(JsonReader& reader, Evidence* out) {
  ReadWord(reader, "image_digest", &out->image_digest);
  ReadWord(reader, "image_id", &out->image_id);
  ReadHex(reader, "code_commit", &out->code_commit);
  ReadHex(reader, "code_diff_sha256", &out->code_diff_sha256);
  ReadCodeFiles(reader, "code_files", &out->code_files);
  ReadData(reader, &out->data);
  reader.ForEach("remarks", [&](JsonReader& r) { ReadRemark(r, &out->remarks.emplace_back()); });
  reader.ReadObject("environment", false,
                    [&](JsonReader& r) { ReadEnvironment(r, &out->environment); });
  ReadSeeds(reader, &out->seeds);
  ReadObservation(reader, &out->observation);
}

void ReadOutputs(JsonReader& reader, Evidence* out) {
  reader.ReadObject("metrics", false, [&](JsonReader& r) { ReadRunMetrics(r, &out->metrics); });
  ReadUnreadMembers(reader, &out->unread_metrics);
  ReadArtifacts(reader, &out->artifacts);
  ReadRelativePath(reader, "stdout_path", Presence::kOptional, &out->stdout_path);
  ReadRelativePath(reader, "stderr_path", Presence::kOptional, &out->stderr_path);
}

}  // namespace

Result<Evidence> ParseEvidence(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  Evidence evidence;
  reader.ReadSchema("rharness.evidence", kEvidenceVersion);
  RefuseUnknownMembers(reader, {"schema",           "run_id",       "rerun",         "attempt",
                                "started",          "ended",        "outcome",       "obstacle",
                                "obstacle_layer",   "image_digest", "image_id",      "code_commit",
                                "code_diff_sha256", "code_files",   "data",          "remarks",
                                "environment",      "seeds",        "metrics",       "artifacts",
                                "stdout_path",      "stderr_path",  "ticket_sha256", "machine",
                                "unread_metrics",   "observation"});
  ReadRerun(reader, &evidence);
  ReadInputs(reader, &evidence);
  ReadOutputs(reader, &evidence);
  RETURN_IF_ERROR(reader.status());
  return evidence;
}

Json ToJson(const Evidence& evidence) {
  Json json = Json::MakeObject({{"schema", "rharness.evidence/v1"},
                                {"run_id", evidence.run_id},
                                {"rerun", evidence.rerun},
                                {"attempt", evidence.attempt},
                                {"ticket_sha256", evidence.ticket_sha256},
                                {"machine", ToJson(evidence.machine)},
                                {"started", FormatTime(evidence.started)},
                                {"ended", FormatTime(evidence.ended)},
                                {"outcome", OutcomeToJson(evidence.outcome)},
                                {"obstacle", evidence.obstacle},
                                {"obstacle_layer", NameOf(evidence.obstacle_layer)},
                                {"image_digest", evidence.image_digest},
                                {"image_id", evidence.image_id},
                                {"code_commit", evidence.code_commit},
                                {"code_files", ToJsonArray(evidence.code_files)},
                                {"data", ToJsonArray(evidence.data)},
                                {"remarks", RemarksToJson(evidence.remarks)},
                                {"environment", ToJson(evidence.environment)},
                                {"seeds", ToJson(evidence.seeds)},
                                {"metrics", ToJson(evidence.metrics)},
                                {"artifacts", ToJsonArray(evidence.artifacts)},
                                {"stdout_path", evidence.stdout_path},
                                {"stderr_path", evidence.stderr_path}});
  if (!evidence.code_diff_sha256.empty()) {
    json.AppendMember("code_diff_sha256", evidence.code_diff_sha256);
  }
  if (evidence.unread_metrics)
    json.AppendMember("unread_metrics", ToJson(*evidence.unread_metrics));
  if (evidence.observation) json.AppendMember("observation", ToJson(*evidence.observation));
  return json;
}

Result<Evidence> LoadEvidence(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  return ParseEvidence(json, path.string());
}

}  // namespace rharness
