// Reruns of a trial held to the record, by the drill's own comparison and judge.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_TRIAL_JUDGE_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_TRIAL_JUDGE_H_

#include <filesystem>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "harness/execution/rerun/places.h"
#include "harness/judge/decide_metrics.h"

namespace rharness {

// What a trial is judged by; all of it outlives the judge.
struct TrialJudge {
  const Manifest& recorded;
  const Family& family;
  const Places& places;
  std::filesystem::path folder;  // that locations in the evidence begin at

  // `trial`: the record with the trial's inputs, so that these are no difference; outputs are held
  // to what was recorded. All reruns together, as one verdict. Checkpoints that were kept are read.
  // What is damaged of them is told in `damage`.
  Comparison Judge(const Manifest& trial, const std::vector<Evidence>& reruns,
                   std::vector<std::string>* damage) const;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_TRIAL_JUDGE_H_
