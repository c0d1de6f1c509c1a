// A short name for an order of addition, and the change between two, in words.
#ifndef RHARNESS_PROBES_ORDER_TREE_NAME_H_
#define RHARNESS_PROBES_ORDER_TREE_NAME_H_

#include <string>
#include <vector>

#include "probes/order/sum_tree.h"

namespace rharness {

// "sequential", "reversed", "pairwise", "interleaved pairwise" (evens and odds, as vector lanes are
// folded), "8-way strided + pairwise" (eight interleaved sequential sums, added pairwise), "...,
// then 4 more" (terms left over, one by one), "2-way strided (4 more in one) + sequential" (they
// all go to one of the running sums), "split-K 4 of sequential" (contiguous blocks, added one after
// the other), "one term, then X" (the old value of the output first), "4 blocks of X + pairwise",
// "96 terms X + 4 terms Y", "(16+1)-way" (sixteen terms and the running sum in one fused addition),
// "16-way" (one fused addition); else, and for what is more than eight names deep, "irregular,
// depth 12". Names give the structure, not every detail: two orders of one name may differ, and
// Canonical decides.
std::string NameOf(const SumTree& tree);

// The change in brief. Empty for equal orders.
struct TreeDifference {
  std::string sentence;      // "was 8-way strided + pairwise, is 16-way strided + pairwise"
  bool same_shape = false;   // only the places of summands have changed
  double moved_pairs = 0.0;  // share of summand pairs that meet over another number of terms
  int first_a = 0;           // the first such pair, by number
  int first_b = 0;
};
// Up to 20,000 pairs are looked at, all of them for up to 200 summands, else a fixed random sample.
TreeDifference DiffTrees(const SumTree& before, const SumTree& after);

// The tree as SVG, at most 720 by 360: all of it for up to 64 summands, else its upper part, with
// subtrees as triangles with the number of summands and their order.
std::string DrawTree(const SumTree& tree, std::string_view id);

}  // namespace rharness

#endif  // RHARNESS_PROBES_ORDER_TREE_NAME_H_
