// A drill that is judged and not carried out: what a trial comes to.
//
// Role: the drill's own passes (harness/drill), over evidence that a game day has. It decides
// nothing itself: a game day must judge by what drills judge by. Reads kept checkpoints.
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
  bool needs_confirmation = false;  // a drill would rerun it once more before it says so
  std::string headline;             // one sentence; may be empty
};

// What all trials of one configuration are judged by; outlives the call.
struct TrialGround {
  const Family& family;
  const Replicates& replicates;  // what was recorded of rounding
  const Places& places;
  std::filesystem::path folder;  // that locations in evidence begin at
};

// Runs of one configuration, drilled together; one verdict a run, in their order.
std::vector<TrialVerdict> JudgeTrial(const std::vector<DrilledRun>& runs,
                                     const TrialGround& ground);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_TRIAL_DRILL_H_
