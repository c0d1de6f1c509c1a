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

std::vector<std::string> JoinSources(const RecordRequest& request) {
  std::vector<std::string> sources;
  for (const auto& [name, seed] : request.seeds) sources.push_back(name);
  for (const std::string& name : request.rng_sources) {
    if (std::find(sources.begin(), sources.end(), name) == sources.end()) sources.push_back(name);
  }
  return sources;
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
  manifest.family = request.family;
  manifest.started = recording.started;
  manifest.ended = recording.ended;
  manifest.duration_seconds = recording.duration.count();
  manifest.code = recording.code;
  manifest.image = recording.image;
  if (manifest.image.kind == "host") manifest.image.packages_sha256 = recording.packages_sha256;
  manifest.data = recording.data;
  manifest.command = request.command;
  manifest.working_directory = recording.working_directory;
  manifest.hyperparameters = request.hyperparameters;
  manifest.seeds = request.seeds;
  manifest.rng_sources = JoinSources(request);
  manifest.environment = recording.environment;
  for (const auto& [name, version] : recording.metrics.software) {
    manifest.environment.software[name] = version;
  }
  manifest.determinism = request.determinism;
  manifest.metrics_path =
      recording.metrics_path.empty() ? request.metrics_path : recording.metrics_path;
  manifest.metrics = JoinMetrics(request.metrics, recording.metrics);
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
