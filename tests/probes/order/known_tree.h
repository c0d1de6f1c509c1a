// Answers out of a known tree, to count what it costs to reveal it.
#ifndef RHARNESS_TESTS_PROBES_ORDER_KNOWN_TREE_H_
#define RHARNESS_TESTS_PROBES_ORDER_KNOWN_TREE_H_

#include <span>

#include "probes/order/reveal.h"
#include "probes/order/sum_tree.h"

namespace rharness {

// With units everywhere: not made for the blocks of a validation.
class KnownTree final : public MaskedSum {
 public:
  KnownTree(const SumTree& tree, int batch) : tree_(tree), batch_(batch) {}
  int size() const override { return tree_.leaves(); }
  int max_batch() const override { return batch_; }
  Status Count(std::span<const MaskPair> pairs, UnitRange, std::span<double> counts) override {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      counts[k] = tree_.leaves() - tree_.LeavesUnderCommonAncestor(pairs[k].plus, pairs[k].minus);
    }
    return {};
  }

 private:
  const SumTree& tree_;
  int batch_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_PROBES_ORDER_KNOWN_TREE_H_
