// Finds losses so far apart that no basis is needed.
//
// Role: private to this folder, pure; runs first for any two curves that have values.
#ifndef RHARNESS_COMPARE_CURVES_GROSS_DIFFERENCE_H_
#define RHARNESS_COMPARE_CURVES_GROSS_DIFFERENCE_H_

#include <string>

#include "compare/curves/judge_curve.h"

namespace rharness {

// Sets state, basis, nature, band, statistic, first_beyond and rule, and returns the clause of the
// message; empty if the losses are not grossly apart, if the curve is no loss, and if two further
// runs are as far apart themselves.
//   of a size     on half of the judged steps apart by ten margins of |a|, and somewhere by ten of
//                 the largest |a|; however few they are
//   crossing 0    of five values and more: the mean over a quarter or more is off by twice the
//   spread
//                 of the values (5 % to 95 %; of a, of b in there and of b elsewhere, the widest),
//                 or b never changes; of twenty and more also: b's spread is ten times a's or a
//                 tenth of it. Of two runs whose noise is a's own no more than 3 in 1000 pairs are
//                 as far apart: normal noise with a lag-one correlation of up to 0.9 from 30 values
//                 on and 0.95 from 100 on, Student's t on three degrees up to 0.5 (simulated).
std::string GrosslyApart(const Judged& judged, const FurtherCurves& further,
                         const CurveRules& rules, CurveComparison* out);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_GROSS_DIFFERENCE_H_
