// Two curves on their common steps, and whether they are informative at all.
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

// Removes the steps that were not logged: NaN in a series whose finite values, five at least, stand
// at every second, third, ... step from its beginning to its end. Empty if it has none.
std::optional<CurveSeries> WithoutUnlogged(const CurveSeries& series);

// Whether `common` steps represent all of [first, last]: their gaps are alike (none is half as long
// again as the longest before it), no gap fits before their first step, and no further step of
// theirs after their last. A log that was cut off, or has a hole, covers nothing. False for fewer
// than three steps.
bool CoverAlike(const std::vector<std::int64_t>& common, std::int64_t first, std::int64_t last);

// Sets the aligned steps with both values, the steps on one side only, whether only the interval of
// the logs explains those (subsampled), and the differences that need no limit: bits, non-finite
// values, the largest ones.
void AlignAndMeasure(const CurveSeries& a, const CurveSeries& b, CurveComparison* out);

// The aligned steps that are finite on both sides.
struct Judged {
  std::vector<std::size_t> at;  // indices into the aligned steps
  std::vector<std::int64_t> steps;
  std::vector<double> a;
  std::vector<double> b;
  double quantum = 0.0;
  // Typical |value|: the median of the non-zero ones; for a curve that crosses 0 its spread.
  double size = 0.0;
  double spread = 0.0;      // SpreadOfValues of a, else of b, if either crosses 0; else 0
  bool from_first = false;  // the first of them is the first of both logs
};

// Whether a relevant share of the values (a hundredth of the typical size or more) lies on either
// side of 0: a rounding of a loss of 0 does not cross 0.
bool CrossesZero(const std::vector<double>& values);
// The distance between the 5 % and the 95 % point of the values; 0 for none.
double SpreadOfValues(std::vector<double> values);

Judged JudgedSteps(const CurveSeries& a, const CurveSeries& b, const CurveComparison& aligned);

// Returns vacuity (as in CurveComparison) and its reason in words; both empty if the curve is
// informative. Too coarse: one unit of the last printed place exceeds the smallest fault of the
// typical size, so that on half of the steps or more such a fault need not show. A curve that
// crosses 0 is measured by its spread.
std::pair<std::string, std::string> VacuityOf(const CurveComparison& aligned, const Judged& judged,
                                              const CurveRules& rules);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_CURVE_ALIGNMENT_H_
