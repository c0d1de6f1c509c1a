// Finds when a share of successes changed, in a series of counts.
//
// Role: weekly counts in, the places where their rate changed out, with an error rate that holds
// for any counts. Trials count as independent; a cluster (one bad machine in a week) is a change of
// its week.
// Source: binary segmentation (Scott and Knott 1974, doi:10.2307/2529204) with Fisher's exact test
// of a split, given the total of successes, corrected for the number of splits that were tried
// (Bonferroni): the chance of a false change in a series without one is at most alpha.
#ifndef RHARNESS_COMPARE_STATS_RATE_CHANGES_H_
#define RHARNESS_COMPARE_STATS_RATE_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rharness::stats {

struct CountOfTrials {
  std::int64_t successes = 0;
  std::int64_t trials = 0;  // 0: nothing was tried then
};

struct RateChange {
  std::size_t at = 0;        // the first place of the new rate
  std::size_t earliest = 0;  // places where it may have begun: their likelihood ratio to the best
  std::size_t latest = 0;    // one is within the 95 % quantile of chi-squared(1)
  std::size_t from = 0;      // the part [from, to) that was split
  std::size_t to = 0;
  double before = 0.0;  // rate in [from, at)
  double after = 0.0;   // rate in [at, to)
  double p = 1.0;       // corrected for the splits that were tried
};

// In the order of their places; empty if nothing is shown. Each part between changes is tested at
// alpha again. Places without trials carry no information. O(n^2 sqrt(trials)) at worst.
std::vector<RateChange> FindRateChanges(const std::vector<CountOfTrials>& series, double alpha);

// Fisher's exact test, two-sided by doubling the smaller tail: left and right have one rate.
double SameRateP(const CountOfTrials& left, const CountOfTrials& right);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_RATE_CHANGES_H_
