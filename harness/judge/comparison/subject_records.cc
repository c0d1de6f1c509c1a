// Manifests, evidence, checkpoints and environments as subjects.
#include "harness/judge/comparison/subject_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compare/weights/input_file.h"
#include "compare/weights/views.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/judge/compare_rerun.h"
#include "harness/judge/facts_of.h"
#include "harness/judge/record_parts.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Result<std::shared_ptr<Checkpoint>> Open(const fs::path& path, const SubjectOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<Checkpoint> checkpoint, OpenCheckpoint(path));
  if (!options.strip_prefixes.empty()) {
    ASSIGN_OR_RETURN(checkpoint, WithoutPrefixes(std::move(checkpoint), options.strip_prefixes));
  }
  return std::shared_ptr<Checkpoint>(std::move(checkpoint));
}

// The place of evidence's artifacts: beside it, in "artifacts"; recorded locations below that start
// at the drill folder. Reads nothing outside of the evidence's folder.
std::optional<fs::path> FindBeside(const fs::path& folder, const std::string& location) {
  const auto beside = location.find("artifacts/");
  if (beside == std::string::npos) return std::nullopt;
  const auto relative = SafeRelativePath(location.substr(beside), "location");
  if (!relative.ok()) return std::nullopt;
  const auto resolved = ResolveBelow(folder, *relative);
  if (!resolved.ok()) return std::nullopt;
  return *resolved;
}

// Of a checkpoint that was not read there is its file alone (output_files.h).
bool HoldsTensors(const Artifact& artifact) {
  return IsCheckpoint(artifact) && !(artifact.tensor_digest.empty() && !artifact.sha256.empty());
}

std::string Plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string DescribeCheckpoint(const Checkpoint& checkpoint) {
  std::uint64_t bytes = 0;
  for (const TensorInfo& tensor : checkpoint.tensors()) bytes += tensor.size_bytes;
  return fmt::format("{}, {:.1f} MB", Plural(checkpoint.tensors().size(), "tensor"),
                     static_cast<double>(bytes) / 1e6);
}

}  // namespace

Result<std::string> ReadHead(const fs::path& path, std::size_t limit) {
  ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path));
  std::string head(std::min<std::uint64_t>(limit, file.size_bytes()), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
  return head;
}

Result<Subject> LoadManifestSubject(const fs::path& path, const SubjectOptions& options) {
  Subject subject;
  ASSIGN_OR_RETURN(subject.manifest, LoadManifest(path));
  const Manifest& manifest = subject.manifest;
  subject.side = {path.string(), SideKind::kManifest, "run " + manifest.run_id};
  subject.facts = FactsOf(manifest);
  AddConfiguration(manifest, &subject.facts);
  subject.curves = CurvesOf(manifest.curves);
  subject.unread = manifest.unread_metrics;
  subject.declared_bitwise = manifest.determinism.declared == "bitwise";
  const Places places{.root = options.root};
  subject.kept_items = LoadKeptItems(
      manifest.artifacts, [&](const std::string& location) { return Locate(places, location); },
      &subject.notes);
  for (const Artifact& artifact : manifest.artifacts) {
    if (!HoldsTensors(artifact)) continue;
    std::optional<fs::path> at;
    if (!artifact.location.empty()) {
      const auto located = Locate(places, artifact.location);
      if (located.ok()) at = *located;
      if (!located.ok()) subject.notes.push_back(located.error().ToString());
    }
    ASSIGN_OR_RETURN(RecordedCheckpoint weights,
                     OpenRecorded(artifact, at, options.strip_prefixes, &subject.notes));
    subject.weights.push_back(std::move(weights));
  }
  return subject;
}

Result<Subject> LoadEvidenceSubject(const fs::path& path, const SubjectOptions& options) {
  Subject subject;
  ASSIGN_OR_RETURN(const Evidence evidence, LoadEvidence(path));
  Manifest& manifest = subject.manifest;
  manifest.run_id = evidence.run_id;
  manifest.resources.gpus = static_cast<int>(evidence.environment.hardware.gpus.size());
  if (!evidence.image_digest.empty()) manifest.image.kind = ImageKind::kOci;
  for (const auto& [name, value] : evidence.metrics.metrics) {
    manifest.metrics.push_back({.name = name, .value = value, .primary = true});
  }
  subject.side = {path.string(), SideKind::kEvidence,
                  fmt::format("rerun {} of {}", evidence.rerun, evidence.run_id)};
  subject.facts = FactsOf(evidence, manifest);
  manifest.data = evidence.data;
  manifest.observation = evidence.observation;
  subject.curves = CurvesOf(evidence.metrics.curves);
  subject.unread = evidence.unread_metrics;
  subject.end = EndOf(evidence);
  manifest.artifacts = evidence.artifacts;
  subject.kept_items = LoadKeptItems(
      evidence.artifacts,
      [&](const std::string& location) -> Result<fs::path> {
        const auto beside = FindBeside(path.parent_path(), location);
        if (beside) return *beside;
        return NotFound("does not lie beside the evidence", location);
      },
      &subject.notes);
  for (const Artifact& artifact : evidence.artifacts) {
    if (!HoldsTensors(artifact)) continue;
    ASSIGN_OR_RETURN(RecordedCheckpoint weights,
                     OpenRecorded(artifact, FindBeside(path.parent_path(), artifact.location),
                                  options.strip_prefixes, &subject.notes));
    subject.weights.push_back(std::move(weights));
  }
  return subject;
}

Result<Subject> LoadCheckpointSubject(const fs::path& path, const SubjectOptions& options) {
  Subject subject;
  std::error_code error;
  RecordedCheckpoint weights{.path = path.filename().string(),
                             .is_file = !fs::is_directory(path, error)};
  ASSIGN_OR_RETURN(weights.checkpoint, Open(path, options));
  subject.side = {path.string(), SideKind::kCheckpoint, DescribeCheckpoint(*weights.checkpoint)};
  subject.weights.push_back(std::move(weights));
  return subject;
}

Result<Subject> LoadEnvironmentSubject(const fs::path& path) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  JsonReader reader(json, path.string());
  Manifest manifest;
  ReadEnvironment(reader, &manifest.environment);
  RETURN_IF_ERROR(reader.status());
  manifest.resources.gpus = static_cast<int>(manifest.environment.hardware.gpus.size());
  Subject subject;
  subject.facts = FactsOf(manifest);
  subject.side = {path.string(), SideKind::kEnvironment, Plural(subject.facts.size(), "fact")};
  return subject;
}

}  // namespace rharness
