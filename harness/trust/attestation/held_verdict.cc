// A signed verdict beside a manifest, and beside the drill that it is of.
#include "harness/trust/attestation/held_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "harness/trust/attestation/approval_statements.h"

namespace rharness {
namespace {

const VerdictRecord* VerdictOn(const std::string& run_id,
                               const std::vector<VerdictRecord>& verdicts) {
  const auto found = std::ranges::find(verdicts, run_id, &VerdictRecord::run_id);
  return found == verdicts.end() ? nullptr : &*found;
}

bool IsSame(const AttestedVerdict& said, const VerdictRecord* held) {
  return held != nullptr && held->verdict == said.verdict && held->decided == said.decided;
}

}  // namespace

Status HoldToManifest(const AttestedVerdict& said, const Manifest& manifest,
                      const std::string& sha256, const std::string& where) {
  if (said.run_id != manifest.run_id || said.family != manifest.family) {
    return IntegrityError(
        fmt::format("the verdict was signed for run {} of family '{}'; the manifest is of run {} "
                    "of family '{}'",
                    Shown(said.run_id), Shown(said.family), Shown(manifest.run_id),
                    Shown(manifest.family)),
        where);
  }
  if (said.manifest.sha256 != sha256) {
    return IntegrityError(fmt::format("the verdict was signed for a manifest of run {} with sha256 "
                                      "{}; the manifest has {}",
                                      Shown(said.run_id), said.manifest.sha256, sha256),
                          where);
  }
  const std::vector<SignedSubject> recorded = CheckpointSubjects(manifest.artifacts);
  for (const SignedSubject& one : said.artifacts) {
    if (std::ranges::find(recorded, one) != recorded.end()) continue;
    return IntegrityError(fmt::format("the verdict was signed for {} with sha256 {}, which is no "
                                      "checkpoint that the manifest records",
                                      Shown(one.name), one.sha256),
                          where);
  }
  return {};
}

Result<HeldVerdict> HoldToHistory(const AttestedVerdict& said, const Manifest& manifest,
                                  EnteredDrills* drills, const std::string& where) {
  RETURN_IF_ERROR(HoldToManifest(said, manifest, ManifestSubject(manifest).sha256, where));
  ASSIGN_OR_RETURN(const std::optional<EnteredDrill> drill, drills->FindDrill(said.drill_id));
  const VerdictRecord* held = drill ? VerdictOn(said.run_id, drill->verdicts) : nullptr;
  if (IsSame(said, held)) return HeldVerdict{.drill_id = held->drill_id};
  const auto is_it = [&](const VerdictRecord& one) {
    return one.run_id == said.run_id && IsSame(said, &one);
  };
  if (drill && std::ranges::any_of(drill->superseded, is_it)) {
    return HeldVerdict{.drill_id = drill->drill.drill_id, .superseded = true};
  }
  const std::string signed_words =
      fmt::format("signed was that drill {} found run {} {}, decided {}", Shown(said.drill_id),
                  Shown(said.run_id), VerdictName(said.verdict), FormatTime(said.decided));
  return IntegrityError(
      held == nullptr
          ? fmt::format("{}; the history has no verdict of that drill on it", signed_words)
          : fmt::format("{}; the history has {}, decided {}", signed_words,
                        VerdictName(held->verdict), FormatTime(held->decided)),
      where);
}

}  // namespace rharness
