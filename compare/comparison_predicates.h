// What the ladder of a comparison asks about its parts; private to it.
#ifndef RHARNESS_COMPARE_COMPARISON_PREDICATES_H_
#define RHARNESS_COMPARE_COMPARISON_PREDICATES_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "compare/comparison.h"

namespace rharness {

inline bool SameBits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// A rerun did not report it; DecideMetric says so in its reason.
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

// Every value of both sides has the same bits; of a run and its reruns, every rerun that of the
// run.
inline bool IsEqual(const MetricDecision& metric) {
  if (IsMissing(metric) || metric.reruns.empty()) return false;
  if (metric.history.empty() && !metric.recorded) return false;
  const double value = metric.recorded ? *metric.recorded : metric.history.front();
  const auto same = [&](double other) { return SameBits(other, value); };
  return std::ranges::all_of(metric.reruns, same) &&
         (metric.recorded || std::ranges::all_of(metric.history, same));
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

// Nothing on either side; where one side alone has tensors they differ.
inline bool IsVacuous(const CheckpointDifference& difference) {
  return difference.vacuous && difference.only_a.empty() && difference.only_b.empty() &&
         difference.shape_or_dtype.empty();
}

// The same tensors on both sides, whatever their bits.
inline bool HasSameStructure(const CheckpointDifference& difference) {
  return difference.only_a.empty() && difference.only_b.empty() &&
         difference.shape_or_dtype.empty();
}

// Whether its band decides: a loss, and anything else that further runs gave a band. Times and
// memory never do.
inline bool Decides(const CurveComparison& curve) {
  if (curve.kind != CurveKind::kMetric) return curve.kind == CurveKind::kLoss;
  return curve.basis == "replicates" || curve.basis == "rounding";
}

// A vacuous curve passes nothing, but if it differs or ends early it must not be passed over
// either.
inline bool IsQuietlyVacuous(const CurveComparison& curve) {
  return curve.state == CurveState::kVacuous && curve.differing == 0 && !curve.MissesSteps();
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

inline bool IsFinite(const MetricDecision& metric) {
  const auto finite = [](double value) { return std::isfinite(value); };
  return std::ranges::all_of(metric.history, finite) && std::ranges::all_of(metric.reruns, finite);
}

inline bool NothingShared(const CheckpointComparison& checkpoint) {
  const CheckpointDifference& difference = checkpoint.difference;
  // Two root digests say whether all is equal, even where no tensor was listed.
  const bool roots =
      checkpoint.from_digests && !checkpoint.digest_a.empty() && !checkpoint.digest_b.empty();
  return !roots && difference.compared == 0 && difference.shape_or_dtype.empty() &&
         !difference.vacuous;
}

inline bool WeightsDiffer(const Comparison& comparison) {
  return std::ranges::any_of(comparison.checkpoints, [](const CheckpointComparison& checkpoint) {
    return checkpoint.weights && !IsSame(checkpoint) && !IsVacuous(checkpoint.difference);
  });
}

// Of weights, curves or metrics; times and memory left out.
inline bool AnyBitsDiffer(const Comparison& comparison) {
  const auto differs = [](const CurveComparison& curve) {
    return curve.kind != CurveKind::kResource && curve.differing > 0;
  };
  const auto moved = [](const MetricDecision& metric) {
    return !metric.reruns.empty() && !metric.history.empty() && !IsEqual(metric);
  };
  return WeightsDiffer(comparison) || std::ranges::any_of(comparison.curves, differs) ||
         std::ranges::any_of(comparison.metrics, moved);
}

}  // namespace rharness

#endif  // RHARNESS_COMPARE_COMPARISON_PREDICATES_H_
