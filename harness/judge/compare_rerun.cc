// Comparing one rerun with its manifest.
#include "harness/judge/compare_rerun.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compare/compare_checkpoints.h"
#include "compare/curves/series.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/gang_merge.h"
#include "harness/judge/eval_sets.h"
#include "harness/judge/facts_of.h"
#include "harness/judge/file_proof.h"
#include "harness/judge/item_outputs.h"
#include "harness/judge/left_files.h"
#include "harness/judge/output_files.h"
#include "harness/judge/record_parts.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Both sides with their bytes; an error has the reason why they are not available.
Result<std::vector<CheckpointComparison>> CompareBytes(const Artifact& recorded,
                                                       const Artifact& seen, const Places& places,
                                                       const fs::path& drill_folder) {
  if (recorded.location.empty()) return NotFound("not kept", recorded.path);
  if (seen.location.empty()) return NotFound("not kept of the rerun", recorded.path);
  ASSIGN_OR_RETURN(const fs::path original, Locate(places, recorded.location));
  std::vector<std::string> missing;
  ASSIGN_OR_RETURN(RecordedCheckpoint a, OpenRecorded(recorded, original, {}, &missing));
  ASSIGN_OR_RETURN(RecordedCheckpoint b,
                   OpenRecorded(seen, drill_folder / seen.location, {}, &missing));
  if (!missing.empty()) return NotFound(missing.front(), recorded.path);
  return CompareCheckpoints({std::move(a)}, {std::move(b)}, {});
}

// By recorded digests; by root digests if the list of tensors is not available.
std::vector<CheckpointComparison> CompareRecords(const Artifact& recorded, const Artifact& seen,
                                                 std::vector<std::string>* notes) {
  auto a = RecordedFrom(recorded);
  auto b = RecordedFrom(seen);
  for (const auto* side : {&a, &b}) {
    if (!side->ok()) notes->push_back(side->error().ToString());
  }
  if (!a.ok() || !b.ok()) {
    a = RecordedCheckpoint{.path = recorded.path,
                           .role = recorded.role,
                           .checkpoint = nullptr,
                           .recorded = {},
                           .recorded_digest = recorded.tensor_digest,
                           .recorded_beside = recorded.beside_digest,
                           .recorded_parts = PartDigestsOf(recorded)};
    b = *a;
    b->recorded_digest = seen.tensor_digest;
    b->recorded_beside = seen.beside_digest;
    b->recorded_parts = PartDigestsOf(seen);
  }
  auto compared = CompareCheckpoints({std::move(*a)}, {std::move(*b)}, {});
  return compared.ok() ? std::move(*compared) : std::vector<CheckpointComparison>();
}

// Of a checkpoint that may be signed for this rerun: other bits where they are promised are a
// drift, whatever the file.
Status TellUnproven(const Artifact& recorded, const Artifact& seen, const Places& places,
                    Comparison* comparison, std::vector<std::string>* damage) {
  const bool same = seen.tensor_digest == recorded.tensor_digest;
  if ((comparison->expect_bitwise && !same) || IsWrittenAs(recorded, seen)) return {};
  ASSIGN_OR_RETURN(auto unproven, FindUnproven(recorded, seen, places, damage));
  if (unproven) comparison->findings.push_back(std::move(*unproven));
  return {};
}

// Errors: the machine's trouble.
Status CompareArtifact(const Artifact& recorded, const Evidence& evidence, const Places& places,
                       const fs::path& drill_folder, Comparison* comparison,
                       std::vector<std::string>* damage) {
  const std::string subject = fmt::format("{} {}", recorded.role, recorded.path);
  const auto seen = std::ranges::find(evidence.artifacts, recorded.path, &Artifact::path);
  const bool absent = seen == evidence.artifacts.end() || seen->tensor_digest.empty();
  if (absent || recorded.tensor_digest.empty()) {
    const std::string why = recorded.tensor_digest.empty() ? "no tensor digest was recorded"
                                                           : "the rerun did not write it";
    comparison->findings.push_back({.code = "missing_checkpoint",
                                    .layer = {},
                                    .subject = subject,
                                    .observed = absent ? "absent" : "present",
                                    .limit = "present",
                                    .rule = "what decides must be on both sides",
                                    .message = subject + ": " + why});
    return {};
  }
  std::vector<CheckpointComparison> parts;
  if (seen->tensor_digest != recorded.tensor_digest) {
    auto by_bytes = CompareBytes(recorded, *seen, places, drill_folder);
    if (by_bytes.ok()) {
      parts = std::move(*by_bytes);
    } else if (IsTrouble(by_bytes.error())) {
      return by_bytes.error();
    } else {
      comparison->notes.push_back(
          fmt::format("{} is compared by its digests: {}", subject, by_bytes.error().message));
      if (by_bytes.error().code == ErrorCode::kIntegrity) {
        damage->push_back(comparison->name + ": " + by_bytes.error().ToString());
      }
    }
  } else if (!HasSameFiles(recorded, *seen)) {
    comparison->notes.push_back(
        fmt::format("{}: every tensor is equal, only metadata differs", subject));
    // Which may be loaded with the tensors: a GGUF file's, the attributes of a pickled module.
    auto by_bytes = CompareBytes(recorded, *seen, places, drill_folder);
    if (!by_bytes.ok() && IsTrouble(by_bytes.error())) return by_bytes.error();
    if (by_bytes.ok()) parts = std::move(*by_bytes);
  }
  RETURN_IF_ERROR(TellUnproven(recorded, *seen, places, comparison, damage));
  if (parts.empty()) {
    Artifact known = recorded;
    // Older records have no such digest, and the same files need none.
    if (HasSameFiles(recorded, *seen)) known.beside_digest = seen->beside_digest;
    parts = CompareRecords(known, *seen, &comparison->notes);
  }
  std::ranges::move(parts, std::back_inserter(comparison->checkpoints));
  return {};
}

ItemOutputs ItemsOf(const Manifest& manifest, const Evidence& evidence, const Places& places,
                    const fs::path& drill_folder, std::vector<std::string>* notes) {
  const KeptItems recorded = LoadKeptItems(
      manifest.artifacts, [&](const std::string& location) { return Locate(places, location); },
      notes);
  const KeptItems seen = LoadKeptItems(
      evidence.artifacts,
      [&](const std::string& location) -> Result<fs::path> { return drill_folder / location; },
      notes);
  return CompareItemOutputs(recorded, seen, manifest.metrics);
}

// Curves that the manifest does not declare are the rerun's own affair.
std::vector<Curve> Declared(const std::vector<Curve>& seen, const std::vector<Curve>& recorded) {
  std::vector<Curve> declared;
  for (const Curve& curve : seen) {
    if (std::ranges::find(recorded, curve.name, &Curve::name) != recorded.end()) {
      declared.push_back(curve);
    }
  }
  return declared;
}

// As for curves, except declared ones that are now not read exactly.
UnreadMembers Declared(const UnreadMembers& seen, const Manifest& manifest) {
  UnreadMembers declared;
  const auto holds = [](const auto& list, auto name, std::string_view member) {
    const std::string_view wanted = member.substr(member.find('.') + 1);
    return std::ranges::find(list, wanted, name) != list.end();
  };
  for (const auto& [member, text] : seen) {
    if (manifest.unread_metrics->contains(member) || member.ends_with(kMoreUnread) ||
        (member.starts_with("metrics.") && holds(manifest.metrics, &Metric::name, member)) ||
        (member.starts_with("curves.") && holds(manifest.curves, &Curve::name, member))) {
      declared.emplace(member, text);
    }
  }
  return declared;
}

}  // namespace

RerunEnd EndOf(const Evidence& evidence) {
  RerunEnd end{
      .index = evidence.rerun, .state = RerunEnd::State::kCompared, .reason = {}, .layer = {}};
  const auto stop = [&](RerunEnd::State state, std::string reason) {
    end.state = state;
    end.reason = std::move(reason);
    return end;
  };
  if (!evidence.obstacle.empty()) {
    end.layer = evidence.obstacle_layer;
    return stop(end.layer ? RerunEnd::State::kNotComparable : RerunEnd::State::kInfra,
                evidence.obstacle);
  }
  if (!evidence.outcome.Succeeded()) {
    const OutcomeKind kind = evidence.outcome.kind;
    const auto rank = std::ranges::find(evidence.remarks, kRankFailed, &Finding::code);
    if (rank != evidence.remarks.end()) return stop(RerunEnd::State::kFailed, rank->message);
    const bool active = kind == OutcomeKind::kExited || kind == OutcomeKind::kTimedOut;
    return stop(RerunEnd::State::kFailed,
                fmt::format("the run {}{}", active ? "" : "was ", evidence.outcome.ToString()));
  }
  for (const Finding& remark : evidence.remarks) {
    if (remark.code == "output_missing" || remark.code == "output_unreadable" ||
        remark.code == kOutputDiffers) {
      return stop(RerunEnd::State::kFailed, remark.message);
    }
    if (remark.layer) {
      end.layer = remark.layer;
      return stop(RerunEnd::State::kNotComparable, remark.message);
    }
  }
  return end;
}

std::vector<Finding> CompareUnread(const UnreadMembers& a, const UnreadMembers& b,
                                   const std::array<std::string_view, 2>& sides) {
  std::map<std::string, std::array<std::string, 2>> members;
  for (const auto& [member, text] : a) members[member][0] = text;
  for (const auto& [member, text] : b) members[member][1] = text;
  std::vector<Finding> findings;
  for (const auto& [member, texts] : members) {
    if (texts[0] == texts[1] || KindOfCurve(member) == CurveKind::kResource) continue;
    const auto shown = [](const std::string& text) {
      return text.empty() ? std::string("not so") : TerminalSafe(text);
    };
    const std::string name = TerminalSafe(member);
    findings.push_back(
        {.code = "not_compared",
         .layer = {},
         .subject = name,
         .observed = shown(texts[1]),
         .limit = shown(texts[0]),
         .rule = "unread members must be the same text on both sides",
         .message = fmt::format("{} cannot be read exactly and differs: {} {}, {} {}", name,
                                shown(texts[0]), sides[0], shown(texts[1]), sides[1])});
  }
  return findings;
}

Comparison CompareRerun(const Manifest& manifest, const Evidence& evidence, const Places& places,
                        const fs::path& drill_folder, std::vector<std::string>* damage) {
  Comparison comparison;
  comparison.name = manifest.run_id;
  comparison.is_rerun = true;
  comparison.declared_bitwise = manifest.determinism.declared == "bitwise";
  comparison.expect_bitwise = comparison.declared_bitwise;
  comparison.ends = {EndOf(evidence)};
  const ItemOutputs items = ItemsOf(manifest, evidence, places, drill_folder, &comparison.notes);
  std::vector<Fact> recorded_facts = FactsAsRerun(manifest, evidence);
  std::vector<Fact> seen_facts = FactsOf(evidence, manifest);
  std::ranges::copy(items.facts_a, std::back_inserter(recorded_facts));
  std::ranges::copy(items.facts_b, std::back_inserter(seen_facts));
  comparison.layers = CompareFacts(recorded_facts, seen_facts);
  comparison.findings = evidence.remarks;
  std::ranges::move(EvalSetFindings(manifest, evidence), std::back_inserter(comparison.findings));
  if (comparison.ends.front().state != RerunEnd::State::kCompared) return comparison;
  std::ranges::move(FindLeftFiles(manifest, evidence.observation),
                    std::back_inserter(comparison.findings));
  std::ranges::move(FindUnknownStart(manifest), std::back_inserter(comparison.findings));
  for (const Artifact& artifact : manifest.artifacts) {
    const auto seen = std::ranges::find(evidence.artifacts, artifact.path, &Artifact::path);
    const Artifact* written = seen == evidence.artifacts.end() ? nullptr : &*seen;
    const bool as_file = IsComparedAsFile(artifact, written);
    if (as_file && (written == nullptr || !IsCheckpoint(artifact))) continue;
    const Status compared =
        as_file ? TellUnproven(artifact, *written, places, &comparison, damage)
                : CompareArtifact(artifact, evidence, places, drill_folder, &comparison, damage);
    if (compared.ok()) continue;
    comparison.ends.front().state = RerunEnd::State::kInfra;
    comparison.ends.front().reason = "cannot be compared: " + compared.error().ToString();
    return comparison;
  }
  comparison.metrics = items.decisions;
  std::ranges::copy(items.notes, std::back_inserter(comparison.notes));
  Manifest rerun;
  rerun.artifacts = evidence.artifacts;
  CompareOutputFiles(WithoutItems(manifest, items.compared), rerun, &comparison);
  comparison.curves = CompareRerunCurves(manifest, evidence, {});
  if (manifest.unread_metrics && evidence.unread_metrics) {
    std::ranges::move(
        CompareUnread(*manifest.unread_metrics, Declared(*evidence.unread_metrics, manifest),
                      {"recorded", "in the rerun"}),
        std::back_inserter(comparison.findings));
  }
  return comparison;
}

std::vector<CurveComparison> CompareRerunCurves(const Manifest& manifest, const Evidence& evidence,
                                                const RoundingRuns& rounding) {
  return CompareRerunCurves(CurvesOf(manifest.curves),
                            CurvesOf(Declared(evidence.metrics.curves, manifest.curves)), rounding,
                            {});
}

}  // namespace rharness
