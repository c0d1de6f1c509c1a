// The file of an incident's settings; see incident_settings.h.
#include "harness/insight/incident/incident_settings.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/drill/drill_folder.h"
#include "harness/trust/attestation/trust.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Error NotAsBegun(std::string_view option, const std::string& now, const std::string& begun) {
  return InvalidInput(
      fmt::format("{} differs from the incident's own setting, {}; --resume continues with its own",
                  now, begun.empty() ? "none" : begun),
      std::string(option));
}

Status RefuseOtherPath(std::string_view option, const fs::path& now, const fs::path& begun) {
  if (now.empty() || now == begun) return {};
  return NotAsBegun(option, now.string(), begun.string());
}

// `given`: the drill's options that somebody gave.
Status RefuseOtherPlaces(const std::set<std::string>& given, const Places& now,
                         const Places& begun) {
  if (given.contains("--root")) RETURN_IF_ERROR(RefuseOtherPath("--root", now.root, begun.root));
  RETURN_IF_ERROR(RefuseOtherPath("--data-cache", now.cache, begun.cache));
  RETURN_IF_ERROR(RefuseOtherPath("--python-environment", now.python, begun.python));
  RETURN_IF_ERROR(RefuseOtherPath("--environment-cache", now.environments, begun.environments));
  if (!given.contains("--map") || now.maps == begun.maps) return {};
  return NotAsBegun("--map", ToJson(now).Find("maps")->Dump(), ToJson(begun).Find("maps")->Dump());
}

void ReadPath(JsonReader& reader, const char* key, fs::path* path) {
  std::string text;
  reader.Read(key, &text);
  *path = text;
}

Error BegunAlready(const WorkPlaces& work) {
  return InvalidInput("an incident was begun there: continue it by --resume, or remove it",
                      work.folder.string());
}

bool IsMissing(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == fs::file_type::not_found;
}

Status RequireFolder(const fs::path& folder, const char* option) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return {};
  return NotFound(fmt::format("no folder at {}", folder.string()), option);
}

}  // namespace

WorkPlaces::WorkPlaces(const fs::path& out)
    : folder(out.string() + ".work"),
      settings(folder / "settings.json"),
      drill(folder / "drill"),
      staging(folder / "bundle") {}

Json ToJson(const IncidentSettings& settings) {
  Json passed = Json::MakeArray();
  for (const PassedRun& one : settings.passed) {
    passed.Append(Json::MakeObject(
        {{"run_id", one.run_id}, {"damage", one.damage}, {"tampered", one.tampered}}));
  }
  return Json::MakeObject({{"schema", "rharness.incident_settings/v1"},
                           {"run", settings.run},
                           {"good", settings.good},
                           {"passed", std::move(passed)},
                           {"named", settings.named},
                           {"damage", settings.damage},
                           {"tampered", settings.tampered},
                           {"older_tampered", settings.older_tampered},
                           {"history", settings.history},
                           {"places", ToJson(settings.places)},
                           {"artifacts", settings.artifacts.string()},
                           {"signatures", settings.signatures.string()},
                           {"trust", settings.trust.string()},
                           {"policy", settings.policy.string()},
                           {"rerun", settings.rerun}});
}

Result<IncidentSettings> LoadIncidentSettings(const fs::path& path) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  IncidentSettings settings;
  JsonReader reader(json, path.string());
  reader.ReadSchema("rharness.incident_settings", 1);
  reader.Read("run", &settings.run);
  reader.Read("good", &settings.good);
  reader.ReadEach("passed", &settings.passed, [](JsonReader& one, PassedRun* passed) {
    one.Read("run_id", &passed->run_id);
    one.Read("damage", &passed->damage);
    one.Read("tampered", &passed->tampered);
  });
  reader.Read("named", &settings.named);
  reader.Read("damage", &settings.damage);
  reader.Read("tampered", &settings.tampered);
  reader.Read("older_tampered", &settings.older_tampered);
  reader.Read("history", &settings.history);
  reader.ReadObject("places", true,
                    [&](JsonReader& places) { ReadPlaces(places, &settings.places); });
  ReadPath(reader, "artifacts", &settings.artifacts);
  ReadPath(reader, "signatures", &settings.signatures);
  ReadPath(reader, "trust", &settings.trust);
  ReadPath(reader, "policy", &settings.policy);
  reader.Read("rerun", &settings.rerun);
  RETURN_IF_ERROR(reader.status());
  return settings;
}

Result<FolderLock> BeginIncident(const WorkPlaces& work, const IncidentSettings& settings) {
  ASSIGN_OR_RETURN(FolderLock lock, FolderLock::TakeOwn(work.folder));
  if (!IsMissing(work.settings)) return BegunAlready(work);
  RETURN_IF_ERROR(WriteJsonFile(work.settings, ToJson(settings)));
  return lock;
}

Result<BegunIncident> TakeUpIncident(const WorkPlaces& work) {
  if (IsMissing(work.settings)) {
    return NotFound(
        "no incident was begun there, so none can continue; without --resume one is begun",
        work.folder.string());
  }
  ASSIGN_OR_RETURN(FolderLock lock, FolderLock::TakeOwn(work.folder));
  RETURN_IF_ERROR(RequireOwn(work.settings));
  ASSIGN_OR_RETURN(IncidentSettings settings, LoadIncidentSettings(work.settings));
  return BegunIncident{std::move(lock), std::move(settings)};
}

Status RefuseBegunIncident(const WorkPlaces& work) {
  return IsMissing(work.folder) ? Status() : BegunAlready(work);
}

Result<IncidentOptions> WithIncidentPaths(IncidentOptions options) {
  options.drill.out = options.out;
  options.drill.resume = options.resume;  // none need be given then
  ASSIGN_OR_RETURN(options.drill, WithAbsolutePaths(std::move(options.drill)));
  options.drill.resume = false;
  if (options.resume && !options.drill.given.contains("--history")) options.drill.history.clear();
  options.out = options.drill.out.lexically_normal();
  if (!options.out.has_filename()) options.out = options.out.parent_path();
  HeldFilesRequest& files = options.files;
  files.places = options.drill.places;
  for (fs::path* path : {&files.artifacts, &files.signatures, &files.trust, &options.policy}) {
    if (path->empty()) continue;
    std::error_code error;
    *path = fs::absolute(*path, error).lexically_normal();
    if (error) return IoError("cannot find the working folder: " + error.message(), "incident");
    if (!path->has_filename()) *path = path->parent_path();
  }
  return options;
}

// The default folder of commands does not count as given.
IncidentGiven GivenOf(const IncidentOptions& given, const IncidentOptions& resolved) {
  const bool url = given.drill.history.find("://") != std::string::npos;
  std::string out = given.out.string();
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  const std::string root = given.drill.places.root.string();
  return {.history = url ? resolved.drill.history : given.drill.history,
          .root = root == "." ? std::string() : root,
          .policy = given.policy.string(),
          .out = out};
}

Status CheckHeldInputs(const HeldFilesRequest& files) {
  RETURN_IF_ERROR(RequireFolder(files.artifacts, "--artifacts"));
  RETURN_IF_ERROR(RequireFolder(files.signatures, "--signatures"));
  if (files.trust.empty()) return {};
  ASSIGN_OR_RETURN([[maybe_unused]] const TrustPolicy trust, LoadTrustPolicy(files.trust));
  return {};
}

Status TakeSettings(const IncidentSettings& settings, IncidentOptions* options,
                    IncidentGiven* given) {
  if (!options->run.empty() && options->run != settings.run) {
    return InvalidInput(fmt::format("the incident there is one of {}", settings.run),
                        "rharness incident --resume");
  }
  HeldFilesRequest& files = options->files;
  DrillOptions& drill = options->drill;
  RETURN_IF_ERROR(RefuseOtherPath("--history", drill.history, settings.history));
  RETURN_IF_ERROR(RefuseOtherPath("--artifacts", files.artifacts, settings.artifacts));
  RETURN_IF_ERROR(RefuseOtherPath("--signatures", files.signatures, settings.signatures));
  RETURN_IF_ERROR(RefuseOtherPath("--trust", files.trust, settings.trust));
  RETURN_IF_ERROR(RefuseOtherPath("--policy", options->policy, settings.policy));
  RETURN_IF_ERROR(RefuseOtherPlaces(drill.given, drill.places, settings.places));
  if (!options->rerun && settings.rerun) {
    return InvalidInput("the incident was begun with a rerun; --resume continues with its own",
                        "--no-rerun");
  }
  std::error_code error;
  if (given->root.empty() && settings.places.root != fs::current_path(error)) {
    given->root = settings.places.root.string();
  }
  if (drill.history.empty()) given->history = settings.history;
  if (given->policy.empty()) given->policy = settings.policy.string();
  options->run = settings.run;
  options->rerun = settings.rerun;
  options->policy = settings.policy;
  drill.history = settings.history;
  drill.places = settings.places;
  files = {settings.places, settings.artifacts, settings.signatures, settings.trust};
  return {};
}

}  // namespace rharness
