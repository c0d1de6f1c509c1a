// The plan of a drill: its reruns, their order, needs and cost. Pure and printable.
#ifndef RHARNESS_HARNESS_DRILL_PLAN_H_
#define RHARNESS_HARNESS_DRILL_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/drill/risk.h"
#include "harness/execution/dispatch/planned_rerun.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct PlanOptions {
  int reruns = 1;  // of each run
  // Nodes of a cluster, one rerun on each: rerun N runs on the N-th, cyclically. Empty: anywhere.
  std::vector<std::string> nodes;
  int replicates = 0;  // per configuration, with the smallest change by rounding
  int jobs = 0;        // at a time; 0: as many as the slots allow
  Slots slots;
  double budget_seconds = 0.0;    // of run time summed over reruns; 0: none
  double budget_gpu_hours = 0.0;  // likewise, times the GPUs of each, on all its nodes
  // Limits of a rerun. A manifest's values are requests: they may lower the limits, never raise
  // them.
  double timeout_factor = 10.0;  // times the recorded duration, but at least...
  double timeout_floor_seconds = 60.0;
  double longest_seconds = 7.0 * 24 * 3600;  // ...and at most
  std::uint64_t memory_bytes = 0;            // 0: none but the slots'
  std::uint64_t disk_bytes = std::uint64_t{10} << 30;
};

// The planning data of a run: a tenth of its manifest, for a hundred thousand runs.
struct RunNeeds {
  RunNeeds(const Manifest& run)  // NOLINT: implicit
      : run_id(run.run_id),
        resources(run.resources),
        nodes(run.gang ? run.gang->nodes : 1),
        duration_seconds(run.duration_seconds) {}

  std::string run_id;
  Resources resources;
  int nodes = 1;
  double duration_seconds = 0.0;
};

struct Plan {
  std::vector<PlannedRerun> reruns;  // longest first: that order ends soonest on several slots
  // After these, and only for configurations with a rerun that differs from its record.
  std::vector<PlannedRerun> replicates;
  std::vector<std::string> left_out;  // run ids beyond the budget, or too large for every slot
  std::vector<std::string> notes;     // why each of them is left out
  std::vector<std::string> capped;    // requests above the operator's limits, one sentence each
  std::vector<RunRisk> risks;         // of all runs, if ordered by risk
  double budget_seconds = 0.0;        // as given; 0: none
  double run_seconds = 0.0;           // summed over reruns and replicates
  double wall_seconds = 0.0;          // estimated, with the slots and jobs given
  double gpu_hours = 0.0;
};

// If the budget cuts, the first reruns of all runs come before second ones; runs are taken in the
// given order, so that no run is starved. A run that needs more than the slots is left out with a
// note.
Plan BuildPlan(const std::vector<RunNeeds>& runs, const PlanOptions& options);

// One more rerun of a run (confirmation of a suspected drift), planned like the others.
PlannedRerun PlanRerun(const RunNeeds& run, int rerun, const PlanOptions& options);

// A rerun of it with the smallest change by rounding.
PlannedRerun PlanReplicate(const RunNeeds& run, int replicate, const PlanOptions& options);

// Adds replicates to a plan within the budget; a note names those beyond it.
void AddReplicates(std::vector<PlannedRerun> replicates, const PlanOptions& options, Plan* plan);

std::string DescribePlan(const Plan& plan);  // for --dry-run: a table and the estimate
Json ToJson(const Plan& plan);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_PLAN_H_
