// A run went bad: finds the last good run of its family, tests a rollback to it, and lists the
// changes.
//
//   find -> hold its files to the record -> rollback drill -> compare -> answer -> bundle
//
// Role: the composition. The rollback drill is a drill as any other, of one run, in OUT.work/drill;
// OUT appears complete when all is done. The history keeps the result of the rollback as the
// verdict of that drill, and as the good run's property "rollback": held (identical), held_within
// (equivalent), lost (drifted, failed), not_judged. A rerun that could not start leaves nothing.
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
  std::string good;              // the rollback target; empty: the last good one
  DrillOptions drill;            // of the rollback: history, places, limits; its folder is ours
  std::filesystem::path out;     // the bundle
  HeldFilesRequest files;        // places are the drill's
  std::filesystem::path policy;  // its objectives name the family's owner; empty: none
  bool rerun = true;
  bool resume = false;
};

// The plan and the cost of the rollback drill. Writes nothing. Errors: those of RunIncident.
Result<IncidentReport> PlanIncident(const IncidentOptions& options, Clock* clock);

// Errors: invalid_input (an existing folder, nothing to resume, a run that --good must not name),
// not_found, io; integrity if entries of the history changed. Changed files, and a family without a
// good run, are answers: the exit code of the report shows them.
Result<IncidentReport> RunIncident(const IncidentOptions& options, const DrillHooks& hooks,
                                   Clock* clock);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_INCIDENT_H_
