// The work folder of an incident, and the settings fixed at its start, so that a resumed one is the
// same.
//
// Role: holds the folder, reads and writes one small file in it, and refuses changed settings.
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
  std::string damage;  // of the good run's files at the start; HeldFiles::damage
  bool tampered = false, older_tampered = false;
  // The initial settings; paths are absolute, and empty if none was given.
  std::string history;
  Places places;
  std::filesystem::path artifacts, signatures, trust, policy;
  bool rerun = true;
};

Json ToJson(const IncidentSettings& settings);  // "rharness.incident_settings/v1"
// Errors: not_found, io, invalid_input with the path in the document.
Result<IncidentSettings> LoadIncidentSettings(const std::filesystem::path& path);

// Makes the folder, and writes the settings into it. Errors: those of FolderLock::TakeOwn and
// WriteJsonFile; invalid_input if an incident was begun there.
Result<FolderLock> BeginIncident(const WorkPlaces& work, const IncidentSettings& settings);
// Errors: invalid_input if there is an incident already.
Status RefuseBegunIncident(const WorkPlaces& work);

struct BegunIncident {
  FolderLock lock;
  IncidentSettings settings;
};
// The settings of the incident begun there. They choose what is rerun, so they are trusted from
// nobody else. Errors: not_found if none was begun; those of FolderLock::TakeOwn, RequireOwn for
// the settings, and LoadIncidentSettings.
Result<BegunIncident> TakeUpIncident(const WorkPlaces& work);

// With absolute paths, and without options of the rollback drill that the incident does not set. A
// resumed incident has the given history, or none.
Result<IncidentOptions> WithIncidentPaths(IncidentOptions options);
// As typed, for commands in the report; `resolved`: by WithIncidentPaths.
IncidentGiven GivenOf(const IncidentOptions& given, const IncidentOptions& resolved);
// Errors: not_found and invalid_input for a named folder or trust policy that is missing: they are
// not used if no run is good.
Status CheckHeldInputs(const HeldFilesRequest& files);

// Restores the settings of a resumed incident into `options` and `given`. Errors: invalid_input if
// different ones are given now, or a different run.
Status TakeSettings(const IncidentSettings& settings, IncidentOptions* options,
                    IncidentGiven* given);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_INCIDENT_SETTINGS_H_
