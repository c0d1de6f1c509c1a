// Judges the curves of all runs that one change moved together.
//
// Role: the judge's pass of the drill, after every rerun is compared and before any run is judged.
// Runs are siblings if their environment changed in the same way, from the record to the rerun, on
// one image and one device. Pure.
#ifndef RHARNESS_HARNESS_JUDGE_JUDGE_SIBLINGS_H_
#define RHARNESS_HARNESS_JUDGE_JUDGE_SIBLINGS_H_

#include <string>
#include <vector>

#include "compare/siblings.h"
#include "harness/judge/run_state.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// The traits that a run's noise depends on, from its hyperparameters and its command: "dropout" or
// "no dropout", and its precision as spelled there ("bf16"), separated by ", ".
std::string TraitsOf(const Manifest& manifest);

// Merges the reruns of every run (RunState::merged), and judges the curves of these together: by
// configuration if that has enough runs, else by family and traits, else by traits. A run that
// promised its bits, or ran on other data or code, stays unchanged and does not count for others.
std::vector<SiblingGroup> MergeAndJudgeSiblings(const std::vector<RunState*>& runs);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_JUDGE_SIBLINGS_H_
