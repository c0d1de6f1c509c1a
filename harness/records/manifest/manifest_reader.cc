// JSON to manifest: types, names, paths and lengths. What is missing or inconsistent passes here,
// so that admission can list all of it instead of the first.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/records/manifest/fields.h"
#include "harness/records/manifest/lineage.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {
namespace {

void ReadCode(JsonReader& reader, Code* out) {
  RefuseUnknownMembers(
      reader, {"repository", "commit", "dirty", "diff_sha256", "kept_diff_sha256", "files"});
  ReadRepository(reader, &out->repository);
  ReadHex(reader, "commit", &out->commit);
  reader.ReadOptional("dirty", &out->dirty);
  ReadHex(reader, "diff_sha256", &out->diff_sha256);
  ReadHex(reader, "kept_diff_sha256", &out->kept_diff_sha256);
  ReadCodeFiles(reader, "files", &out->files);
}

void ReadImage(JsonReader& reader, Image* out) {
  RefuseUnknownMembers(reader,
                       {"kind", "registry", "repository", "tag", "location", "digest", "platform",
                        "packages_sha256", "layers", "base_name", "base_digest"});
  ReadChoice(reader, "kind", Presence::kOptional, {"host", "oci", "sif", "squashfs"}, &out->kind);
  ReadWord(reader, "registry", &out->registry);
  ReadWord(reader, "repository", &out->repository);
  ReadWord(reader, "tag", &out->tag);
  ReadAnyPath(reader, "location", Presence::kOptional, &out->location);
  ReadWord(reader, "digest", &out->digest);
  ReadWord(reader, "platform", &out->platform);
  ReadHex(reader, "packages_sha256", &out->packages_sha256);
  reader.ReadArray("layers", &out->layers);
  ReadText(reader, "base_name", &out->base_name);
  ReadText(reader, "base_digest", &out->base_digest);
}

void ReadCommand(JsonReader& reader, std::vector<std::string>* out) {
  if (!reader.Has("command")) {
    return reader.Fail("missing; expected an array of strings", "command");
  }
  reader.ReadEach("command", out, [](JsonReader& element, std::string* argument) {
    element.Get(argument);
    if (argument->find('\0') != std::string::npos) element.Fail("contains a NUL byte");
  });
  if (reader.ok() && !out->empty() && out->front().empty()) {
    reader.Fail("expected a program and its arguments; the program's name is empty", "command");
  }
}

void ReadNames(JsonReader& reader, std::string_view key, std::vector<std::string>* out) {
  reader.ReadEach(key, out, [](JsonReader& element, std::string* name) {
    element.Get(name);
    if (!IsName(*name)) element.Fail("expected a name");
  });
}

// What a metric was measured on is known by its digest.
void ReadEvalSet(JsonReader& reader, const std::vector<DataItem>& data, std::string* out) {
  ReadText(reader, "evaluated_on", out);
  if (!reader.ok() || out->empty()) return;
  const auto set = std::ranges::find(data, *out, &DataItem::name);
  if (set == data.end()) {
    reader.Fail(fmt::format("expected the name of an entry of data; there is no '{}'",
                            TerminalSafe(out->substr(0, 80))),
                "evaluated_on");
  } else if (DigestOf(*set).empty()) {
    reader.Fail(fmt::format("data '{}' has no digest; expected data that has one, by which the "
                            "eval set is known",
                            TerminalSafe(out->substr(0, 80))),
                "evaluated_on");
  }
}

void ReadDirection(JsonReader& reader, MetricDirection* out) {
  std::string word(MetricDirectionName(*out));  // which is checked if it is read over values
  ReadChoice(reader, "direction", Presence::kOptional, {"higher", "lower", "none", ""}, &word);
  if (const auto known = ParseMetricDirection(word); known.ok()) *out = *known;
}

void ReadMetric(JsonReader& reader, const std::vector<DataItem>& data, Metric* out) {
  RefuseUnknownMembers(reader, {"name", "value", "unit", "direction", "primary", "margin",
                                "quantum", "evaluated_on"});
  ReadName(reader, "name", &out->name);
  reader.Read("value", &out->value);
  ReadText(reader, "unit", &out->unit);
  ReadDirection(reader, &out->direction);
  reader.ReadOptional("primary", &out->primary);
  reader.ReadOptional("margin", &out->margin);
  ReadSpan(reader, "quantum", &out->quantum);
  ReadEvalSet(reader, data, &out->evaluated_on);
}

void ReadCurve(JsonReader& reader, Curve* out) {
  RefuseUnknownMembers(reader, {"name", "steps", "values"});
  ReadName(reader, "name", &out->name);
  ReadCurvePoints(reader, out);
}

void ReadDeterminism(JsonReader& reader, Determinism* out) {
  RefuseUnknownMembers(reader, {"declared", "scope", "flags"});
  ReadChoice(reader, "declared", Presence::kOptional, {"bitwise", "statistical"}, &out->declared);
  ReadChoice(reader, "scope", Presence::kOptional, {"hardware_class", "architecture"}, &out->scope);
  reader.ForEachMember(
      "flags", [&](const std::string& name, JsonReader& value) { value.Get(&out->flags[name]); });
}

void ReadRun(JsonReader& reader, Manifest* out) {
  ReadRunId(reader, &out->run_id);
  ReadText(reader, "family", &out->family);
  ReadTime(reader, "started", Presence::kOptional, &out->started);
  ReadTime(reader, "ended", Presence::kOptional, &out->ended);
  reader.ReadOptional("duration_seconds", &out->duration_seconds);
  ReadCommand(reader, &out->command);
  ReadRelativePath(reader, "working_directory", Presence::kOptional, &out->working_directory);
  reader.ForEachMember("hyperparameters", [&](const std::string& name, JsonReader& value) {
    out->hyperparameters[name] = value.json();
  });
  ReadSeeds(reader, &out->seeds);
  ReadNames(reader, "rng_sources", &out->rng_sources);
}

void ReadResults(JsonReader& reader, Manifest* out) {
  ReadRelativePath(reader, "metrics_path", Presence::kOptional, &out->metrics_path);
  reader.ReadEach("metrics", &out->metrics,
                  [&](JsonReader& r, Metric* metric) { ReadMetric(r, out->data, metric); });
  reader.ReadEach("curves", &out->curves, ReadCurve);
  ReadUnreadMembers(reader, &out->unread_metrics);
  ReadArtifacts(reader, &out->artifacts);
}

// All but properties, observation and packages.
void ReadMembers(JsonReader& reader, Manifest* out) {
  ReadRun(reader, out);
  reader.ReadObject("code", false, [&](JsonReader& r) { ReadCode(r, &out->code); });
  reader.ReadObject("image", false, [&](JsonReader& r) { ReadImage(r, &out->image); });
  ReadData(reader, &out->data);
  reader.ReadObject("environment", false,
                    [&](JsonReader& r) { ReadEnvironment(r, &out->environment); });
  reader.ReadObject("determinism", false,
                    [&](JsonReader& r) { ReadDeterminism(r, &out->determinism); });
  ReadResults(reader, out);
  reader.ReadObject("resources", false, [&](JsonReader& r) { ReadResources(r, &out->resources); });
  ReadNames(reader, "probe_families", &out->probe_families);
  reader.ReadArray("notes", &out->notes);
  ReadAnyPath(reader, "kept", Presence::kOptional, &out->kept);
  reader.ReadOptionalObject("origin", &out->origin, ReadOrigin);
}

}  // namespace

Result<Manifest> ParseManifest(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  Manifest manifest;
  reader.ReadSchema("rharness.manifest", kManifestVersion);
  RefuseUnknownMembers(reader, {"schema",
                                "run_id",
                                "family",
                                "started",
                                "ended",
                                "duration_seconds",
                                "code",
                                "image",
                                "data",
                                "command",
                                "working_directory",
                                "hyperparameters",
                                "seeds",
                                "rng_sources",
                                "environment",
                                "determinism",
                                "metrics_path",
                                "metrics",
                                "curves",
                                "artifacts",
                                "resources",
                                "probe_families",
                                "properties",
                                "unread_metrics",
                                "observation",
                                "notes",
                                "kept",
                                "origin"});
  ReadMembers(reader, &manifest);
  ReadProperties(reader, &manifest.properties);
  ReadObservation(reader, &manifest.observation);
  RETURN_IF_ERROR(reader.status());
  return manifest;
}

Status CheckManifest(Manifest* manifest, std::string_view file) {
  // What few have is written and read.
  if (!manifest->properties.empty() || manifest->observation ||
      !manifest->environment.packages.empty() || manifest->environment.python) {
    const auto read = ParseManifest(ToJson(*manifest), file);
    return read.ok() ? Status() : Status(read.error());
  }
  JsonReader reader(JsonReader::OverValues{}, std::string(file));
  ReadMembers(reader, manifest);
  return reader.status();
}

Result<Manifest> LoadManifest(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  return ParseManifest(json, path.string());
}

Result<RunMetrics> ParseRunMetrics(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  RunMetrics metrics;
  ReadRunMetrics(reader, &metrics);
  RETURN_IF_ERROR(reader.status());
  return metrics;
}

}  // namespace rharness
