// Empirical Bayes for variances: the noise of one configuration from its family.
//
// Source: Smyth 2004, section 6.2 (doi:10.2202/1544-6115.1027), moment estimator on log variances.
#ifndef RHARNESS_COMPARE_STATS_SHRINKAGE_H_
#define RHARNESS_COMPARE_STATS_SHRINKAGE_H_

#include <vector>

#include "compare/stats/student_t.h"

namespace rharness::stats {

// One variance and its df per configuration; all variances positive, at least two of them, sizes
// equal, else df = 0. df is infinite when the variances scatter no more than by chance. The
// estimate is not capped here.
ScaledInverseChiSquared FitScaledInverseChiSquared(const std::vector<double>& variances,
                                                   const std::vector<double>& dfs);

// (d0 s0^2 + df s^2) / (d0 + df), and s0^2 for infinite d0.
double PosteriorVariance(const ScaledInverseChiSquared& prior, double variance, double df);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_SHRINKAGE_H_
