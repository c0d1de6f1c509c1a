// What a rerun wrote, as digests that can be compared with another rerun's. Pure.
#ifndef RHARNESS_HARNESS_JUDGE_RERUN_OUTPUTS_H_
#define RHARNESS_HARNESS_JUDGE_RERUN_OUTPUTS_H_

#include "compare/explain_reruns.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

// Checkpoints by their tensor digests, other files by their own (logs and files of metrics are left
// out), metrics and curves by their bits; times and memory are left out. Reruns of one CPU and GPU
// model with the same data, code and seeds are one group.
RerunOutputs OutputsOf(const Evidence& evidence);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_RERUN_OUTPUTS_H_
