// Where an incident works, and what is fixed when it begins, so that one that goes on is the same.
//
// Role: holds the folder, reads and writes one small file in it, and refuses what is not as it was.
#ifndef RHARNESS_HARNESS_INSIGHT_INCIDENT_INCIDENT_SETTINGS_H_
#define RHARNESS_HARNESS_INSIGHT_INCIDENT_INCIDENT_SETTINGS_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/folder_lock.h"
#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/execution/rerun/places.h"
#include "harness/insight/incident/answers.h"
#include "harness/insight/incident/incident.h"

namespace rharness {

// Beside the bundle OUT: OUT.work with settings.json, drill/ and, for a moment, the bundle.
struct WorkPlaces {
  explicit WorkPlaces(const std::filesystem::path& out);
  std::filesystem::path folder, settings, drill, staging;
};

struct IncidentSettings {
  std::string run;
  std::string good;  // empty: there is none
  std::vector<PassedRun> passed;
  bool named = false;  // by --good
  std::string damage;  // of the good run's files, as they were found; HeldFiles::damage
  bool tampered = false, older_tampered = false;
  // What it was begun with; paths are absolute, and empty where none was given.
  std::string history;
  Places places;
  std::filesystem::path artifacts, signatures, trust, policy;
  bool rerun = true;
};

Json ToJson(const IncidentSettings& settings);  // "rharness.incident_settings/v1"
// Errors: not_found, io, invalid_input with the path in the document.
Result<IncidentSettings> LoadIncidentSettings(const std::filesystem::path& path);

// Makes the folder, and leaves the settings in it. Errors: those of FolderLock::TakeOwn and
// WriteJsonFile; invalid_input where an incident was begun there.
Result<FolderLock> BeginIncident(const WorkPlaces& work, const IncidentSettings& settings);
// Errors: invalid_input where something is there already.
Status RefuseBegunIncident(const WorkPlaces& work);

struct BegunIncident {
  FolderLock lock;
  IncidentSettings settings;
};
// What was begun there. What the settings name is rerun, so they are believed from nobody else.
// Errors: not_found where none was begun; those of FolderLock::TakeOwn, RequireOwn for the
// settings, and LoadIncidentSettings.
Result<BegunIncident> TakeUpIncident(const WorkPlaces& work);

// With absolute paths, and nothing of the rollback drill that is not the incident's to say. An
// incident that goes on has the history that was given, or none.
Result<IncidentOptions> WithIncidentPaths(IncidentOptions options);
// As somebody typed it, so that commands can be told with it; `resolved`: by WithIncidentPaths.
IncidentGiven GivenOf(const IncidentOptions& given, const IncidentOptions& resolved);
// Errors: not_found and invalid_input for a folder or a trust policy that was named and is not
// there: they are not asked where no run is good.
Status CheckHeldInputs(const HeldFilesRequest& files);

// What an incident that goes on was begun with, into `options` and `given`. Errors: invalid_input
// where something else was given now, or another run.
Status TakeSettings(const IncidentSettings& settings, IncidentOptions* options,
                    IncidentGiven* given);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_INCIDENT_SETTINGS_H_
