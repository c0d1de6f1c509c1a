// Many estimates of one shift, each with its own sampling variance: their common mean.
//
// Role: a fleet's runs after an upgrade, or any small meta-analysis.
// Source: DerSimonian and Laird 1986 (doi:10.1016/0197-2456(86)90046-2); Hartung and Knapp 2001
// (doi:10.1002/sim.791); Sidik and Jonkman 2002 (doi:10.1002/sim.1262).
#ifndef RHARNESS_COMPARE_STATS_RANDOM_EFFECTS_H_
#define RHARNESS_COMPARE_STATS_RANDOM_EFFECTS_H_

#include <vector>

namespace rharness::stats {

// The moment estimate of the between-run variance can be negative. Truncated at 0 it is a variance,
// and every decision here uses it. As estimated, some programs print it and weight by it
// (statsmodels' combine_effects); then a weight may be negative, and all results are NaN.
enum class BetweenVariance { kTruncated, kAsEstimated };

struct RandomEffects {
  double q = 0.0;                    // Cochran's, chi-squared on df when all shifts are equal
  double tau_squared = 0.0;          // between-run variance
  double mean = 0.0;                 // weights 1 / (v + tau^2)
  double standard_error = 0.0;       // 1 / sqrt(sum of weights)
  double standard_error_hksj = 0.0;  // by the weighted scatter; use with t on df
  double df = 0.0;                   // number of effects - 1
};

// Sizes must agree, two effects or more, all finite, all variances positive; else all NaN.
// With equal variances mean and standard_error_hksj are those of the one-sample t test.
RandomEffects CombineEffects(const std::vector<double>& effects,
                             const std::vector<double>& variances, BetweenVariance rule);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_RANDOM_EFFECTS_H_
