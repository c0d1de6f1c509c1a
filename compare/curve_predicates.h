// Predicates on curves, for the ladder of a comparison: which decide, which show nothing, and which
// leave what rounding explains. Private to it.
#ifndef RHARNESS_COMPARE_CURVE_PREDICATES_H_
#define RHARNESS_COMPARE_CURVE_PREDICATES_H_

#include "compare/comparison.h"

namespace rharness {

// A vacuous curve never passes; but one that differs or ends early must not be passed over.
inline bool IsQuietlyVacuous(const CurveComparison& curve) {
  return curve.state == CurveState::kVacuous && curve.differing == 0 && !curve.MissesSteps();
}

// Has a band from further runs, with a stated rate.
inline bool HasRunsBand(const CurveComparison& curve) {
  return curve.basis == "replicates" || curve.basis == "rounding";
}

// Losses decide by any band, other metrics by a band from further runs.
inline bool Decides(const CurveComparison& curve) {
  return curve.kind == CurveKind::kLoss || (curve.kind == CurveKind::kMetric && HasRunsBand(curve));
}

// The curve is beyond what rounding explains, and this is shown: by further runs, by siblings (they
// leave their own margin), or because it is grossly off (ten margins: a shift by margin).
inline bool IsShownBeyond(const CurveComparison& curve) {
  if (!Decides(curve) || curve.state != CurveState::kBeyond) return false;
  return HasRunsBand(curve) || curve.open_margin > 0.0 ||
         (curve.basis == "margin" && curve.nature == DifferenceNature::kShifted);
}

// The curve leaves the limits of its basis, shown or not: too few replicates, or replicates of
// another seed, leave it open.
inline bool LeavesBand(const CurveComparison& curve) {
  if (!Decides(curve)) return false;
  return curve.state == CurveState::kBeyond ||
         (curve.state == CurveState::kUndecided && HasRunsBand(curve) && curve.statistic > 1.0);
}

// Number of equal curves of times and memory, if all curves are equal: beside a constant loss or
// metric, which shows nothing, they show that two logs are one. 0 if one curve differs, and if
// there is nothing beside them, because alone they never count.
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
