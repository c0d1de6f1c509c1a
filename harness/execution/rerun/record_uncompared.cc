// Outputs of a run that no rerun is compared by; see record_find.h.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/checkpoint_folder.h"
#include "harness/base/clean_text.h"
#include "harness/base/files.h"
#include "harness/base/source_folder.h"
#include "harness/execution/rerun/record_find.h"
#include "harness/execution/rerun/record_places.h"
#include "harness/records/logs/run_log.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/observe/files_seen.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Files that may be checkpoints, changed since the run began, in a folder outside of its own.
std::vector<std::string> CheckpointsIn(const fs::path& folder, WallTime started) {
  constexpr std::size_t kMostLooked = 10'000;
  std::vector<std::string> found;
  const auto source = SourceFolder::Open(folder.string());
  if (!source.ok()) return found;
  std::size_t looked = 0;
  (void)source->ForEachFile([&](const std::string& relative, EntryKind kind) -> Result<bool> {
    const fs::path path = folder / relative;
    const bool may_be = kind == EntryKind::kFile && StandsForCheckpoint(relative);
    if (may_be && IsChangedSince(path, started)) found.push_back(path.string());
    return ++looked < kMostLooked;
  });
  return found;
}

// Folders in which trackers keep their own state.
bool IsOfTracker(const fs::path& part) { return part == "mlruns" || part == "wandb"; }

}  // namespace

void NoteOutputsOutside(const std::vector<Artifact>& found, const fs::path& folder,
                        Recording* out) {
  if (!out->observation) return;
  std::error_code ignored;
  const std::string home = fs::weakly_canonical(folder, ignored).string() + "/";
  std::set<std::string> candidates;
  const fs::path temporary = fs::temp_directory_path(ignored);
  for (const std::string& output : out->observation->outputs) {
    if (IsSetting(output) || output.starts_with(home)) continue;
    if (StandsForCheckpoint(output)) candidates.insert(output);
    // It may have been written under another name, and its folder, too.
    fs::path place = fs::path(output).parent_path();
    while (!fs::is_directory(place, ignored) && place != place.parent_path()) {
      place = place.parent_path();
    }
    if (place == temporary || place == place.parent_path()) continue;
    for (std::string& path : CheckpointsIn(place, out->started)) candidates.insert(std::move(path));
  }
  std::erase_if(candidates, [&](const std::string& path) {
    const bool is_beside = std::ranges::any_of(found, [&](const Artifact& taken) {
      return taken.path.starts_with('/') &&
             path.starts_with(fs::path(taken.path).parent_path().string() + "/");
    });
    if (path.starts_with(home) || is_beside) return true;
    const auto opened = OpenCheckpoint(path);
    return !opened.ok() || (*opened)->tensors().empty();
  });
  // What is compared by its bytes alone stands for no checkpoint.
  const bool has_checkpoint = std::ranges::any_of(found, IsCheckpoint);
  for (const std::string& path : candidates) {
    std::string sentence = fmt::format(
        "output '{}' {}: the run wrote it outside of its folder, where no rerun is looked at; "
        "expected it below that folder, or in one that an argument or a variable of the record "
        "names and that the run does not read",
        CleanText(path), has_checkpoint ? "is not compared" : kNotRecorded);
    (has_checkpoint ? out->remarks : out->missing_outputs).push_back(std::move(sentence));
  }
}

void NoteUncompared(const std::vector<NamedPlace>& places, const fs::path& folder, Recording* out) {
  if (!out->observation) return;
  std::error_code ignored;
  const std::string home = fs::weakly_canonical(folder, ignored).string() + "/";
  std::set<std::string> compared = {out->metrics_path};
  for (const Artifact& artifact : out->artifacts) {
    for (const fs::path& file : FilesOf(artifact)) compared.insert(file.string());
    const auto parts = PartsOfCheckpoint(folder / artifact.path);
    if (!parts.ok()) continue;
    const fs::path beside = fs::path(artifact.path).parent_path();
    for (const std::string& file : *parts) compared.insert((beside / file).string());
  }
  std::vector<std::string> others;
  for (const std::string& output : out->observation->outputs) {
    if (!fs::is_regular_file(output, ignored)) continue;
    const bool is_own = output.starts_with(home);
    const bool in_place = std::ranges::any_of(places, [&](const NamedPlace& one) {
      return output.starts_with(one.place.string() + "/");
    });
    if (!is_own && !in_place) continue;
    const std::string relative = is_own ? output.substr(home.size()) : output;
    const bool log = !out->metrics_path.empty() && relative.starts_with(out->metrics_path + "/") &&
                     MayBeRunLog(relative);
    const bool item = std::ranges::any_of(out->artifacts, [&](const Artifact& artifact) {
      return artifact.role == kItemsRole && relative.starts_with(artifact.path + "/");
    });
    const bool made = relative.ends_with(".pyc") || relative.ends_with(".lock") ||
                      std::ranges::any_of(fs::path(relative), IsOfTracker);
    if (!log && !item && !made && !compared.contains(relative))
      others.push_back(CleanText(relative));
  }
  if (others.empty()) return;
  constexpr std::size_t kNamed = 5;
  const std::size_t more = others.size() - std::min(others.size(), kNamed);
  others.resize(others.size() - more);
  out->found.fields.push_back(
      {"outputs", Grade::kMissing,
       fmt::format("{}{}; `--artifact other=FILE` compares the bytes of one",
                   fmt::join(others, ", "), more == 0 ? "" : fmt::format(" and {} more", more))});
}

}  // namespace rharness
