// Where an incident works, and what is fixed when it begins, so that one that goes on is the same.
//
// Role: reads and writes one small file; decides nothing.
#ifndef RHARNESS_HARNESS_INCIDENT_INCIDENT_SETTINGS_H_
#define RHARNESS_HARNESS_INCIDENT_INCIDENT_SETTINGS_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/incident/answers.h"

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
};

Json ToJson(const IncidentSettings& settings);  // "rharness.incident_settings/v1"
// Errors: not_found, io, invalid_input with the path in the document.
Result<IncidentSettings> LoadIncidentSettings(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INCIDENT_INCIDENT_SETTINGS_H_
