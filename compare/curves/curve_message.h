// The sentence that says what a comparison of two curves found.
//
// Role: private to this folder; words only, decides nothing.
#ifndef RHARNESS_COMPARE_CURVES_CURVE_MESSAGE_H_
#define RHARNESS_COMPARE_CURVES_CURVE_MESSAGE_H_

#include <string>
#include <string_view>

#include "compare/curves/curve_comparison.h"

namespace rharness {

// A relative difference as people read it: "0.0022 %", "1.1 %".
std::string PercentText(double relative);

// "; a lasting shift below 0.06 % would not show": the limit of what a pass shows. Empty if not
// known.
std::string InvisibleWords(const CurveComparison& comparison);

// `reason`: a clause with the basis of the decision, for every state but identical and missing.
std::string MessageOf(const CurveComparison& comparison, std::string_view reason);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_CURVE_MESSAGE_H_
