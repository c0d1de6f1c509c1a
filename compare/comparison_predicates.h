// Predicates on the parts of a comparison, for its ladder; private to it.
#ifndef RHARNESS_COMPARE_COMPARISON_PREDICATES_H_
#define RHARNESS_COMPARE_COMPARISON_PREDICATES_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "compare/comparison.h"
#include "compare/curve_predicates.h"

namespace rharness {

inline bool SameBits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// The rerun did not report the metric; DecideMetric says so in its reason.
inline bool IsMissing(const MetricDecision& metric) {
  std::string_view rest = metric.reason;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view word = rest.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    if (word == "missing") return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

// Decided over items or sequences, not over runs.
inline bool IsOfUnits(const MetricDecision& metric) {
  return metric.variance_basis == kItemsBasis || metric.variance_basis == kSequencesBasis;
}

// Every value of both sides has the same bits; for reruns, each rerun has those of the run. Of
// items each must be equal: as many lost as won leave the mean as it was.
inline bool IsEqual(const MetricDecision& metric) {
  if (IsOfUnits(metric)) return metric.reason == "equal";
  if (IsMissing(metric) || metric.reruns.empty()) return false;
  if (metric.history.empty() && !metric.recorded) return false;
  const double value = metric.recorded ? *metric.recorded : metric.history.front();
  const auto same = [&](double other) { return SameBits(other, value); };
  return std::ranges::all_of(metric.reruns, same) &&
         (metric.recorded || std::ranges::all_of(metric.history, same));
}

// Differs, and nothing says how much matters: it has no margin that was stated, and is not the last
// value of a curve that is shown to be within its band.
inline bool IsUnjudged(const MetricDecision& metric, const Comparison& comparison) {
  const auto judges = [&](const CurveComparison& curve) {
    const double before = metric.recorded || metric.history.empty() ? metric.recorded.value_or(0.0)
                                                                    : metric.history.front();
    return curve.name == metric.name && Decides(curve) && curve.state == CurveState::kWithin &&
           !curve.a.empty() && SameBits(curve.a.back(), before);
  };
  return !metric.primary && !IsEqual(metric) && std::ranges::none_of(comparison.curves, judges);
}

// A test with stated error rates was made.
inline bool IsTested(const MetricDecision& metric) { return metric.standard_error > 0.0; }

inline bool HasNonFinite(const CheckpointDifference& difference) {
  return std::ranges::any_of(difference.differing, [](const TensorDifference& tensor) {
    return tensor.non_finite_changes > 0;
  });
}

inline bool IsSame(const CheckpointComparison& checkpoint) {
  return checkpoint.difference.bit_equal;
}

// Differs, and by its role may.
inline bool MayDiffer(const CheckpointComparison& checkpoint) {
  return !checkpoint.matters && !IsSame(checkpoint);
}

// Neither side has tensors; tensors on one side alone are a difference.
inline bool IsVacuous(const CheckpointDifference& difference) {
  return difference.vacuous && difference.only_a.empty() && difference.only_b.empty() &&
         difference.shape_or_dtype.empty();
}

// Both sides have the same tensors, whatever their bits.
inline bool HasSameStructure(const CheckpointDifference& difference) {
  return difference.only_a.empty() && difference.only_b.empty() &&
         difference.shape_or_dtype.empty();
}

// There is a primary metric, and each moved by less than its declared margin.
inline bool IsWithinDeclaredMargins(const Comparison& comparison) {
  bool any = false;
  for (const MetricDecision& metric : comparison.metrics) {
    if (!metric.primary) continue;
    const bool declared = metric.margin > 0.0 && !metric.default_margin;
    const bool moved = metric.verdict == MetricVerdict::kDrifted || metric.reruns.empty() ||
                       !(std::fabs(metric.difference) < metric.margin);
    if (!declared || moved || IsMissing(metric)) return false;
    any = true;
  }
  return any;
}

// One rerun of a run was compared, and more are possible.
inline bool IsSeenOnce(const Comparison& comparison) {
  return comparison.is_rerun && 1 == std::ranges::count_if(comparison.ends, [](const RerunEnd& e) {
                                  return e.state == RerunEnd::State::kCompared;
                                });
}

inline bool IsFinite(const MetricDecision& metric) {
  return std::ranges::all_of(metric.history, IsMeasured) &&
         std::ranges::all_of(metric.reruns, IsMeasured);
}

inline bool NothingShared(const CheckpointComparison& checkpoint) {
  const CheckpointDifference& difference = checkpoint.difference;
  // Two root digests decide equality, even if no tensor was listed.
  const bool roots = !checkpoint.digest_a.empty() && !checkpoint.digest_b.empty();
  return !(roots && checkpoint.from_digests) && difference.compared == 0 &&
         difference.shape_or_dtype.empty() && !difference.vacuous;
}

inline bool WeightsDiffer(const Comparison& comparison) {
  return std::ranges::any_of(comparison.checkpoints, [](const CheckpointComparison& checkpoint) {
    return checkpoint.weights && !IsSame(checkpoint) && !IsVacuous(checkpoint.difference);
  });
}

// Looks at weights, curves and metrics; leaves out times and memory.
inline bool AnyBitsDiffer(const Comparison& comparison) {
  const auto differs = [](const CurveComparison& curve) {
    return curve.kind != CurveKind::kResource && curve.differing > 0;
  };
  const auto moved = [](const MetricDecision& metric) {
    return !metric.reruns.empty() && !metric.history.empty() && !IsEqual(metric);
  };
  const auto file = [](const CheckpointComparison& one) {
    return one.is_file && one.matters && !IsSame(one);
  };
  return WeightsDiffer(comparison) || std::ranges::any_of(comparison.checkpoints, file) ||
         std::ranges::any_of(comparison.curves, differs) ||
         std::ranges::any_of(comparison.metrics, moved);
}

}  // namespace rharness

#endif  // RHARNESS_COMPARE_COMPARISON_PREDICATES_H_
