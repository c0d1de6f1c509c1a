// Generalized ESD.
#include "compare/stats/outliers.h"

#include <cmath>
#include <cstddef>

#include "compare/stats/distributions.h"
#include "compare/stats/moments.h"

namespace rharness::stats {
namespace {

Moments MomentsWithout(const std::vector<double>& values, const std::vector<bool>& left_out) {
  std::vector<double> kept;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!left_out[i]) kept.push_back(values[i]);
  }
  return ComputeMoments(kept);
}

}  // namespace

std::vector<bool> FindOutliers(const std::vector<double>& values, double alpha) {
  std::vector<bool> removed(values.size(), false);
  std::vector<bool> outliers = removed;
  for (std::size_t step = 0; step < values.size() / 4; ++step) {
    const Moments rest = MomentsWithout(values, removed);
    if (!(rest.sum_of_squares > 0.0)) break;
    std::size_t farthest = values.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto distance = [&](std::size_t at) { return std::fabs(values[at] - rest.mean); };
      if (removed[i]) continue;
      if (farthest == values.size() || distance(i) > distance(farthest)) farthest = i;
    }
    const double ratio = std::fabs(values[farthest] - rest.mean) / std::sqrt(rest.Variance());
    const double n = rest.count;
    const double t = StudentTQuantile(1.0 - alpha / (2.0 * n), n - 2.0);
    const double limit = (n - 1.0) * t / std::sqrt((n - 2.0 + t * t) * n);
    removed[farthest] = true;
    if (ratio > limit) outliers = removed;
  }
  return outliers;
}

}  // namespace rharness::stats
