// Finds where two runs part, from their traces, checkpoints and curves; missing traces are made by
// rerunning both.
//
//   both sides -> traces (or one traced rerun of each) -> checkpoints -> curves -> report
//
// A side is a trace (file or folder), a folder of checkpoints, or any side of `rharness compare`: a
// manifest, evidence, a checkpoint, curves. Beside evidence, "trace" is searched for its trace.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ONSET_ONSET_RUN_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ONSET_ONSET_RUN_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/drill/drill.h"
#include "reports/onset_report.h"

namespace rharness {

struct OnsetOptions {
  // Places, limits, launcher, environment, history and folder, as of a drill.
  DrillOptions drill;
  std::string run;                      // a side, or the id of a run of the history
  std::string against;                  // likewise; empty: the run's own rerun against itself
  std::vector<std::string> replicates;  // traces of further runs that differ by rounding alone
  std::string steps;                    // of traced reruns; empty: the program's default
  bool no_rerun = false;
};

// Writes onset.json and onset.html into the folder. If neither side has a trace and both are
// manifests, reruns each once on this machine with tracing on, in A/ and B/ of the folder, and
// keeps the trace; an existing trace is used. Errors: invalid_input (nothing that both sides have),
// not_found, io, integrity. Failures of a rerun are notes.
Result<OnsetReport> FindWhere(const OnsetOptions& options, const std::function<bool()>& should_stop,
                              Clock* clock);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ONSET_ONSET_RUN_H_
