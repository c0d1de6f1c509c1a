// The pure half of recording: request and observations to manifest.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/execution/rerun/record.h"
#include "harness/records/manifest/admission.h"

namespace rharness {
namespace {

std::vector<Metric> JoinMetrics(const std::vector<Metric>& declared, const RunMetrics& measured) {
  std::vector<Metric> metrics;
  std::set<std::string> named;
  for (Metric metric : declared) {
    const auto found = measured.metrics.find(metric.name);
    if (found == measured.metrics.end() || !named.insert(metric.name).second) continue;
    metric.value = found->second;
    metrics.push_back(std::move(metric));
  }
  for (const auto& [name, value] : measured.metrics) {
    if (named.contains(name)) continue;
    Metric& metric = metrics.emplace_back();
    metric.name = name;
    metric.value = value;
  }
  return metrics;
}

std::vector<std::string> JoinSources(const RecordRequest& request, const FoundFacts& found) {
  std::vector<std::string> sources;
  for (const auto& [name, seed] : request.seeds) sources.push_back(name);
  for (const auto& [name, seed] : found.seeds) sources.push_back(name);
  for (const auto* names : {&request.rng_sources, &found.rng_sources}) {
    for (const std::string& name : *names) {
      if (std::find(sources.begin(), sources.end(), name) == sources.end()) sources.push_back(name);
    }
  }
  return sources;
}

// The guesses of the recording; none without one.
std::optional<Origin> OriginOf(const RecordRequest& request, const Recording& recording) {
  if (!request.find) return std::nullopt;
  Origin origin{"record", "", request.run_id, recording.found.fields, {}};
  std::ranges::sort(origin.fields, {}, &FieldOrigin::path);
  return origin;
}

// Empty, which is all of them, when a kernel could not be placed.
std::vector<std::string> JoinFamilies(const RecordRequest& request, const Recording& recording) {
  if (!recording.kernels) return request.probe_families;
  if (!recording.kernels->unknown.empty()) return {};
  std::set<std::string> families(request.probe_families.begin(), request.probe_families.end());
  families.insert(recording.kernels->families.begin(), recording.kernels->families.end());
  // Copies alone: still not "depends on everything", the meaning of an empty list.
  if (families.empty()) families.insert("scalar");
  return {families.begin(), families.end()};
}

std::vector<std::string> JoinNotes(const Recording& recording) {
  std::vector<std::string> notes;
  if (!recording.outcome.Succeeded()) {
    notes.push_back(fmt::format("{}: {}", kCommandFailed, recording.outcome.ToString()));
  }
  for (const auto* sentences :
       {&recording.changed_inputs, &recording.missing_outputs, &recording.remarks}) {
    notes.insert(notes.end(), sentences->begin(), sentences->end());
  }
  return notes;
}

}  // namespace

Manifest BuildManifest(const RecordRequest& request, const Recording& recording) {
  Manifest manifest;
  manifest.run_id = request.run_id;
  manifest.family = request.family.empty() ? recording.found.family : request.family;
  manifest.started = recording.started;
  manifest.ended = recording.ended;
  manifest.duration_seconds = recording.duration.count();
  manifest.code = recording.code;
  manifest.image = recording.image;
  if (manifest.image.kind == ImageKind::kHost)
    manifest.image.packages_sha256 = recording.packages_sha256;
  manifest.data = recording.data;
  manifest.command = recording.command.empty() ? request.command : recording.command;
  manifest.working_directory = recording.working_directory;
  manifest.hyperparameters = request.hyperparameters;
  manifest.seeds = request.seeds;
  manifest.seeds.insert(recording.found.seeds.begin(), recording.found.seeds.end());
  manifest.rng_sources = JoinSources(request, recording.found);
  manifest.environment = recording.environment;
  for (const auto& [name, version] : recording.metrics.software) {
    manifest.environment.software[name] = version;
  }
  manifest.determinism = request.determinism;
  manifest.metrics_path =
      recording.metrics_path.empty() ? request.metrics_path : recording.metrics_path;
  if (manifest.metrics_path == kFindMetrics) manifest.metrics_path.clear();  // and found nothing
  manifest.metrics_step = request.metrics_step;
  std::vector<Metric> declared = request.metrics;
  declared.insert(declared.end(), recording.found.metrics.begin(), recording.found.metrics.end());
  manifest.metrics = JoinMetrics(declared, recording.metrics);
  manifest.origin = OriginOf(request, recording);
  manifest.curves = recording.metrics.curves;
  manifest.unread_metrics = recording.unread_metrics;
  manifest.artifacts = recording.artifacts;
  manifest.resources = request.resources;
  manifest.probe_families = JoinFamilies(request, recording);
  manifest.observation = recording.observation;
  manifest.notes = JoinNotes(recording);
  manifest.kept = recording.kept;
  return manifest;
}

}  // namespace rharness
