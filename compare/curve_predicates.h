// What the ladder of a comparison asks about curves: which decide, which show nothing, and which
// stand outside of what rounding explains. Private to it.
#ifndef RHARNESS_COMPARE_CURVE_PREDICATES_H_
#define RHARNESS_COMPARE_CURVE_PREDICATES_H_

#include "compare/comparison.h"

namespace rharness {

// A vacuous curve passes nothing, but if it differs or ends early it must not be passed over
// either.
inline bool IsQuietlyVacuous(const CurveComparison& curve) {
  return curve.state == CurveState::kVacuous && curve.differing == 0 && !curve.MissesSteps();
}

// A band that further runs made, of which a rate is stated.
inline bool HasRunsBand(const CurveComparison& curve) {
  return curve.basis == "replicates" || curve.basis == "rounding";
}

// Losses decide by any band, other metrics by that of further runs.
inline bool Decides(const CurveComparison& curve) {
  return curve.kind == CurveKind::kLoss || (curve.kind == CurveKind::kMetric && HasRunsBand(curve));
}

// Beyond what rounding explains, and this is shown: by further runs, by siblings (which leave the
// margin that they were asked about), or because it is grossly off (ten margins: a shift by
// margin).
inline bool IsShownBeyond(const CurveComparison& curve) {
  if (!Decides(curve) || curve.state != CurveState::kBeyond) return false;
  return HasRunsBand(curve) || curve.open_margin > 0.0 ||
         (curve.basis == "margin" && curve.nature == DifferenceNature::kShifted);
}

// Outside of what its basis leaves room for, shown or not: of replicates too few, or of another
// seed, that is open.
inline bool LeavesBand(const CurveComparison& curve) {
  if (!Decides(curve)) return false;
  return curve.state == CurveState::kBeyond ||
         (curve.state == CurveState::kUndecided && HasRunsBand(curve) && curve.statistic > 1.0);
}

// Curves of times and memory, where all curves are equal: beside a loss or metric that is constant,
// and so tells nothing, they tell that two logs are one. 0 where one differs, and where there is
// nothing beside them, because alone they never count.
inline int EqualResources(const Comparison& comparison) {
  int equal = 0;
  bool beside = false;
  for (const CurveComparison& curve : comparison.curves) {
    beside = beside || curve.kind != CurveKind::kResource;
    if (curve.differing > 0 || curve.state == CurveState::kMissing) return 0;
    const bool counts = curve.kind == CurveKind::kResource && curve.state == CurveState::kIdentical;
    if (counts && !curve.MissesSteps()) ++equal;
  }
  return beside ? equal : 0;
}

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVE_PREDICATES_H_
