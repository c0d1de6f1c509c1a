// Empirical Bayes for variances: the noise of one configuration from its family.
#include "compare/stats/shrinkage.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "compare/stats/distributions.h"

namespace rharness::stats {

ScaledInverseChiSquared FitScaledInverseChiSquared(const std::vector<double>& variances,
                                                   const std::vector<double>& dfs) {
  if (variances.size() < 2 || variances.size() != dfs.size()) return {};
  std::vector<double> centred(variances.size());
  double sampling = 0.0;
  for (std::size_t i = 0; i < variances.size(); ++i) {
    if (!(variances[i] > 0.0) || !std::isfinite(variances[i]) || !(dfs[i] > 0.0)) return {};
    const double half = dfs[i] / 2.0;
    centred[i] = std::log(variances[i]) - Digamma(half) + std::log(half);
    sampling += Trigamma(half);
  }
  const Moments moments = ComputeMoments(centred);
  const double excess = moments.Variance() - sampling / moments.count;
  if (!(excess > 0.0)) {
    return {std::exp(moments.mean), std::numeric_limits<double>::infinity()};
  }
  const double half = TrigammaInverse(excess);
  return {std::exp(moments.mean + Digamma(half) - std::log(half)), 2.0 * half};
}

double PosteriorVariance(const ScaledInverseChiSquared& prior, double variance, double df) {
  if (std::isinf(prior.df)) return prior.s0_squared;
  return (prior.df * prior.s0_squared + df * variance) / (prior.df + df);
}

}  // namespace rharness::stats
