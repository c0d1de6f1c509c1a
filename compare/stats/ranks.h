// Exact rank tests: Mann and Whitney of two small samples, Wilcoxon of the signs of one.
//
// Role: shows the limits of ranks for few values: three against three never give p below 0.1, and
// seven values of one sign never below 0.0156.
// Source: Mann and Whitney 1947 (doi:10.1214/aoms/1177730491), Wilcoxon 1945 (doi:10.2307/3001968).
#ifndef RHARNESS_COMPARE_STATS_RANKS_H_
#define RHARNESS_COMPARE_STATS_RANKS_H_

#include <vector>

namespace rharness::stats {

struct MannWhitneyResult {
  double u = 0.0;  // pairs in which x exceeds y
  double p_two_sided = 1.0;
};

// Samples of 1 to 100 values without ties between them; otherwise p is NaN. O(n^2 m^2).
MannWhitneyResult MannWhitneyExact(const std::vector<double>& x, const std::vector<double>& y);

// Two-sided p of the signed-rank test that values are as often above 0 as below, symmetrically:
// exact, by all signs of the ranks, up to 200 values other than 0; by the normal distribution
// above. Zeros are left out, equal sizes share their mean rank. 1 for none; NaN if a value is not
// finite. O(n^3) up to 200 values.
double SignedRankTwoSided(const std::vector<double>& values);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_RANKS_H_
