// Two one-sided tests: is a difference inside a margin?
//
// Source: Schuirmann 1987 (doi:10.1007/BF01068419). Equivalence at level alpha is the same
// statement as "the 1 - 2 alpha interval lies inside (low, high)".
#ifndef RHARNESS_COMPARE_STATS_EQUIVALENCE_H_
#define RHARNESS_COMPARE_STATS_EQUIVALENCE_H_

#include "compare/stats/student_t.h"

namespace rharness::stats {

struct TostResult {
  double t_lower = 0.0;  // (difference - low) / standard error
  double p_lower = 1.0;  // of "the difference is at or below low"
  double t_upper = 0.0;
  double p_upper = 1.0;  // of "the difference is at or above high"
  double p = 1.0;        // the larger of the two; NaN when the test tested nothing
};

TostResult Tost(const MeanTest& test, double low, double high);

// Strictly inside on both sides; false when anything is NaN.
bool IsInside(const Interval& interval, double low, double high);
// Entirely at or beyond one side; false when anything is NaN.
bool IsOutside(const Interval& interval, double low, double high);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_EQUIVALENCE_H_
