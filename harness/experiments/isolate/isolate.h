// Finds the changes that make a run drift: trials as reruns, a search over their answers.
//
//   axes -> plan -> both ends -> search (rerun, compare, judge, signature) -> set back -> report
//
// A search owns one folder, as a drill does: journal, runs/RUN/N/ with the evidence of rerun N, and
// isolation.json and isolation.html. The journal has the reruns, and all else follows from it: a
// search killed at any point continues from there.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_ISOLATE_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_ISOLATE_H_

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/drill/drill.h"
#include "harness/experiments/isolate/axes.h"
#include "harness/experiments/isolate/search.h"
#include "reports/isolation_report.h"

namespace rharness {

struct IsolateOptions {
  // Places, limits, dispatch, launcher, environment, history and folder, as of a drill.
  DrillOptions drill;
  std::string run;                // a manifest, or the id of a run of the history
  std::string against;            // a manifest, evidence, or the folder of a drill; may be empty
  std::vector<std::string> axes;  // as in ParseGivenAxis
  ParseImageText parse_image;
  SearchRules rules;   // budget in reruns, including both ends
  int end_reruns = 3;  // per end, if bits are not declared
  bool bits = false;   // every bit counts, even if the run declares none
};

// The plan and its cost. Touches no folder. Errors: those of Isolate.
Result<IsolationReport> PlanIsolation(const IsolateOptions& options, Clock* clock);

// Errors: invalid_input (invalid axes, nothing to resume, a folder in use), not_found, io,
// integrity. Failures of runs are in the report.
Result<IsolationReport> Isolate(const IsolateOptions& options, const DrillHooks& hooks,
                                Clock* clock);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_ISOLATE_H_
