// A drill that is judged but not carried out: the result of a trial.
//
// Role: the drill's own passes (harness/drill), over evidence that a game day has. It decides
// nothing itself: a game day must judge as drills do. Reads kept checkpoints.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_TRIAL_DRILL_H_
#define RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_TRIAL_DRILL_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/drill/replicates.h"
#include "harness/execution/rerun/places.h"
#include "harness/judge/decide_metrics.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// One run of a trial: its record, and its reruns by number.
struct DrilledRun {
  Manifest manifest;
  std::map<int, Evidence> evidence;
};

struct TrialVerdict {
  Verdict verdict = Verdict::kInfra;
  bool needs_confirmation = false;  // a drill would rerun it once more before its verdict
  std::string headline;             // one sentence; may be empty
};

// Shared by all trials of one configuration; outlives the call.
struct TrialGround {
  const Family& family;
  const Replicates& replicates;  // recorded effect of rounding
  const Places& places;
  std::filesystem::path folder;  // base of locations in evidence
};

// Runs of one configuration, drilled together; one verdict per run, in their order.
std::vector<TrialVerdict> JudgeTrial(const std::vector<DrilledRun>& runs,
                                     const TrialGround& ground);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_TRIAL_DRILL_H_
