// The order of causes, by the table of explain.h, and its criteria.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>

#include "compare/comparison_predicates.h"
#include "compare/explain_rules.h"
#include "harness/base/result.h"

namespace rharness {
namespace {

// Smaller is nearer to the front: the two columns of the table.
struct Row {
  CausePlace place;
  int beyond;
  int rounding;
};
constexpr std::array<Row, 14> kRows = {{{CausePlace::kDamage, 1, 1},
                                        {CausePlace::kInput, 2, 2},
                                        {CausePlace::kSeen, 3, 3},
                                        {CausePlace::kBits, 4, 4},
                                        {CausePlace::kVariable, 6, 7},
                                        {CausePlace::kSchedule, 7, 8},
                                        {CausePlace::kUnseeded, 5, 10},
                                        {CausePlace::kUnordered, 8, 9},
                                        {CausePlace::kArithmetic, 9, 5},
                                        {CausePlace::kNondeterminism, 10, 6},
                                        {CausePlace::kSetting, 11, 11},
                                        {CausePlace::kChance, 12, 12},
                                        {CausePlace::kPattern, 13, 13},
                                        {CausePlace::kUnused, 14, 14}}};

int PositionOf(CausePlace place, DifferenceOnset onset) {
  const auto row = std::ranges::find(kRows, place, &Row::place);
  if (row == kRows.end()) Abort("unknown CausePlace");
  return onset == DifferenceOnset::kRounding ? row->rounding : row->beyond;
}

bool IsKnownSame(const LayerComparison& layer) {
  return layer.state == LayerState::kSame || layer.state == LayerState::kPartlyKnown;
}

// No rounding of any format that metrics are computed in reaches this, and no draw stays below it.
constexpr double kSurelyRounding = 1e-6;

DifferenceOnset OnsetOfSize(double relative) {
  if (!std::isfinite(relative)) return DifferenceOnset::kNotKnown;
  if (relative > kBeyondRounding) return DifferenceOnset::kBeyondRounding;
  return relative < kSurelyRounding ? DifferenceOnset::kRounding : DifferenceOnset::kNotKnown;
}

// Judges the weights by the largest distance in steps between representable values, if a few
// roundings explain it.
DifferenceOnset OnsetOfWeights(const Comparison& comparison) {
  constexpr std::uint64_t kFewRoundings = 16;
  std::uint64_t max_ulp = 0;
  for (const CheckpointComparison& checkpoint : comparison.checkpoints) {
    if (!checkpoint.weights || checkpoint.from_digests) continue;
    for (const TensorDifference& tensor : checkpoint.difference.differing) {
      max_ulp = std::max(max_ulp, tensor.max_ulp);
    }
  }
  return max_ulp > 0 && max_ulp <= kFewRoundings ? DifferenceOnset::kRounding
                                                 : DifferenceOnset::kNotKnown;
}

DifferenceOnset OnsetOfMetrics(const Comparison& comparison) {
  double largest = 0.0;
  for (const MetricDecision& metric : comparison.metrics) {
    if (metric.history.empty() || metric.reruns.empty() || IsEqual(metric)) continue;
    const double was = metric.recorded.value_or(metric.history.front());
    if (was == 0.0) return DifferenceOnset::kNotKnown;
    for (const double is : metric.reruns) largest = std::max(largest, std::abs(is / was - 1.0));
  }
  return largest > 0.0 ? OnsetOfSize(largest) : DifferenceOnset::kNotKnown;
}

}  // namespace

const LayerComparison& LayerOf(const Comparison& comparison, Layer layer) {
  return comparison.layers[static_cast<std::size_t>(layer)];
}

KnownEqual KnownEqualOf(const Comparison& comparison) {
  const LayerComparison& data = LayerOf(comparison, Layer::kData);
  KnownEqual equal;
  equal.code = IsKnownSame(LayerOf(comparison, Layer::kCode));
  equal.data = IsKnownSame(data) ||
               (comparison.is_rerun && equal.code && data.state == LayerState::kUnknown);
  return equal;
}

DifferenceOnset OnsetOf(const Comparison& comparison) {
  if (const CurveComparison* curve = DifferingLoss(comparison)) {
    if (curve->nature == DifferenceNature::kRounding) return DifferenceOnset::kRounding;
    return OnsetOfSize(RelativeAt(*curve, *curve->first_difference));
  }
  const DifferenceOnset of_weights = OnsetOfWeights(comparison);
  return of_weights != DifferenceOnset::kNotKnown ? of_weights : OnsetOfMetrics(comparison);
}

std::vector<Cause> InOrder(DifferenceOnset onset, std::vector<PlacedCause> causes) {
  const auto position = [&](const PlacedCause& one) { return PositionOf(one.place, onset); };
  std::ranges::stable_sort(causes, {}, position);
  // Chance that may not reach the result is only listed without a likelier cause.
  const bool led = !causes.empty() && causes.front().cause.strength != Strength::kPossible;
  std::erase_if(causes, [&](const PlacedCause& one) {
    return led && one.place == CausePlace::kChance && one.cause.layer == Layer::kRandomness;
  });
  std::vector<Cause> ordered;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    Cause& cause = causes[i].cause;
    // Of two equally placed causes each is wrong half of the time.
    const bool alike = i + 1 < causes.size() && causes[i + 1].place == causes[i].place &&
                       causes[i + 1].cause.strength != Strength::kPossible;
    if (cause.strength == Strength::kLikely && (i > 0 || alike))
      cause.strength = Strength::kPossible;
    ordered.push_back(std::move(cause));
  }
  return ordered;
}

}  // namespace rharness
