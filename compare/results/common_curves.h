// Evaluations that two groups share.
//
// Role: private to compare_results.cc.
#ifndef RHARNESS_COMPARE_RESULTS_COMMON_CURVES_H_
#define RHARNESS_COMPARE_RESULTS_COMMON_CURVES_H_

#include <vector>

#include "compare/results/compare_results.h"
#include "compare/results/result_group.h"

namespace rharness {

// One curve, sorted by name, for each name that every run of both groups has.
std::vector<CommonCurve> BuildCommonCurves(const ResultGroup& reference,
                                           const ResultGroup& candidate);

// The values at the last common position of each such curve, undecided if there is none; they have
// no declared margin, so they can show a shift and never equivalence.
std::vector<MetricDecision> DecideLastEvaluations(const ResultGroup& reference,
                                                  const ResultGroup& candidate,
                                                  const ResultRules& rules);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_RESULTS_COMMON_CURVES_H_
