// Mean and spread of a sample, without cancellation.
#include "compare/stats/moments.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace rharness::stats {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Moments ComputeMoments(const std::vector<double>& values) {
  Moments result;
  if (values.empty()) return result;
  const double origin = values.front();
  result.count = static_cast<double>(values.size());
  double sum = 0.0;
  for (double value : values) sum += value - origin;
  const double offset = sum / result.count;
  result.mean = origin + offset;
  double residual = 0.0;
  for (double value : values) {
    const double deviation = (value - origin) - offset;
    result.sum_of_squares += deviation * deviation;
    residual += deviation;
  }
  // The residual sum is rounding of `offset`; taking it out leaves its square behind, not itself.
  result.sum_of_squares =
      std::isfinite(result.sum_of_squares)
          ? std::max(0.0, result.sum_of_squares - residual * residual / result.count)
          : kUndefined;
  return result;
}

double Lag1Autocorrelation(const std::vector<double>& values) {
  const Moments moments = ComputeMoments(values);
  if (!(moments.sum_of_squares > 0.0)) return kUndefined;
  double sum = 0.0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    sum += (values[i] - moments.mean) * (values[i + 1] - moments.mean);
  }
  return sum / moments.sum_of_squares;
}

double EffectiveSampleSizeAr1(double n, double rho) {
  return std::fabs(rho) < 1.0 ? n * (1.0 - rho) / (1.0 + rho) : kUndefined;
}

double OlympicMean(std::vector<double> values, int reject) {
  const auto drop = static_cast<std::ptrdiff_t>(reject);
  if (reject < 0 || static_cast<std::ptrdiff_t>(values.size()) <= 2 * drop) return kUndefined;
  std::sort(values.begin(), values.end());
  return ComputeMoments({values.begin() + drop, values.end() - drop}).mean;
}

}  // namespace rharness::stats
