// Means, their scatter, and the signed-rank test.
#include "compare/sibling_direction.h"

#include <algorithm>
#include <cmath>

#include "compare/stats/distributions.h"
#include "compare/stats/moments.h"
#include "compare/stats/ranks.h"

namespace rharness {
namespace {

struct Difference {
  std::vector<double> of;  // b - a
  double size = 0.0;       // mean |a|, or the spread of a
};

Difference DifferenceOf(const CurveComparison& curve, std::int64_t first, std::int64_t last) {
  Difference difference;
  for (std::size_t i = 0; i < curve.steps.size(); ++i) {
    if (curve.steps[i] < first || curve.steps[i] > last) continue;
    if (!std::isfinite(curve.a[i]) || !std::isfinite(curve.b[i])) continue;
    difference.of.push_back(curve.b[i] - curve.a[i]);
    difference.size += std::fabs(curve.a[i]);
  }
  if (!difference.of.empty()) difference.size /= static_cast<double>(difference.of.size());
  if (curve.spread > 0.0) difference.size = curve.spread;
  return difference;
}

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Standard error of the mean by the jumps from value to value, robustly.
double ErrorOf(const std::vector<double>& values) {
  if (values.size() < 2) return 0.0;
  std::vector<double> jumps;
  for (std::size_t i = 1; i < values.size(); ++i) {
    jumps.push_back(std::fabs(values[i] - values[i - 1]));
  }
  constexpr double kNormal = 1.4826;
  return kNormal * MedianOf(std::move(jumps)) / std::sqrt(2.0 * static_cast<double>(values.size()));
}

}  // namespace

RunTrend TrendOf(const CurveComparison& curve) {
  RunTrend trend;
  if (curve.steps.empty()) return trend;
  const Difference difference = DifferenceOf(curve, curve.steps.front(), curve.steps.back());
  const double mean = stats::ComputeMoments(difference.of).mean;
  if (!(difference.size > 0.0) || mean == 0.0 || !std::isfinite(mean / difference.size)) {
    return trend;
  }
  trend.relative = mean / difference.size;
  // A difference without scatter keeps its direction as surely as any.
  const double error = std::max(ErrorOf(difference.of), 1e-12 * difference.size);
  trend.standardised = mean / error;
  return trend;
}

double RelativeErrorOf(const CurveComparison& curve, std::int64_t first, std::int64_t last) {
  const Difference difference = DifferenceOf(curve, first, last);
  return difference.size > 0.0 ? ErrorOf(difference.of) / difference.size : 0.0;
}

SiblingDirection DirectionOf(const std::vector<RunTrend>& trends) {
  SiblingDirection direction;
  std::vector<double> standardised, relative;
  for (const RunTrend& trend : trends) {
    standardised.push_back(trend.standardised);
    relative.push_back(trend.relative);
    direction.up += trend.standardised > 0.0;
    direction.down += trend.standardised < 0.0;
  }
  direction.p = stats::SignedRankTwoSided(standardised);
  const stats::Moments moments = stats::ComputeMoments(relative);
  direction.middle = MedianOf(std::move(relative));
  if (moments.count < 2.0) return direction;
  const double df = moments.count - 1.0;
  // Nine of ten by the normal distribution: ranks, and that the deviation is an estimate, cost one.
  const double times =
      stats::StudentTQuantile(1.0 - kFavoursDirection / 2.0, df) + stats::StudentTQuantile(0.9, df);
  direction.invisible =
      std::max(kRoundingFloor, times * std::sqrt(moments.Variance() / moments.count));
  return direction;
}

bool MovedOneWay(const SiblingDirection& direction) {
  return direction.p <= kFavoursDirection && std::fabs(direction.middle) > kRoundingFloor;
}

}  // namespace rharness
