// The guesses of a recording in words, and the next command.
#include "harness/cli/record_found.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/shell_word.h"
#include "harness/cli/verb.h"
#include "harness/records/manifest/admission.h"

namespace rharness {
namespace {

// What a guess of the manifest's origin stands for: "data digits: data/digits.npz".
std::string GuessedAs(const Manifest& manifest, std::string_view path) {
  for (std::size_t i = 0; i < manifest.code.files.size(); ++i) {
    if (path == fmt::format("code.files[{}]", i)) return "code " + manifest.code.files[i].path;
  }
  for (std::size_t i = 0; i < manifest.data.size(); ++i) {
    if (path != fmt::format("data[{}]", i)) continue;
    const DataItem& item = manifest.data[i];
    if (!IsCodeOutside(item)) return "data " + item.path;
    return fmt::format("code {} outside of the run's folder (sha256 {})", item.path, item.sha256);
  }
  for (std::size_t i = 0; i < manifest.artifacts.size(); ++i) {
    if (path != fmt::format("artifacts[{}]", i)) continue;
    const std::string& role = manifest.artifacts[i].role;
    if (role == kItemsRole || role == "other") {
      return fmt::format("{} {}", role == "other" ? "output" : role, manifest.artifacts[i].path);
    }
    const std::vector<std::string> loaded = LoadedPartsOf(manifest.artifacts[i]);
    return fmt::format("weights {} ({} tensors{}{})", manifest.artifacts[i].path,
                       manifest.artifacts[i].tensors.size(), loaded.empty() ? "" : ", with ",
                       fmt::join(loaded, ", "));
  }
  for (const auto& [name, seed] : manifest.seeds) {
    if (path == "seeds." + name) return fmt::format("seed {} = {}", name, seed);
  }
  if (path == "metrics_path")
    return manifest.metrics_path.empty() ? "no log" : "log " + manifest.metrics_path;
  if (path == "code.kept_diff_sha256") return "changes of the work tree";
  if (path == "artifacts") return "weights";
  if (path == "outputs") return "way to compare other outputs";
  if (path == "family") return "family " + manifest.family;
  if (path.starts_with("metrics.")) return fmt::format("primary metric {}", path.substr(8));
  if (path.starts_with("rng_sources.")) return fmt::format("generator {}", path.substr(12));
  return std::string(path);
}

// " --out drill-2", where the folder that a drill takes by itself is taken.
std::string FreeDrillFolder() {
  std::error_code ignored;
  if (!std::filesystem::exists("drill", ignored)) return "";
  for (int i = 2;; ++i) {
    const std::string folder = fmt::format("drill-{}", i);
    if (!std::filesystem::exists(folder, ignored)) return " --out " + folder;
  }
}

// Beside this one: manifests that a drill of the folder refuses, such as an earlier attempt.
std::vector<std::string> RefusedBeside(const std::filesystem::path& out) {
  std::size_t left = 100;
  std::vector<std::string> refused;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(out.parent_path(), error), end;
       !error && entry != end && left > 0; entry.increment(error), --left) {
    if (entry->path().extension() != ".json" || entry->path().filename() == out.filename())
      continue;
    const auto manifest = LoadManifest(entry->path());
    if (manifest.ok() && !Admit(*manifest).empty()) {
      refused.push_back(
          std::filesystem::proximate(entry->path(), std::filesystem::current_path(error), error)
              .string());
    }
  }
  std::ranges::sort(refused);
  return refused;
}

}  // namespace

void SayFound(const Manifest& manifest, const std::filesystem::path& out) {
  if (!manifest.origin || Globals().quiet) return;
  for (const FieldOrigin& field : manifest.origin->fields) {
    LogInfo(
        TerminalSafe(fmt::format("{} {}: {}", field.grade == Grade::kMissing ? "found no" : "found",
                                 GuessedAs(manifest, field.path), field.from)));
  }
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  std::string maps;
  const auto add_map = [&](const std::filesystem::path& folder) {
    const std::filesystem::path below = folder.lexically_relative(here);  // a drill's own root
    if (!folder.is_absolute() || (!below.empty() && *below.begin() != "..")) return;
    const std::string map =
        fmt::format(" --map {}", ShellWord(fmt::format("{0}={0}", folder.string())));
    if (maps.find(map) == maps.npos) maps += map;
  };
  add_map(manifest.code.repository);
  for (const DataItem& item : manifest.data) {
    const std::string& place = item.location.empty() ? item.path : item.location;
    add_map(std::filesystem::path(place).parent_path());
  }
  const std::filesystem::path folder = std::filesystem::proximate(out.parent_path(), here, error);
  const std::string drill =
      fmt::format("rharness drill {}{}{}", ShellWord(folder.string()), FreeDrillFolder(), maps);
  std::string next = "next: " + drill;
  if (const auto refused = RefusedBeside(out); !refused.empty()) {
    next = fmt::format("next: move {} away, which a drill refuses, then {}",
                       fmt::join(refused, ", "), drill);
  }
  for (const Finding& finding : Admit(manifest)) {
    if (finding.subject.starts_with("$.notes[")) {
      next =
          "next: mend what the warnings name, and record the run again; a drill refuses it as it "
          "is";
      break;
    }
    next = "next: state what is missing (`rharness record --find OPTION... -- COMMAND`), then " +
           drill;
  }
  LogInfo(TerminalSafe(next));
}

}  // namespace rharness
