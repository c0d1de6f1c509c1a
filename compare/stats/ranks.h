// The exact Mann-Whitney test for two small samples.
//
// Role: shows what ranks can do, which is little: three against three never gives p below 0.1.
// Source: Mann and Whitney 1947 (doi:10.1214/aoms/1177730491).
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

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_RANKS_H_
