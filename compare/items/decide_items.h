// Two evaluations of the same items: did a score move, by more than matters?
//
// Role: the unit is the item: its two scores are one pair. What two means within their standard
// errors hide is seen here, since what makes an item hard or easy cancels in the pair. Pure.
// Source: McNemar and Tango (compare/stats/mcnemar.h); sign flips (compare/stats/sign_flips.h); the
// correction for skewness: Hall 1992 (doi:10.1111/j.2517-6161.1992.tb01872.x), section 2; standard
// errors by cluster: Miller 2024, arXiv:2411.00640, section 2.2.
#ifndef RHARNESS_COMPARE_ITEMS_DECIDE_ITEMS_H_
#define RHARNESS_COMPARE_ITEMS_DECIDE_ITEMS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compare/metrics/decision.h"

namespace rharness {

// Items, or clusters of them, without which no equivalence is shown: rates are known from here on.
inline constexpr std::size_t kLeastUnits = 10;

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

// Scores of 0 and 1 alone without clusters: McNemar's exact test, and Tango's score for the margin.
// Others: sign flips of the differences, of clusters as wholes (of more than 20,000 that differ:
// t); for the margin an interval that holds that by t over items or clusters and its correction for
// skewness, at alpha_equivalence, at half of it with fewer than 50 items or clusters.
//
// Error rates. A difference: if nothing changed, the two sides of a pair can change places, and
// alpha_drift holds for any scores and number of items. Equivalence assumes that items, or
// clusters, are independent draws of one distribution, which nothing shows at the margin itself.
// Simulated there, at a stated 0.05: .07 or less for graded, normal and exponential differences and
// for those of a share of the items, at 10 to 1,000 items; up to .08 where five of 50 items
// move both ways; with a lognormal tail .09 up to 50 items, .07 at 200, .05 at 1,000. t alone: up
// to .13, with that tail .20; sign flips around the margin, which need symmetry: up to .24.
//
//   within        all pairs are equal ("equal"), or the difference is shown to be within the margin
//   drifted       a difference is shown at alpha_drift, and not to be within the margin
//   inconclusive  else; without a margin "no_margin"; with fewer than kLeastUnits
//                 "too_few_items"; with one pair or cluster, or where all differ by
//                 the same, less than the margin, "no_variance_basis"
//
// n = 0: inconclusive, "unscored_items".
ItemDecision DecideItems(const ItemScores& scores);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_ITEMS_DECIDE_ITEMS_H_
