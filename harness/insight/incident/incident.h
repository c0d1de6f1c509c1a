// A run went bad: which run of its family was good last, can it be gone back to, and what changed?
//
//   find -> hold its files to the record -> rollback drill -> compare -> answer -> bundle
//
// Role: the composition. The rollback drill is a drill as any other, of one run, in OUT.work/drill;
// OUT appears whole when all is done. What became of the rollback is kept in the history as the
// verdict of that drill, and as the good run's property "rollback": held (identical), held_within
// (equivalent), lost (drifted, failed), not_judged. A rerun that could not be begun leaves nothing.
#ifndef RHARNESS_HARNESS_INSIGHT_INCIDENT_INCIDENT_H_
#define RHARNESS_HARNESS_INSIGHT_INCIDENT_INCIDENT_H_

#include <filesystem>
#include <string>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/drill/drill.h"
#include "harness/insight/incident/held_files.h"
#include "reports/incident_report.h"

namespace rharness {

struct IncidentOptions {
  std::string run;               // its id in the history
  std::string good;              // the run to go back to; empty: the last good one is looked for
  DrillOptions drill;            // of the rollback: history, places, limits; its folder is ours
  std::filesystem::path out;     // the bundle
  HeldFilesRequest files;        // places are the drill's
  std::filesystem::path policy;  // whose objectives name the family's owner; empty: none
  bool rerun = true;
  bool resume = false;
};

// What would be done and what the rollback drill would cost. Writes nothing. Errors: those of
// RunIncident.
Result<IncidentReport> PlanIncident(const IncidentOptions& options, Clock* clock);

// Errors: invalid_input (a folder that is there already, nothing to resume, a run that --good must
// not name), not_found, io; integrity where the history does not hold what was entered. Files that
// are not the recorded ones, and a family without a good run, are answers: the exit code of the
// report says so.
Result<IncidentReport> RunIncident(const IncidentOptions& options, const DrillHooks& hooks,
                                   Clock* clock);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_INCIDENT_H_
