// The findings that keep a model from being registered.
#include "harness/publish/registration.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compare/verdict.h"
#include "harness/manifest/admission.h"
#include "reports/text.h"

namespace rharness {
namespace {

using Findings = std::vector<RegistrationFinding>;

void CheckRecord(const RunKnown& known, Findings* findings) {
  if (known.manifest_differs) {
    findings->push_back({"manifest_differs",
                         "the manifest that is given is not the one in the history; expected one "
                         "record of the run"});
  }
  if (!known.retirement_doubt.empty()) {
    findings->push_back(
        {"retirement_doubtful", fmt::format("the run is retired, and not as it was signed: {}",
                                            SafeText(known.retirement_doubt, 400))});
  } else if (known.retired) {
    findings->push_back(
        {"retired", fmt::format("the run was retired: {}", SafeText(*known.retired, 400))});
  }
  for (const AdmissionFinding& finding : Admit(*known.manifest)) {
    findings->push_back(
        {"incomplete", SafeText(fmt::format("{}: {}", finding.path, finding.message), 400)});
  }
}

void CheckVerdict(const RunKnown& known, std::optional<double> max_age_days, WallTime now,
                  Findings* findings) {
  const VerdictRecord* last = DecidingVerdict(known);
  if (last == nullptr) {
    findings->push_back({"never_drilled", known.verdicts.empty()
                                              ? "no drill has judged the run; `rharness drill` does"
                                              : "no drill could carry the run out"});
    return;
  }
  const auto verdict = ParseVerdict(last->verdict);
  const bool good =
      verdict.ok() && (*verdict == Verdict::kIdentical || *verdict == Verdict::kEquivalent);
  if (!good) {
    const bool drifted = verdict.ok() && *verdict == Verdict::kDrifted;
    findings->push_back(
        {drifted ? "drifted" : "not_reproduced",
         fmt::format("the last verdict is {}, of {} (drill {})", SafeText(last->verdict, 40),
                     FormatTime(last->decided), SafeText(last->drill_id, 200))});
    return;
  }
  const double days =
      std::chrono::duration<double, std::ratio<86'400>>(now - last->decided).count();
  if (max_age_days && days > *max_age_days) {
    findings->push_back(
        {"too_old", fmt::format("the last verdict, {}, is {:.1f} days old; expected at most {:g}",
                                SafeText(last->verdict, 40), days, *max_age_days)});
  }
}

bool SameName(const std::string& one, const std::string& other) {
  return std::filesystem::path(one).filename() == std::filesystem::path(other).filename();
}

void CheckFile(const RegistryEntry& entry, const std::string& path, const std::string& sha256,
               Findings* findings) {
  if (std::ranges::any_of(entry.files, [&](const auto& file) { return file.sha256 == sha256; })) {
    return;
  }
  const auto named = std::ranges::find_if(entry.files, [&](const RegistryFile& file) {
    return !file.sha256.empty() && SameName(file.path, path);
  });
  const std::string recorded =
      fmt::format("the run recorded {} with sha256 {}", SafeText(path, 200), sha256);
  findings->push_back(
      {"weights_differ", named == entry.files.end()
                             ? fmt::format("{}; none of the {} has it", recorded,
                                           Counted(entry.files.size(), "registered file"))
                             : fmt::format("{}; the registered {} has {}", recorded,
                                           SafeText(named->path, 200), named->sha256)});
}

// The files of logged models, held to what was recorded of them.
struct HeldModels {
  std::size_t held = 0;     // that have a recorded SHA-256
  std::size_t unknown = 0;  // of which nothing is recorded
  Findings others;          // that are recorded with another one
};

HeldModels HoldModels(const RegistryEntry& entry, const Manifest& manifest) {
  HeldModels models;
  for (const RegistryFile& file : entry.files) {
    if (!file.of_model) continue;
    const Artifact* named = nullptr;
    bool held = false;
    for (const Artifact& one : manifest.artifacts) {
      if (one.sha256.empty()) continue;
      held = held || (!file.sha256.empty() && one.sha256 == file.sha256);
      const bool is_named = one.path == file.path || one.path.ends_with("/" + file.path);
      if (is_named && (named == nullptr || one.path.size() < named->path.size())) named = &one;
    }
    if (held) {
      ++models.held;
    } else if (named == nullptr) {
      ++models.unknown;
    } else {
      models.others.push_back(
          {"weights_differ",
           fmt::format("the run recorded {} with sha256 {}; the registered {} has {}",
                       SafeText(named->path, 200), named->sha256, SafeText(file.path, 200),
                       file.sha256.empty() ? "another one" : file.sha256)});
    }
  }
  return models;
}

void CheckWeights(const RegistryEntry& entry, const Manifest& manifest, Findings* findings) {
  const std::vector<Artifact> weights = WeightsOf(manifest);
  const HeldModels models = HoldModels(entry, manifest);
  findings->insert(findings->end(), models.others.begin(), models.others.end());
  if (!models.others.empty()) return;
  const bool held = models.held > 0 && models.unknown == 0 && entry.unread.empty();
  if (held && (entry.is_model || weights.empty())) return;
  if (weights.empty() && models.unknown > 0) {
    findings->push_back(
        {"no_weights", fmt::format("of {} of the logged model's files the manifest has no "
                                   "SHA-256; `rharness import` records them",
                                   models.unknown)});
    return;
  }
  if (weights.empty()) {
    findings->push_back({"no_weights",
                         "the manifest has no weights with a SHA-256 to hold the model to; "
                         "`rharness complete --weights` adds them"});
    return;
  }
  if (!entry.unread.empty()) {
    findings->push_back({"weights_unread", "its files were not read: " + entry.unread});
    return;
  }
  for (const Artifact& one : weights) {
    CheckFile(entry, one.path, one.sha256, findings);
    for (const ArtifactPart& part : one.parts) CheckFile(entry, part.path, part.sha256, findings);
  }
}

}  // namespace

const VerdictRecord* DecidingVerdict(const RunKnown& known) {
  for (auto it = known.verdicts.rbegin(); it != known.verdicts.rend(); ++it) {
    if (it->verdict != VerdictName(Verdict::kInfra)) return &*it;
  }
  return nullptr;
}

std::vector<Artifact> WeightsOf(const Manifest& manifest) {
  std::vector<Artifact> weights;
  for (const Artifact& one : manifest.artifacts) {
    if (one.role == "weights" && !one.sha256.empty()) weights.push_back(one);
  }
  return weights;
}

std::vector<RegistrationFinding> DecideRegistration(const RegistryEntry& entry,
                                                    const RunKnown& known,
                                                    std::optional<double> max_age_days,
                                                    WallTime now) {
  Findings findings;
  if (entry.run_id.empty()) {
    return {{"no_run", "the server does not say which run it is of"}};
  }
  if (entry.deleted) {
    findings.push_back({"run_deleted", fmt::format("the run {} was deleted at the server",
                                                   SafeText(entry.run_id, 200))});
  }
  if (!known.manifest) {
    findings.push_back(
        {"no_manifest", fmt::format("there is no manifest of the run {}; `rharness import --run "
                                    "{}` makes one",
                                    SafeText(entry.run_id, 200), SafeText(entry.run_id, 200))});
    return findings;
  }
  CheckRecord(known, &findings);
  CheckVerdict(known, max_age_days, now, &findings);
  CheckWeights(entry, *known.manifest, &findings);
  return findings;
}

}  // namespace rharness
