// Drills properties that need no recorded result: each run is carried out in two ways, and their
// outputs are compared.
//
//   legs -> rerun, wave by wave -> take what the next leg needs -> compare -> judge -> report
//
// Role: the composition; a folder, a journal and --resume as a drill has them. Legs are reruns:
// runs/RUN/N/ has the evidence of leg N (legs.h), left/ what it left for others. Up to `repeats`
// times, it repeats the legs of lost properties, and of those open because straight runs differ
// among themselves. Writes properties.json, properties.html and junit.xml to the folder, and the
// verdicts of known runs to the history.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_PROPERTIES_H_
#define RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_PROPERTIES_H_

#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/drill/drill.h"
#include "reports/properties_report.h"

namespace rharness {

struct PropertiesOptions {
  DrillOptions drill;             // history (or none), places, limits, dispatch, folder
  std::vector<std::string> runs;  // manifests, or ids of runs of the history
  std::string declare;            // a file of declarations for all of them; empty: their own
  int repeats = 2;                // of straight runs, and of legs of lost or open properties
};

// The legs and their cost. Touches no folder. Errors: those of DrillProperties.
Result<PropertiesReport> PlanProperties(const PropertiesOptions& options, Clock* clock);

// Errors: invalid_input (a run without properties, one run twice, nothing to resume, a folder in
// use), not_found, io, integrity. Failures of legs are in the report.
Result<PropertiesReport> DrillProperties(const PropertiesOptions& options, const DrillHooks& hooks,
                                         Clock* clock);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_PROPERTIES_H_
