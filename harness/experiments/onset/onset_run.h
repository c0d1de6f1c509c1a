// Where two runs part, by all that is kept of them: traces, checkpoints, curves; what lacks is
// traced by rerunning both.
//
//   both sides -> traces (or one traced rerun of each) -> checkpoints -> curves -> report
//
// A side is a trace (file or folder), a folder of checkpoints, or whatever `rharness compare`
// takes: a manifest, evidence, a checkpoint, curves. Beside evidence its trace is looked for in
// "trace".
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
  std::string steps;                    // of traced reruns; empty: as the program has it
  bool no_rerun = false;
};

// Writes onset.json and onset.html into the folder. Where neither side has a trace and both are
// manifests, each is rerun once on this machine with tracing on, in A/ and B/ of the folder, of
// which the trace is kept; one that is there already is taken. Errors: invalid_input (nothing that
// both sides have), not_found, io, integrity. What befalls a rerun is a note.
Result<OnsetReport> FindWhere(const OnsetOptions& options, const std::function<bool()>& should_stop,
                              Clock* clock);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ONSET_ONSET_RUN_H_
