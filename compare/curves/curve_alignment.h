// Two curves on their common steps, and whether they can tell anything at all.
//
// Role: private to this folder, the part of a comparison that needs no limit.
#ifndef RHARNESS_COMPARE_CURVES_CURVE_ALIGNMENT_H_
#define RHARNESS_COMPARE_CURVES_CURVE_ALIGNMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/curves/curve_comparison.h"
#include "compare/curves/series.h"

namespace rharness {

// Without the steps that were not logged: NaN in a series whose finite values, five at least, stand
// at every second, third, ... of its steps from its beginning to its end. Empty where it has none.
std::optional<CurveSeries> WithoutUnlogged(const CurveSeries& series);

// Whether `common` steps stand for all of [first, last]: their gaps are alike (none is half as long
// again as the longest before it), none would fit in before their first, nor another step of
// theirs behind their last. A log that was cut off, or has a hole, covers nothing. False for less
// than three.
bool CoverAlike(const std::vector<std::int64_t>& common, std::int64_t first, std::int64_t last);

// Sets the aligned steps with both values, what is on one side only, whether that is the interval
// of the logs alone (subsampled), and the differences between them, which need no limit: bits,
// non-finite values, the largest ones.
void AlignAndMeasure(const CurveSeries& a, const CurveSeries& b, CurveComparison* out);

// The aligned steps that are finite on both sides.
struct Judged {
  std::vector<std::size_t> at;  // indices into the aligned steps
  std::vector<std::int64_t> steps;
  std::vector<double> a;
  std::vector<double> b;
  double quantum = 0.0;
  // Typical |value|: the median of those that are not 0; of a curve that crosses 0 its spread.
  double size = 0.0;
  double spread = 0.0;      // SpreadOfValues of a, else of b, where either crosses 0; else 0
  bool from_first = false;  // the first of them is the first of both logs
};

// Whether a share of the values that counts, a hundredth of the typical size and more, lies on
// either side of 0: a rounding of a loss of 0 crosses nothing.
bool CrossesZero(const std::vector<double>& values);
// The distance between the 5 % and the 95 % point of the values; 0 for none.
double SpreadOfValues(std::vector<double> values);

Judged JudgedSteps(const CurveSeries& a, const CurveSeries& b, const CurveComparison& aligned);

// Vacuity (as in CurveComparison) and its reason in words; both empty if the curve can tell. Too
// coarse: one unit of the last printed place is more than the smallest fault makes of the typical
// size, so that on half of the steps or more such a fault need not show. A curve that crosses 0 is
// measured by its spread.
std::pair<std::string, std::string> VacuityOf(const CurveComparison& aligned, const Judged& judged,
                                              const CurveRules& rules);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_CURVE_ALIGNMENT_H_
