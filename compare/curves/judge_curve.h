// The three ways to judge a curve that differs: by further runs, by accepted upgrades, by a margin.
//
// Role: private to this folder, pure. curve_comparison.cc chooses nothing else: vacuity, bits and
// values that are not finite are settled before.
#ifndef RHARNESS_COMPARE_CURVES_JUDGE_CURVE_H_
#define RHARNESS_COMPARE_CURVES_JUDGE_CURVE_H_

#include <string>
#include <vector>

#include "compare/curves/curve_alignment.h"
#include "compare/curves/curve_comparison.h"

namespace rharness {

// Sets state, basis, rule, band, middle, statistic, first_beyond, false_alarm and what the
// difference looks like; returns the clause of the message that says why. `judged` holds at least
// five values.
std::string JudgeCurve(const Judged& judged, const std::vector<CurveSeries>& replicates,
                       const CurveRules& rules, CurveComparison* out);

// A loss so far off that no basis is needed, nor enough values: on half of the judged steps apart
// by ten margins of |a|, and somewhere by ten of the largest |a|; unless a replicate is, too. Empty
// if it is not; else the clause.
std::string GrosslyApart(const Judged& judged, const std::vector<CurveSeries>& replicates,
                         const CurveRules& rules, CurveComparison* out);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_JUDGE_CURVE_H_
