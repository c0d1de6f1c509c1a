// Findings on metrics that were measured on another set than the recorded one. Pure.
#ifndef RHARNESS_HARNESS_JUDGE_EVAL_SETS_H_
#define RHARNESS_HARNESS_JUDGE_EVAL_SETS_H_

#include <array>
#include <string_view>
#include <vector>

#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/lineage.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// Names both sets and their digests, in the data layer. Its code is kOtherEvalSet if the metric
// decides and the sets are known to differ: then nothing is comparable; else "not_compared", which
// never passes. `sides` are words such as "in A".
Finding EvalSetFinding(const OtherEvalSet& other, bool decides,
                       const std::array<std::string_view, 2>& sides);

// For a rerun: its metrics were measured on the data found there.
std::vector<Finding> EvalSetFindings(const Manifest& manifest, const Evidence& evidence);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_EVAL_SETS_H_
