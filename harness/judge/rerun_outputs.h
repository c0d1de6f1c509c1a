// A rerun's outputs as digests, comparable with those of further reruns. Pure.
#ifndef RHARNESS_HARNESS_JUDGE_RERUN_OUTPUTS_H_
#define RHARNESS_HARNESS_JUDGE_RERUN_OUTPUTS_H_

#include "compare/explain_reruns.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

// Checkpoints by their tensor digests, other files by their own (without logs and metrics files),
// metrics and curves by their bits; without times and memory. Reruns of one CPU and GPU model with
// the same data, code and seeds are one group.
RerunOutputs OutputsOf(const Evidence& evidence);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_RERUN_OUTPUTS_H_
