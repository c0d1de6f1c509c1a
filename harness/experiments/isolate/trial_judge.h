// Judges reruns of a trial against the record, by the drill's own comparison and judge.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_TRIAL_JUDGE_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_TRIAL_JUDGE_H_

#include <filesystem>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "harness/execution/rerun/places.h"
#include "harness/judge/decide_metrics.h"

namespace rharness {

// The inputs of a trial's judgement; all of them outlive the judge.
struct TrialJudge {
  const Manifest& recorded;
  const Family& family;
  const Places& places;
  std::filesystem::path folder;  // base of locations in the evidence

  // `trial`: the record with the trial's inputs, so that these are no difference; outputs are
  // compared with the recorded ones. All reruns together, as one verdict. Reads kept checkpoints.
  // Reports damaged ones in `damage`.
  Comparison Judge(const Manifest& trial, const std::vector<Evidence>& reruns,
                   std::vector<std::string>* damage) const;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_TRIAL_JUDGE_H_
