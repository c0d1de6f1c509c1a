// The findings that keep a model from being registered.
#include "harness/insight/publish/registration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>

#include "harness/base/shell_word.h"
#include "harness/records/manifest/admission.h"
#include "harness/verdict/verdict.h"
#include "reports/text.h"

namespace rharness {
namespace {

using Findings = std::vector<Reason>;

// Two machines' clocks may differ by so much.
constexpr double kMostClockDays = 5.0 / (24 * 60);

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
  for (const Finding& finding : Admit(*known.manifest)) {
    findings->push_back(
        {"incomplete", SafeText(fmt::format("{}: {}", finding.subject, finding.message), 400)});
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
  if (!Reproduced(last->verdict)) {
    const bool drifted = last->verdict == Verdict::kDrifted;
    findings->push_back(
        {drifted ? "drifted" : "not_reproduced",
         fmt::format("the last verdict is {}, of {} (drill {})", VerdictName(last->verdict),
                     FormatTime(last->decided), SafeText(last->drill_id, 200))});
    return;
  }
  for (const std::string& path : known.unproven) {
    findings->push_back(
        {"weights_unproven",
         fmt::format("the drill reproduced {}, and nothing shows that a file with the recorded "
                     "sha256 is it; expected the recorded file where the record "
                     "says, or a rerun that writes it",
                     SafeText(path, 200))});
  }
  const double days =
      std::chrono::duration<double, std::ratio<86'400>>(now - last->decided).count();
  if (days < -kMostClockDays) {
    findings->push_back(
        {"of_the_future", fmt::format("the last verdict, {}, is of {}; expected one of the past",
                                      VerdictName(last->verdict), FormatTime(last->decided))});
  } else if (max_age_days && days > *max_age_days) {
    findings->push_back(
        {"too_old", fmt::format("the last verdict, {}, is {:.1f} days old; expected at most {:g}",
                                VerdictName(last->verdict), days, *max_age_days)});
  }
}

bool SameName(const std::string& one, const std::string& other) {
  return std::filesystem::path(one).filename() == std::filesystem::path(other).filename();
}

// A file of the run, as it recorded it.
struct RecordedFile {
  std::string path;
  std::string sha256;
};

// The artifacts that a drill compares and ties to their files. It compares a tracker's copy of a
// model with nothing, logs and metrics by their values.
std::vector<Artifact> ComparedArtifacts(const RunKnown& known) {
  std::vector<Artifact> compared;
  for (const Artifact& one : known.manifest->artifacts) {
    if (one.role == kModelOfTracker || one.role == "log" || one.role == "metrics") continue;
    if (std::ranges::find(known.unproven, one.path) == known.unproven.end())
      compared.push_back(one);
  }
  return compared;
}

std::vector<RecordedFile> RecordedFiles(const std::vector<Artifact>& artifacts) {
  std::vector<RecordedFile> files;
  for (const Artifact& one : artifacts) {
    if (!one.sha256.empty()) files.push_back({one.path, one.sha256});
    const auto folder = std::filesystem::path(one.path).parent_path();
    for (const ArtifactPart& part : one.parts) {
      if (!part.sha256.empty()) files.push_back({(folder / part.path).string(), part.sha256});
    }
  }
  return files;
}

// The similarity of a registered path to a recorded one, which may be in another folder there: the
// same path, then paths with a common ending, with the fewest folders above, then the same name.
// Empty: none.
std::optional<std::pair<int, std::ptrdiff_t>> Likeness(const std::string& registered,
                                                       const std::string& recorded) {
  if (registered == recorded) return std::pair(3, std::ptrdiff_t{0});
  if (!SameName(registered, recorded)) return std::nullopt;
  if (recorded.ends_with("/" + registered) || registered.ends_with("/" + recorded)) {
    return std::pair(
        2, -std::abs(std::ranges::count(registered, '/') - std::ranges::count(recorded, '/')));
  }
  return std::pair(1, std::ptrdiff_t{0});
}

// A registered file, compared with the most similar recorded files. Content equal to a different
// recorded file does not count: readers use the path.
struct HeldFile {
  const RecordedFile* named = nullptr;  // null: nothing is recorded of it
  bool held = false;
};

HeldFile Hold(const RegistryFile& file, const std::vector<RecordedFile>& recorded) {
  HeldFile found;
  const std::string& path = file.record_path.empty() ? file.path : file.record_path;
  std::optional<std::pair<int, std::ptrdiff_t>> most;
  for (const RecordedFile& one : recorded) {
    const auto likeness = Likeness(path, one.path);
    if (!likeness || likeness < most) continue;
    if (likeness > most) most = likeness, found = {&one, false};
    found.held = found.held || (!file.sha256.empty() && file.sha256 == one.sha256);
  }
  return found;
}

// For a logged model all files, else those named as weights.
struct HeldFiles {
  std::size_t held = 0;       // of a logged model, with their recorded SHA-256
  std::size_t unknown = 0;    // of a logged model without a record
  std::string first_unknown;  // path
  Findings others;            // recorded with other content
  // Paths: of a logged model, held, and compared by no drill; beside it, what a loader may take.
  std::vector<std::string> uncompared, unrecorded;
};

bool IsNamedAsWeights(const RegistryFile& file, const std::vector<RecordedFile>& weights) {
  return std::ranges::any_of(
      weights, [&](const RecordedFile& one) { return SameName(file.path, one.path); });
}

// The folders in which files with names of recorded weights lie; "" for the root.
std::set<std::string> FoldersOfWeights(const RegistryEntry& entry,
                                       const std::vector<RecordedFile>& weights) {
  std::set<std::string> folders;
  for (const RegistryFile& file : entry.files) {
    if (!IsNamedAsWeights(file, weights)) continue;
    folders.insert(std::filesystem::path(file.path).parent_path().string());
  }
  return folders;
}

// Whether it lies in one of these folders, or below.
bool IsBelowOne(const std::set<std::string>& folders, std::filesystem::path path) {
  for (path = path.parent_path();; path = path.parent_path()) {
    if (folders.contains(path.string())) return true;
    if (path == path.parent_path()) return false;
  }
}

HeldFiles HoldFiles(const RegistryEntry& entry, const RunKnown& known,
                    const std::vector<RecordedFile>& weights) {
  const std::vector<RecordedFile> recorded = RecordedFiles(known.manifest->artifacts);
  const std::vector<RecordedFile> compared = RecordedFiles(ComparedArtifacts(known));
  const std::set<std::string> folders = FoldersOfWeights(entry, weights);
  HeldFiles files;
  for (const RegistryFile& file : entry.files) {
    const bool is_weights = IsNamedAsWeights(file, weights);
    const bool loaded = file.of_model || is_weights || MayBeLoaded(file.path) ||
                        (MayBeLoadedBeside(file.path) && IsBelowOne(folders, file.path));
    if (!loaded) continue;
    const HeldFile found = Hold(file, recorded);
    if (found.named == nullptr && file.of_model) {
      if (files.unknown++ == 0) files.first_unknown = file.path;
    } else if (found.named == nullptr) {
      if (!is_weights) files.unrecorded.push_back(file.path);
    } else if (!found.held) {
      files.others.push_back(
          {"weights_differ",
           fmt::format("the run recorded {} with sha256 {}; the registered {} has {}",
                       SafeText(found.named->path, 200), found.named->sha256,
                       SafeText(file.path, 200),
                       file.sha256.empty() ? "a different one" : file.sha256)});
    } else {
      files.held += file.of_model ? 1 : 0;
      const bool is_compared =
          std::ranges::find(compared, file.sha256, &RecordedFile::sha256) != compared.end();
      // Of recorded weights the drill's own finding says it.
      if (!is_compared && !is_weights) files.uncompared.push_back(file.path);
    }
  }
  return files;
}

// "model.pkl", "model.pkl and 2 more".
std::string FirstOf(const std::vector<std::string>& paths) {
  const std::string first = SafeText(paths.front(), 200);
  return paths.size() == 1 ? first : fmt::format("{} and {} more", first, paths.size() - 1);
}

// What a loader would load must be recorded, and compared with what a rerun wrote.
void CheckLoaded(const HeldFiles& files, Findings* findings) {
  if (!files.unrecorded.empty()) {
    findings->push_back(
        {"weights_unrecorded",
         fmt::format("the record does not name {}, which a loader may read beside the recorded "
                     "weights; expected every such file in the record (`rharness import` "
                     "records them) or none",
                     FirstOf(files.unrecorded))});
  }
  if (!files.uncompared.empty()) {
    findings->push_back(
        {"model_uncompared",
         fmt::format("no drill compared {} with what a rerun writes; expected a record with these "
                     "files among its outputs (`rharness import --complete --weights`; "
                     "scenarios/mlflow/rerun.py writes those of a logged model)",
                     FirstOf(files.uncompared))});
  }
}

// Recorded weights that are not there under their name.
void CheckThere(const RegistryEntry& entry, const RecordedFile& one, Findings* findings) {
  const auto has_it = [&](const RegistryFile& file) { return file.sha256 == one.sha256; };
  const bool there = std::ranges::any_of(entry.files, [&](const RegistryFile& file) {
    return has_it(file) && SameName(file.path, one.path);
  });
  if (there) return;
  const auto renamed = std::ranges::find_if(entry.files, has_it);
  const std::string instead =
      renamed == entry.files.end()
          ? fmt::format("none of the {} has it", Counted(entry.files.size(), "registered file"))
          : fmt::format("{} alone has it, which is another file", SafeText(renamed->path, 200));
  findings->push_back(
      {"weights_differ", fmt::format("the run recorded {} with sha256 {}; {}",
                                     SafeText(one.path, 200), one.sha256, instead)});
}

void CheckWeights(const RegistryEntry& entry, const HeldFiles& files,
                  const std::vector<RecordedFile>& weights, Findings* findings) {
  findings->insert(findings->end(), files.others.begin(), files.others.end());
  if (!files.others.empty()) return;
  if (files.unknown > 0) {
    findings->push_back(
        {"no_weights",
         fmt::format("of {} of the logged model's files the manifest has no SHA-256, the first: "
                     "{}; `rharness import` records them",
                     files.unknown, SafeText(files.first_unknown, 200))});
  }
  const bool held = files.held > 0 && files.unknown == 0 && entry.unread.empty();
  if (held && (entry.is_model || weights.empty())) return;
  if (weights.empty()) {
    if (files.unknown > 0) return;
    findings->push_back({"no_weights",
                         "the manifest has no weights with a SHA-256 to hold the model to; "
                         "`rharness import --complete --weights` adds them"});
    return;
  }
  if (!entry.unread.empty()) {
    findings->push_back({"weights_unread", "its files were not read: " + entry.unread});
    return;
  }
  for (const RecordedFile& one : weights) CheckThere(entry, one, findings);
}

}  // namespace

const VerdictRecord* DecidingVerdict(const RunKnown& known) {
  for (auto it = known.verdicts.rbegin(); it != known.verdicts.rend(); ++it) {
    if (it->verdict != Verdict::kInfra) return &*it;
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

std::vector<Reason> DecideRegistration(const RegistryEntry& entry, const RunKnown& known,
                                       std::optional<double> max_age_days, WallTime now) {
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
        {"no_manifest",
         fmt::format("there is no manifest of the run {}; `rharness import --run "
                     "{}` makes one",
                     SafeText(entry.run_id, 200), ShellWord(SafeText(entry.run_id, 200)))});
    return findings;
  }
  CheckRecord(known, &findings);
  CheckVerdict(known, max_age_days, now, &findings);
  const std::vector<RecordedFile> weights = RecordedFiles(WeightsOf(*known.manifest));
  const HeldFiles files = HoldFiles(entry, known, weights);
  CheckWeights(entry, files, weights, &findings);
  CheckLoaded(files, &findings);
  return findings;
}

}  // namespace rharness
