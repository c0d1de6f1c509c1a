// When did a share of successes change, in a series of counts?
//
// Role: weekly counts in, the places where their rate turned out, with an error rate that holds for
// any counts. Independent trials; what comes in clusters (one bad machine in a week) is a change of
// its week.
// Source: binary segmentation (Scott and Knott 1974, doi:10.2307/2529204) whose test of a split is
// Fisher's exact one, given the total of successes, corrected for the number of splits that were
// tried (Bonferroni): the chance that any split of a series without a change is called one is at
// most alpha.
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
  std::size_t from = 0;      // the stretch [from, to) that was split
  std::size_t to = 0;
  double before = 0.0;  // rate in [from, at)
  double after = 0.0;   // rate in [at, to)
  double p = 1.0;       // corrected for the splits that were tried
};

// In the order of their places; empty where nothing is shown. Each stretch between changes is
// tested at alpha again. Places without trials carry nothing. O(n^2 sqrt(trials)) at worst.
std::vector<RateChange> FindRateChanges(const std::vector<CountOfTrials>& series, double alpha);

// Fisher's exact test, two-sided by doubling the smaller tail: left and right have one rate.
double SameRateP(const CountOfTrials& left, const CountOfTrials& right);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_RATE_CHANGES_H_
