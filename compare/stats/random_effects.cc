// Many estimates of one shift, each with its own sampling variance: their common mean.
#include "compare/stats/random_effects.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace rharness::stats {
namespace {

struct Weighted {
  double weight = 0.0;
  double weight_squared = 0.0;
  double mean = 0.0;
  double scatter = 0.0;  // sum w (x - mean)^2
};

Weighted Weigh(const std::vector<double>& effects, const std::vector<double>& variances,
               double tau_squared) {
  Weighted sum;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const double weight = 1.0 / (variances[i] + tau_squared);
    sum.weight += weight;
    sum.weight_squared += weight * weight;
    sum.mean += weight * effects[i];
  }
  sum.mean /= sum.weight;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const double deviation = effects[i] - sum.mean;
    sum.scatter += deviation * deviation / (variances[i] + tau_squared);
  }
  return sum;
}

bool IsUsable(const std::vector<double>& effects, const std::vector<double>& variances) {
  if (effects.size() != variances.size() || effects.size() < 2) return false;
  return std::all_of(effects.begin(), effects.end(), [](double x) { return std::isfinite(x); }) &&
         std::all_of(variances.begin(), variances.end(),
                     [](double v) { return v > 0.0 && std::isfinite(v); });
}

}  // namespace

RandomEffects CombineEffects(const std::vector<double>& effects,
                             const std::vector<double>& variances, BetweenVariance rule) {
  const double nan = std::nan("");
  if (!IsUsable(effects, variances)) return {nan, nan, nan, nan, nan, nan};
  const Weighted fixed = Weigh(effects, variances, 0.0);
  RandomEffects result;
  result.df = static_cast<double>(effects.size()) - 1.0;
  result.q = fixed.scatter;
  result.tau_squared =
      (fixed.scatter - result.df) / (fixed.weight - fixed.weight_squared / fixed.weight);
  if (rule == BetweenVariance::kTruncated) result.tau_squared = std::max(0.0, result.tau_squared);
  const double smallest = *std::min_element(variances.begin(), variances.end());
  if (!(smallest + result.tau_squared > 0.0)) {
    return {result.q, result.tau_squared, nan, nan, nan, result.df};
  }
  const Weighted random = Weigh(effects, variances, result.tau_squared);
  result.mean = random.mean;
  result.standard_error = 1.0 / std::sqrt(random.weight);
  result.standard_error_hksj = std::sqrt(random.scatter / (result.df * random.weight));
  return result;
}

}  // namespace rharness::stats
