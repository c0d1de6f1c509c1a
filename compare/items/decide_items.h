// Two evaluations of the same items: did a score move, by more than matters?
//
// Role: the unit is the item: its two scores are one pair. What two means within their standard
// errors hide is seen here, since what makes an item hard or easy cancels in the pair. Pure.
// Source: McNemar and Tango (compare/stats/mcnemar.h); paired t and TOST (compare/stats);
// standard errors by cluster: Miller 2024, arXiv:2411.00640, section 2.2.
#ifndef RHARNESS_COMPARE_ITEMS_DECIDE_ITEMS_H_
#define RHARNESS_COMPARE_ITEMS_DECIDE_ITEMS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compare/metrics/decision.h"

namespace rharness {

struct ItemScores {
  std::string name;
  std::vector<double> a;  // one an item, finite
  std::vector<double> b;
  std::vector<std::string> clusters;  // of each item, such as a passage with several questions;
                                      // empty: items are independent
  std::optional<double> margin;       // the difference of the means that would matter, > 0
  double alpha_drift = 0.01;
  double alpha_equivalence = 0.05;
};

struct ItemDecision {
  // history and reruns hold the two means; variance_basis is "items".
  MetricDecision decision;
  std::vector<std::size_t> higher;  // items whose score is higher in b, and...
  std::vector<std::size_t> lower;   // ...lower
};

// Scores of 0 and 1 alone without clusters: McNemar's exact test, and Tango's score for the margin;
// others: a paired t, over cluster means' sums where clusters are named (df: clusters - 1).
//
//   within        all pairs are equal ("equal"), or the difference is shown to be within the margin
//   drifted       a difference is shown at alpha_drift, and not to be within the margin
//   inconclusive  else; without a margin "no_margin", with fewer than two pairs or clusters that
//                 differ in nothing but their mean "no_variance_basis"
//
// n = 0: inconclusive, "missing".
ItemDecision DecideItems(const ItemScores& scores);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_ITEMS_DECIDE_ITEMS_H_
