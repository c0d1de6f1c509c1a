// The curves of all runs that one change moved, judged together.
//
// Role: the judge's pass of the drill, after every rerun is compared and before any run is judged.
// Runs are siblings where their environment changed in the same way: what is recorded beside what
// the rerun saw, on one image and one device. Pure.
#ifndef RHARNESS_HARNESS_JUDGE_JUDGE_SIBLINGS_H_
#define RHARNESS_HARNESS_JUDGE_JUDGE_SIBLINGS_H_

#include <string>
#include <vector>

#include "compare/siblings.h"
#include "harness/judge/run_state.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// What a run's noise depends on, as far as its hyperparameters and its command say: "dropout" or
// "no dropout", and its precision as it is spelled there ("bf16"), separated by ", ".
std::string TraitsOf(const Manifest& manifest);

// Merges the reruns of every run (RunState::merged), and judges the curves of these together: by
// configuration where that has enough runs, else by family and traits, else by traits. A run that
// promised its bits, or ran on other data or code, stays as it is and tells nothing of others.
std::vector<SiblingGroup> MergeAndJudgeSiblings(const std::vector<RunState*>& runs);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_JUDGE_SIBLINGS_H_
