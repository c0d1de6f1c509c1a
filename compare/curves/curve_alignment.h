// Two curves on their common steps, and whether they can tell anything at all.
//
// Role: private to this folder, the part of a comparison that needs no limit.
#ifndef RHARNESS_COMPARE_CURVES_CURVE_ALIGNMENT_H_
#define RHARNESS_COMPARE_CURVES_CURVE_ALIGNMENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compare/curves/curve_comparison.h"
#include "compare/curves/series.h"

namespace rharness {

// Sets the aligned steps with both values, what is on one side only, and the differences between
// them, which need no limit: bits, non-finite values, the largest ones.
void AlignAndMeasure(const CurveSeries& a, const CurveSeries& b, CurveComparison* out);

// The aligned steps that are finite on both sides.
struct Judged {
  std::vector<std::size_t> at;  // indices into the aligned steps
  std::vector<std::int64_t> steps;
  std::vector<double> a;
  std::vector<double> b;
  double quantum = 0.0;
  double size = 0.0;  // typical |value|: the median of those that are not 0
};

Judged JudgedSteps(const CurveSeries& a, const CurveSeries& b, const CurveComparison& aligned);

// Vacuity (as in CurveComparison) and its reason in words; both empty if the curve can tell. Too
// coarse: one unit of the last printed place is more than the smallest fault makes of the typical
// size, so that on half of the steps or more such a fault need not show. A curve that crosses 0 is
// measured by its size away from 0.
std::pair<std::string, std::string> VacuityOf(const CurveComparison& aligned, const Judged& judged,
                                              const CurveRules& rules);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_CURVE_ALIGNMENT_H_
