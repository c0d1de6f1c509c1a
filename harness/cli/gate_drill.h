// The drill that a gate asks for: the impacted runs of a history, and no others.
#ifndef RHARNESS_HARNESS_CLI_GATE_DRILL_H_
#define RHARNESS_HARNESS_CLI_GATE_DRILL_H_

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/cli/named_drill.h"
#include "harness/drill/plan.h"
#include "harness/gate/gate.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/manifest.h"
#include "reports/model.h"

namespace rharness {

struct GateDrillOptions {
  std::string history;    // URL
  std::string out;        // the drill's folder
  std::string shadow;     // that of the drill of the stack in use; empty: none
  std::string candidate;  // SHA-256 of its fingerprint
  std::string root = ".";
  bool trust_here = false;  // do not look whether this machine computes as the candidate does
  // How the candidate was probed, as `rharness probe run` was told.
  std::string program;                     // empty: the one beside rharness
  std::string python;                      // empty: no Python's libraries
  std::vector<std::string> library_paths;  // searched first
  int jobs = 0;                            // 0: as many as fit
  int gpus = -1;                           // to share out; less than 0: all that are here
  int reruns = 1;                          // of each run
};

// What a machine gives to that drill: its CPUs, and `gpus` of its GPUs, or all if that is below 0.
inline Slots SlotsOf(const Hardware& hardware, int gpus) {
  return {.cpus = std::max(1, hardware.cpu.logical_cores),
          .gpus = gpus < 0 ? static_cast<int>(hardware.gpus.size()) : gpus};
}

// All runs of the history that are not retired. Errors: not_found, io, integrity.
Result<std::vector<Manifest>> LoadHistory(const std::string& url);

// Beside the folder of a candidate's drill: "gate-drill.db", absolute, the history that its
// verdicts go into.
std::filesystem::path CandidateHistory(const std::filesystem::path& out);

// Reruns the impacted runs, here and now, with the candidate's variables, and enters their verdicts
// into CandidateHistory: the fleet's history tells what became of runs on the stack in use. First
// takes the probes that changed on this machine, or all that showed something if none of these
// does, in the libraries that the options name: where they do not show what the candidate showed,
// reruns here would say nothing of it. Errors: those of RunDrill; process when this machine does
// not compute as the candidate does, or cannot be probed.
Result<Report> DrillImpacted(const GateDecision& decision, const GateInput& input,
                             const GateDrillOptions& options);

// The same runs on the stack in use, in `shadow`, entered into the fleet's history: here, with the
// baseline's variables. Errors:
// those of RunDrill.
Result<Report> DrillInUse(const GateDecision& decision, const GateInput& input,
                          const GateDrillOptions& options);

// Where the runs of a drill's folder were rerun, by the evidence of every rerun but infra ones.
// Left out: a run without evidence, or with a rerun whose evidence cannot be read. Errors:
// integrity, where evidence is not what the history has of it; of a drill that was not held (null)
// it is taken as it is.
Result<RerunPlaces> DrilledIn(const Report& drill, const std::filesystem::path& folder,
                              const EvidenceDigests* held);

// "run_id = a or run_id = b"; empty, which selects everything, when all runs are impacted.
std::string SelectionOf(const std::vector<ImpactedRun>& runs, std::size_t all);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_GATE_DRILL_H_
