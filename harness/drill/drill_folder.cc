// Absolute paths, leftovers, and evidence that is still as journalled.
#include "harness/drill/drill_folder.h"

#include <fmt/format.h>

#include <system_error>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/execution/rerun/python_place.h"
#include "harness/execution/rerun/rerun.h"
#include "harness/history/location.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// As WriteFileAtomic names a file until it is whole.
bool IsStray(const fs::directory_entry& entry) {
  constexpr std::string_view kPrefix = ".rharness-";
  const std::string name = entry.path().filename().string();
  std::error_code error;
  return name.starts_with(kPrefix) && name.size() == kPrefix.size() + 6 &&
         entry.symlink_status(error).type() == fs::file_type::regular;
}

// In the folder itself, and in those `levels` below it.
void RemoveStraysBelow(const fs::path& folder, int levels) {
  std::error_code error;
  std::vector<fs::path> strays, folders;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (IsStray(*entry)) strays.push_back(entry->path());
    const bool is_folder = entry->symlink_status(ignored).type() == fs::file_type::directory;
    if (is_folder && levels > 0) folders.push_back(entry->path());
  }
  for (const fs::path& stray : strays) fs::remove(stray, error);
  for (const fs::path& below : folders) RemoveStraysBelow(below, levels - 1);
}

Status CheckKept(const HeldFolder& folder, const fs::path& kept, const std::string& sha256) {
  ASSIGN_OR_RETURN(const FileDigest digest, folder.HashFile(kept));
  if (digest.sha256 == sha256) return {};
  return IntegrityError("is not the checkpoint that was kept", (folder.path() / kept).string());
}

Result<fs::path> AbsolutePath(const fs::path& path, std::string_view option) {
  if (path.empty()) return InvalidInput("is empty; expected a folder", std::string(option));
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  if (error) return IoError("cannot find this folder: " + error.message(), std::string(option));
  // Resolves links in its existing part, so that paths below can be compared with it.
  absolute = fs::weakly_canonical(absolute.lexically_normal(), error);
  if (error) return IoError("cannot resolve: " + error.message(), std::string(option));
  return absolute;
}

}  // namespace

Status RequireRoot(const DrillOptions& options) {
  std::error_code error;
  // Pods may have it where this machine has not.
  if (options.dispatch == "kubernetes" || fs::is_directory(options.places.root, error)) return {};
  return NotFound(fmt::format("no folder at {}", options.places.root.string()), "--root");
}

// Nodes and pods may have an environment that this machine does not have.
Status RequirePython(const DrillOptions& options) {
  const std::string why =
      options.dispatch == "local" ? WhyNoPython(options.places.python) : std::string();
  return why.empty() ? Status() : Status(NotFound(why, "--python-environment"));
}

Result<DrillOptions> WithAbsolutePaths(DrillOptions options) {
  const bool named = !options.resume || options.given.contains("--history");
  if (named && !options.history.empty()) {
    ASSIGN_OR_RETURN(options.history, ResolveHistoryUrl(options.history));
  }
  ASSIGN_OR_RETURN(options.out, AbsolutePath(options.out, "--out"));
  ASSIGN_OR_RETURN(options.places.root, AbsolutePath(options.places.root, "--root"));
  RETURN_IF_ERROR(RequireRoot(options));
  if (!options.places.cache.empty()) {
    ASSIGN_OR_RETURN(options.places.cache, AbsolutePath(options.places.cache, "--data-cache"));
  }
  if (!options.places.python.empty()) {
    ASSIGN_OR_RETURN(options.places.python,
                     AbsolutePath(options.places.python, "--python-environment"));
    RETURN_IF_ERROR(RequirePython(options));
  }
  if (!options.places.environments.empty()) {
    ASSIGN_OR_RETURN(options.places.environments,
                     AbsolutePath(options.places.environments, "--environment-cache"));
  }
  for (auto& [from, to] : options.places.maps) {
    ASSIGN_OR_RETURN(to, AbsolutePath(to, "--map"));
  }
  return options;
}

Status RefuseForeignFolder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "journal.jsonl", error))
    return {};  // refused by the journal, in its words
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename() == "lock" || IsStray(entry)) continue;
    return InvalidInput(
        "holds files that do not belong to a drill; expected a new or an empty folder",
        folder.string());
  }
  return {};
}

Status RequireDrill(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "journal.jsonl", error)) return {};
  if (fs::exists(folder / "lock", error)) {
    return NotFound(
        "no drill to resume: one ended here before it began; start it again without "
        "--resume",
        folder.string());
  }
  return NotFound("no drill to resume; expected the --out of one that was interrupted",
                  folder.string());
}

Status RefuseLinks(const fs::path& folder, const std::vector<std::string>& run_ids) {
  const auto refuse = [](const fs::path& path) {
    return InvalidInput("is a symbolic link; expected a folder of the drill's own", path.string());
  };
  for (const std::string& run_id : run_ids) {
    const fs::path run = folder / "runs" / run_id;
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(run, error))) return refuse(run);
    if (!fs::is_directory(run, error)) continue;
    fs::directory_iterator entry(run, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (entry->is_symlink(error)) return refuse(entry->path());
    }
    if (error) return IoErrorFromErrno("cannot list", error.value(), run.string());
  }
  return {};
}

void RemoveStrays(const fs::path& folder) {
  RemoveStraysBelow(folder, 0);
  RemoveStraysBelow(folder / "runs", 2);
}

Result<Evidence> LoadIntact(const fs::path& folder, const PlannedRerun& rerun,
                            const std::string& manifest_sha256, const RerunStep& collected) {
  const fs::path path = RerunFolder(folder, rerun.run_id, rerun.rerun) / "evidence.json";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  if (Sha256HexOf(text) != collected.evidence_sha256) {
    return IntegrityError("is not the evidence that was journalled", path.string());
  }
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, path.string()));
  ASSIGN_OR_RETURN(Evidence evidence, ParseEvidence(json, path.string()));
  if (evidence.run_id != rerun.run_id || evidence.rerun != rerun.rerun) {
    return IntegrityError("is the evidence of another rerun", path.string());
  }
  if (!evidence.manifest_sha256.empty() && evidence.manifest_sha256 != manifest_sha256) {
    return IntegrityError("is the evidence of another manifest of this run", path.string());
  }
  ASSIGN_OR_RETURN(const std::string logs, LogsSha256(folder, evidence));
  if (!collected.logs_sha256.empty() && logs != collected.logs_sha256) {
    return IntegrityError("does not have the journalled logs", path.parent_path().string());
  }
  ASSIGN_OR_RETURN(const HeldFolder held, HeldFolder::Open(folder));
  for (const Artifact& artifact : evidence.artifacts) {
    if (artifact.location.empty()) continue;
    const fs::path home = artifact.location;
    RETURN_IF_ERROR(CheckKept(held, home, artifact.sha256));
    for (const ArtifactPart& part : artifact.parts) {
      RETURN_IF_ERROR(CheckKept(held, home.parent_path() / part.path, part.sha256));
    }
  }
  return evidence;
}

Status MakeRunsFolder(const fs::path& out) {
  const fs::path runs = out / "runs";
  RETURN_IF_ERROR(MakeDirectories(runs));
  std::error_code error;
  fs::permissions(runs, fs::perms::owner_all, error);
  if (error) return IoErrorFromErrno("cannot set mode", error.value(), runs.string());
  return {};
}

}  // namespace rharness
