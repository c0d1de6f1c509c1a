// A run in a drill's report as an attested verdict.
#include "harness/trust/attestation/verdict_statement.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/base/digest.h"
#include "harness/records/manifest/fields.h"
#include "harness/trust/attestation/approval_statements.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostTextBytes = 2000;

Finding SafeReason(const Finding& finding) {
  const auto safe = [](const std::string& text) { return SafeText(text, kMostTextBytes); };
  return {.code = safe(finding.code),
          .layer = finding.layer,
          .subject = safe(finding.subject),
          .observed = safe(finding.observed),
          .limit = safe(finding.limit),
          .rule = safe(finding.rule),
          .message = safe(finding.message),
          .decisive = finding.decisive};
}

void AddReasons(const ReportRun& run, AttestedVerdict* verdict) {
  for (std::size_t i = 0; i < kLayers.size(); ++i) {
    AttestedLayer& layer = verdict->layers[i];
    layer.layer = kLayers[i];
    layer.state = run.layers[i].state;
    for (const FactDifference& one : run.layers[i].differences) {
      if (layer.differs.size() < kMostReasons) layer.differs.push_back(SafeText(one.key, 400));
    }
  }
  std::size_t taken = 0;
  for (const Finding& finding : run.findings) {
    if (++taken > kMostReasons) {
      ++verdict->reasons_left_out;
    } else if (finding.layer) {
      verdict->layers[static_cast<std::size_t>(*finding.layer)].reasons.push_back(
          SafeReason(finding));
    } else {
      verdict->reasons.push_back(SafeReason(finding));
    }
  }
}

// Of two files of one name the first counts: a shard that two indexes list.
void AddSubject(std::string name, const std::string& sha256, std::vector<SignedSubject>* subjects) {
  if (!IsSha256Hex(sha256)) return;
  const bool known = std::ranges::find(*subjects, name, &SignedSubject::name) != subjects->end();
  if (!known) subjects->push_back({std::move(name), sha256});
}

}  // namespace

std::vector<SignedSubject> CheckpointSubjects(const std::vector<Artifact>& artifacts) {
  std::vector<SignedSubject> subjects;
  for (const Artifact& artifact : artifacts) {
    if (!IsCheckpoint(artifact)) continue;
    AddSubject(artifact.path, artifact.sha256, &subjects);
    const auto folder = std::filesystem::path(artifact.path).parent_path();
    for (const ArtifactPart& part : artifact.parts) {
      AddSubject((folder / part.path).generic_string(), part.sha256, &subjects);
    }
  }
  return subjects;
}

AttestedVerdict AttestedVerdictOf(const AttestedDrill& drill, const ReportRun& run,
                                  const Manifest& manifest,
                                  const std::vector<std::string>& unsignable,
                                  std::vector<AttestedRerun> reruns) {
  AttestedVerdict verdict;
  verdict.run_id = manifest.run_id;
  verdict.family = manifest.family;
  verdict.declared = manifest.determinism.declared;
  verdict.manifest = ManifestSubject(manifest);
  std::vector<Artifact> artifacts = manifest.artifacts;
  std::erase_if(artifacts, [&](const Artifact& one) {
    return std::ranges::find(unsignable, one.path) != unsignable.end();
  });
  verdict.artifacts = CheckpointSubjects(artifacts);
  verdict.unproven = unsignable;
  std::erase_if(verdict.artifacts,
                [&](const SignedSubject& one) { return one.name == verdict.manifest.name; });
  verdict.drill_id = SafeText(drill.report->drill_id, kMostTextBytes);
  verdict.started = drill.report->started;
  verdict.decided = drill.report->ended;
  verdict.report_sha256 = drill.report_sha256;
  verdict.version = SafeText(drill.report->version, 100);
  verdict.verdict = run.verdict;
  verdict.headline = SafeText(run.headline, kMostTextBytes);
  AddReasons(run, &verdict);
  verdict.reruns = std::move(reruns);
  return verdict;
}

}  // namespace rharness
