// How far runs of the same thing drift apart, as a band around one of them.
//
// Role: private to this folder. Divergence accumulates, so the band follows the running maximum of
// the range among the curves; a factor makes room for a run that has not been seen.
#ifndef RHARNESS_COMPARE_CURVES_REPLICATE_BAND_H_
#define RHARNESS_COMPARE_CURVES_REPLICATE_BAND_H_

#include <cstddef>
#include <vector>

#include "compare/curves/growth_model.h"

namespace rharness {

inline constexpr std::size_t kConformalReplicates = 5;

struct ReplicateBand {
  std::vector<double> limit;  // on |b - a|, a value a step
  double factor = 1.0;        // times the running maximum of the range
  // At least kConformalReplicates: what exchangeability alone guarantees, never below 1 / (1 +
  // replicates). Fewer: 0, not stated.
  double false_alarm = 0.0;
};

// `a` and each of `replicates` (one or more) are finite and as long; no two are equal. `floor` > 0:
// a range below it counts as it.
//
// Five replicates and more. A replicate's score is the largest ratio of its distance from a to the
// running range of all the other curves, itself left out. A further run of the same kind is
// exchangeable with the replicates. Its score is the largest of all with probability 1 / (R + 1) at
// most, because leaving the new run out of the other scores only raises them. So the factor is the
// order statistic of the scores for `false_alarm`; where R is too small for that, the largest score
// or the prediction limit of a log-normal score, whichever is larger. The first bounds the rate at
// 1 / (R + 1) whatever the distribution and is what is stated. The second is a model: where runs
// part at the same step by log-normal amounts, 5 replicates give 0.006 for 0.01 wanted; where they
// part at random steps by Cauchy amounts, 0.054 (tests/compare/curves/replicate_band_test.cc).
// Fewer than five: ReplicateFactor of the published record. The factor is never below 1.
//
// Exchangeable is a strong word: one ULP planted once starts to show later than sums reordered at
// every step. The floor is there to cover that start.
// O(steps * replicates).
ReplicateBand BandOfReplicates(const std::vector<double>& a,
                               const std::vector<std::vector<double>>& replicates, double floor,
                               double false_alarm, const GrowthRecord& record);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_REPLICATE_BAND_H_
