// Records as checkpoints, curves and facts; see record_parts.h.
#include "harness/judge/record_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "compare/weights/loaded_files.h"
#include "compare/weights/views.h"
#include "harness/base/trouble.h"
#include "harness/records/manifest/environment_secrets.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// The recorded list of tensors; empty if it cannot represent the checkpoint (an unknown dtype).
Result<std::vector<TensorDigest>> DigestsOf(const Artifact& artifact) {
  std::vector<TensorDigest> digests;
  for (const TensorRecord& record : artifact.tensors) {
    const auto dtype = ParseDType(record.dtype);
    if (!dtype.ok()) return std::vector<TensorDigest>();
    digests.push_back({.name = record.name,
                       .dtype = *dtype,
                       .shape = record.shape,
                       .sha256 = record.sha256,
                       .block_format = {},
                       .non_finite = record.non_finite});
  }
  std::ranges::sort(digests, {}, &TensorDigest::name);
  if (!digests.empty() && !artifact.tensor_digest.empty() &&
      CombineDigests(digests) != artifact.tensor_digest) {
    return IntegrityError("the recorded tensors do not add up to the recorded tensor digest " +
                              artifact.tensor_digest,
                          artifact.path);
  }
  return digests;
}

Result<std::shared_ptr<Checkpoint>> Open(const fs::path& path, const Artifact& artifact,
                                         const std::vector<std::string>& strip_prefixes) {
  ASSIGN_OR_RETURN(std::unique_ptr<Checkpoint> checkpoint, OpenCheckpoint(path));
  if (!strip_prefixes.empty()) {
    ASSIGN_OR_RETURN(checkpoint, WithoutPrefixes(std::move(checkpoint), strip_prefixes));
  }
  ASSIGN_OR_RETURN(checkpoint,
                   WithLoadedFiles(std::move(checkpoint), path, LoadedPartsOf(artifact)));
  return std::shared_ptr<Checkpoint>(std::move(checkpoint));
}

}  // namespace

std::vector<PartDigest> PartDigestsOf(const Artifact& artifact) {
  std::vector<PartDigest> parts;
  for (const BesideRecord& part : artifact.beside) {
    parts.push_back({part.name, part.sha256, part.text});
  }
  return parts;
}

Result<RecordedCheckpoint> RecordedFrom(const Artifact& artifact) {
  RecordedCheckpoint recorded{.path = artifact.path,
                              .role = artifact.role,
                              .recorded_digest = artifact.tensor_digest,
                              .recorded_beside = artifact.beside_digest,
                              .recorded_parts = PartDigestsOf(artifact)};
  ASSIGN_OR_RETURN(recorded.recorded, DigestsOf(artifact));
  return recorded;
}

Result<RecordedCheckpoint> OpenRecorded(const Artifact& artifact, const std::optional<fs::path>& at,
                                        const std::vector<std::string>& strip_prefixes,
                                        std::vector<std::string>* notes) {
  ASSIGN_OR_RETURN(RecordedCheckpoint recorded, RecordedFrom(artifact));
  std::error_code error;
  const bool there = at && fs::exists(*at, error);
  if (error && IsTrouble(PathError("cannot look", error.value(), *at))) {
    return PathError("cannot look", error.value(), *at);
  }
  if (!there) {
    notes->push_back(
        fmt::format("the bytes of {} are not at hand ({}); recorded digests are compared",
                    artifact.path, artifact.location.empty() ? "not kept" : artifact.location));
    return recorded;
  }
  auto checkpoint = Open(*at, artifact, strip_prefixes);
  if (!checkpoint.ok()) {
    if (IsTrouble(checkpoint.error())) return checkpoint.error();
    return IntegrityError("the kept checkpoint cannot be read: " + checkpoint.error().ToString(),
                          artifact.path);
  }
  recorded.checkpoint = std::move(*checkpoint);
  return recorded;
}

std::vector<CurveSeries> CurvesOf(const std::vector<Curve>& curves) {
  std::vector<CurveSeries> series;
  series.reserve(curves.size());
  for (const Curve& curve : curves) {
    series.push_back({curve.name, curve.steps, curve.values, 0.0});
  }
  return series;
}

// The realm of the notes in a setting, at any depth. One redacted note makes the whole
// incomparable, as do notes of several keys.
std::string RealmIn(const Json& value) {
  std::set<std::string> realms;
  const std::function<void(const Json&)> add = [&](const Json& part) {
    if (part.kind() == Json::Kind::kString) realms.insert(RealmOf(part.AsString()));
    if (part.IsArray()) std::ranges::for_each(part.AsArray(), add);
    if (!part.IsObject()) return;
    for (const auto& [member, of] : part.AsObject()) add(of);
  };
  add(value);
  realms.erase("");
  if (realms.contains(std::string(kRedacted))) return std::string(kRedacted);
  return fmt::format("{}", fmt::join(realms, " "));
}

void AddConfiguration(const Manifest& manifest, std::vector<Fact>* facts) {
  for (const auto& [name, value] : manifest.hyperparameters) {
    facts->push_back({.layer = Layer::kCode,
                      .key = "hyperparameter." + name,
                      .value = value.Dump(),
                      .weight = FactWeight::kIdentity,
                      .realm = RealmIn(value)});
  }
  if (!manifest.family.empty()) {
    facts->push_back({Layer::kCode, "family", manifest.family, FactWeight::kContext});
  }
  facts->push_back({Layer::kCode, "command", fmt::format("{}", fmt::join(manifest.command, " ")),
                    FactWeight::kContext});
  for (const auto& [name, value] : manifest.determinism.flags) {
    facts->push_back({Layer::kRandomness, "determinism." + name, value, FactWeight::kContext});
  }
  for (const std::string& source : manifest.rng_sources) {
    const bool seeded = manifest.seeds.contains(source);
    facts->push_back({Layer::kRandomness, "rng." + source, seeded ? "seeded" : "not seeded",
                      FactWeight::kContext});
  }
}

}  // namespace rharness
