// Finds when a series of values changed its level.
//
// Role: over a fleet's history, never over the steps of one run. CUSUM online, energy statistic
// offline.
// Source: Page 1954; NIST/SEMATECH e-Handbook 6.3.2.3; Matteson and James 2014
// (doi:10.1080/01621459.2013.849605).
#ifndef RHARNESS_COMPARE_STATS_CHANGE_POINTS_H_
#define RHARNESS_COMPARE_STATS_CHANGE_POINTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace rharness::stats {

struct Cusum {
  std::vector<double> high;  // one entry a value
  std::vector<double> low;
  std::optional<std::size_t> first_alarm;  // index of the first value that moves a sum above h
};

// Tabular CUSUM about `mu`: slack k and limit h in the units of the values. A NaN counts as no
// movement of the sums.
Cusum TabularCusum(const std::vector<double>& x, double mu, double k, double h);

struct EnergySplit {
  std::size_t first = 0;  // the split that q[0] belongs to
  std::vector<double> q;  // the statistic of splits first, first + 1, ...: sizes of the left part
  std::size_t best = 0;   // the split with the largest q; 0 when there is none to try
};

// Both parts keep at least min_segment >= 2 values. Distances are |x - y|^exponent, 0 < exponent
// < 2. O(n^2).
EnergySplit BestEnergySplit(const std::vector<double>& x, double exponent, std::size_t min_segment);

// The share of `permutations` random orders, and the given order, whose best split is at least as
// good: p >= 1 / (permutations + 1). Offline, from about 30 values on. The same seed gives the same
// p. 1 when there is no split to try. O(permutations n^2), memory O(n^2).
double EnergySplitPermutationP(const std::vector<double>& x, double exponent,
                               std::size_t min_segment, int permutations, std::uint64_t seed);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_CHANGE_POINTS_H_
