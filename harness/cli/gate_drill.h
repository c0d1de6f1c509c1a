// The drill that a gate asks for: the impacted runs of a history, and no others.
#ifndef RHARNESS_HARNESS_CLI_GATE_DRILL_H_
#define RHARNESS_HARNESS_CLI_GATE_DRILL_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/gate/gate.h"
#include "harness/manifest/manifest.h"
#include "reports/model.h"

namespace rharness {

struct GateDrillOptions {
  std::string history;  // URL
  std::string out;      // the drill's folder
  std::string root = ".";
  int jobs = 0;    // 0: as many as fit
  int reruns = 1;  // of each run
};

// All runs of the history that are not retired. Errors: not_found, io, integrity.
Result<std::vector<Manifest>> LoadHistory(const std::string& url);

// Reruns the impacted runs, here and now, and enters their verdicts into the history. `all`: how
// many runs the history has. Errors: those of RunDrill.
Result<Report> DrillImpacted(const std::vector<ImpactedRun>& runs, std::size_t all,
                             const GateDrillOptions& options);

// "run_id = a or run_id = b"; empty, which selects everything, when all runs are impacted.
std::string SelectionOf(const std::vector<ImpactedRun>& runs, std::size_t all);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_GATE_DRILL_H_
