// One rerun, from an empty folder to evidence on disk.
//
// Role: the only place where a manifest meets a launcher and an executor. A ticket in, evidence
// out, on one machine: it knows no queue, no history, no journal and no drill. It reports every
// step that matters for resuming before the next begins.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RERUN_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RERUN_H_

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "harness/base/clock.h"
#include "harness/execution/launch/job.h"
#include "harness/execution/rerun/rerun_place.h"
#include "harness/execution/rerun/step.h"
#include "harness/execution/rerun/ticket.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

// Shared by the reruns of this process. The pointers outlive them.
struct RerunContext {
  std::filesystem::path folder;  // a rerun's place is RerunFolder below it
  // Of a gang: the number of this node. All nodes of an attempt have the same folder.
  int node = 0;
  // By the name in tickets. A missing one is an obstacle.
  std::map<std::string, Launcher*> launchers;
  Executor* executor = nullptr;
  ContentCache* cache = nullptr;
  Clock* clock = nullptr;
  // Called before the next step, and durable when it returns; an error ends the rerun. May be
  // empty; called from the thread of the rerun.
  std::function<Status(const RerunStep&)> on_step;
  std::function<bool()> should_cancel;
};

struct RerunResult {
  Evidence evidence;
  bool infrastructure = false;  // worth another attempt
};

// A rerun's output, as one digest of the log files that its evidence names. Errors: those of
// HeldFolder. Follows no link below the folder.
Result<std::string> LogsSha256(const std::filesystem::path& folder, const Evidence& evidence);
Result<std::string> LogsSha256(const HeldFolder& folder, const Evidence& evidence);

// The complete environment of the child: PATH, HOME, TMPDIR and LANG of the workspace, the recorded
// variables (those known to be unset stay so), assigned GPUs, then the overrides; an override
// without a value unsets. Pure except for PATH.
std::map<std::string, std::string> BuildJobEnvironment(const Manifest& manifest,
                                                       const std::filesystem::path& workspace,
                                                       const std::vector<int>& gpus,
                                                       const EnvironmentOverrides& overrides);

// Carries out one attempt and writes runs/RUN/N/evidence.json. Errors are rharness's own failures
// (io); everything that happens to the run is in the evidence. Of a gang's ticket: carries out one
// node's part, and returns when all nodes have ended; node 0 has the evidence, which the others'
// results are part of.
Result<RerunResult> CarryOut(const Ticket& ticket, const RerunContext& context);

// The same with all nodes of a gang on this machine, each on a thread of its own.
Result<RerunResult> CarryOutHere(const Ticket& ticket, const RerunContext& context);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RERUN_H_
