// Manifests, evidence, checkpoints and environments as subjects.
#include "harness/comparison/subject_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compare/weights/input_file.h"
#include "compare/weights/views.h"
#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/drill/facts_of.h"
#include "harness/drill/workspace.h"

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

std::vector<TensorDigest> DigestsOf(const Artifact& artifact) {
  std::vector<TensorDigest> digests;
  for (const TensorRecord& record : artifact.tensors) {
    const auto dtype = ParseDType(record.dtype);
    if (dtype.ok()) digests.push_back({record.name, *dtype, record.shape, record.sha256});
  }
  return digests;
}

// A recorded checkpoint, with its bytes where they were kept.
SubjectWeights WeightsOf(const Artifact& artifact, const std::optional<fs::path>& at,
                         const SubjectOptions& options, std::vector<std::string>* notes) {
  SubjectWeights weights{.path = artifact.path,
                         .role = artifact.role,
                         .recorded = DigestsOf(artifact),
                         .recorded_digest = artifact.tensor_digest};
  std::error_code error;
  if (!at || !fs::exists(*at, error)) {
    notes->push_back(
        fmt::format("{}: the bytes of {} are not at hand; recorded digests are "
                    "compared",
                    artifact.location.empty() ? "not kept" : artifact.location, artifact.path));
    return weights;
  }
  auto checkpoint = Open(*at, options);
  if (checkpoint.ok()) {
    weights.checkpoint = std::move(*checkpoint);
  } else {
    notes->push_back(checkpoint.error().ToString());
  }
  return weights;
}

bool IsCheckpoint(const Artifact& artifact) {
  return artifact.role == "weights" || artifact.role == "optimizer";
}

// Where evidence's artifacts lie: locations are relative to the drill folder, which is above it.
std::optional<fs::path> FindAbove(const fs::path& folder, const std::string& location) {
  constexpr int kLevels = 6;
  const auto relative = SafeRelativePath(location, "location");
  if (!relative.ok()) return std::nullopt;
  std::error_code error;
  fs::path at = fs::absolute(folder, error);
  for (int level = 0; level < kLevels; ++level, at = at.parent_path()) {
    if (fs::exists(at / *relative, error)) return at / *relative;
  }
  return std::nullopt;
}

std::vector<CurveSeries> CurvesOf(const std::vector<Curve>& curves) {
  std::vector<CurveSeries> series;
  for (const Curve& curve : curves) {
    series.push_back({curve.name, curve.steps, curve.values, 0.0});
  }
  return series;
}

// Facts that a drill takes for granted, since it replays them, and two free runs do not share.
void AddConfiguration(const Manifest& manifest, std::vector<Fact>* facts) {
  for (const auto& [name, value] : manifest.hyperparameters) {
    facts->push_back({Layer::kCode, "hyperparameter." + name, value.Dump(), FactWeight::kIdentity});
  }
  for (const auto& [name, value] : manifest.determinism.flags) {
    facts->push_back({Layer::kRandomness, "determinism." + name, value, FactWeight::kContext});
  }
  for (const std::string& source : manifest.rng_sources) {
    const bool seeded = manifest.seeds.contains(source);
    facts->push_back({Layer::kRandomness, "rng." + source, seeded ? "seeded" : "not seeded",
                      FactWeight::kContext});
  }
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
  subject.side = {path.string(), "manifest", "run " + manifest.run_id};
  subject.facts = FactsOf(manifest);
  AddConfiguration(manifest, &subject.facts);
  subject.curves = CurvesOf(manifest.curves);
  subject.declared_bitwise = manifest.determinism.declared == "bitwise";
  const Places places{.root = options.root};
  for (const Artifact& artifact : manifest.artifacts) {
    if (!IsCheckpoint(artifact)) continue;
    std::optional<fs::path> at;
    if (!artifact.location.empty()) {
      const auto located = Locate(places, artifact.location);
      if (located.ok()) at = *located;
    }
    subject.weights.push_back(WeightsOf(artifact, at, options, &subject.notes));
  }
  return subject;
}

Result<Subject> LoadEvidenceSubject(const fs::path& path, const SubjectOptions& options) {
  Subject subject;
  ASSIGN_OR_RETURN(const Evidence evidence, LoadEvidence(path));
  Manifest& manifest = subject.manifest;
  manifest.run_id = evidence.run_id;
  manifest.resources.gpus = static_cast<int>(evidence.environment.hardware.gpus.size());
  for (const auto& [name, value] : evidence.metrics.metrics) {
    manifest.metrics.push_back({.name = name, .value = value, .primary = true});
  }
  subject.side = {path.string(), "evidence",
                  fmt::format("rerun {} of {}", evidence.rerun, evidence.run_id)};
  subject.facts = FactsOf(evidence, manifest);
  subject.curves = CurvesOf(evidence.metrics.curves);
  if (!evidence.outcome.Succeeded()) {
    subject.notes.push_back(
        fmt::format("{}: the rerun {}", path.string(), evidence.outcome.ToString()));
  }
  for (const Artifact& artifact : evidence.artifacts) {
    if (!IsCheckpoint(artifact)) continue;
    subject.weights.push_back(WeightsOf(artifact, FindAbove(path.parent_path(), artifact.location),
                                        options, &subject.notes));
  }
  return subject;
}

Result<Subject> LoadCheckpointSubject(const fs::path& path, const SubjectOptions& options) {
  Subject subject;
  SubjectWeights weights{.path = path.filename().string()};
  ASSIGN_OR_RETURN(weights.checkpoint, Open(path, options));
  subject.side = {path.string(), "checkpoint", DescribeCheckpoint(*weights.checkpoint)};
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
  subject.side = {path.string(), "environment", Plural(subject.facts.size(), "fact")};
  return subject;
}

}  // namespace rharness
