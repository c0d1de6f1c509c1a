// Merges all reruns of one run into one comparison, judged and explained as any other.
#ifndef RHARNESS_HARNESS_JUDGE_JUDGE_RUN_H_
#define RHARNESS_HARNESS_JUDGE_JUDGE_RUN_H_

#include <vector>

#include "compare/comparison.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// One comparison for all reruns of one run: for each checkpoint and curve the first rerun that
// differs in it, else the first; a layer differs if it differs in any. A curve beyond its band in
// some reruns only is undecided, with a finding ("missing_confirmation"). Empty: no rerun.
Comparison MergeReruns(const Manifest& manifest, const std::vector<Comparison>& reruns);

// The judged comparison of a run, with its causes. `evidence` and `reruns` are parallel, one entry
// per rerun; `merged` joins them; `metrics` are decided over all compared ones. Pure.
Comparison JudgeRun(const Manifest& manifest, const std::vector<Evidence>& evidence,
                    const std::vector<Comparison>& reruns, Comparison merged,
                    std::vector<MetricDecision> metrics);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_JUDGE_RUN_H_
