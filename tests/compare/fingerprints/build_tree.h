// Summation trees of known structure.
#ifndef RHARNESS_TESTS_COMPARE_FINGERPRINTS_BUILD_TREE_H_
#define RHARNESS_TESTS_COMPARE_FINGERPRINTS_BUILD_TREE_H_

#include <utility>
#include <vector>

#include "probes/order/sum_tree.h"

namespace rharness {

inline SumTree TreeOf(int leaves, std::vector<std::vector<int>> inner) {
  auto tree = SumTree::Build(leaves, std::move(inner));
  if (!tree.ok()) Abort(tree.error().ToString());
  return *tree;
}

// ((0 1) 2) 3 ...
inline SumTree SequentialTree(int leaves) {
  std::vector<std::vector<int>> inner = {{0, 1}};
  for (int leaf = 2; leaf < leaves; ++leaf) inner.push_back({leaves + leaf - 2, leaf});
  return TreeOf(leaves, std::move(inner));
}

// (0 1) (2 3) ...; leaves: a power of two.
inline SumTree PairwiseTree(int leaves) {
  std::vector<std::vector<int>> inner;
  std::vector<int> level;
  for (int leaf = 0; leaf < leaves; ++leaf) level.push_back(leaf);
  while (level.size() > 1) {
    std::vector<int> next;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      inner.push_back({level[i], level[i + 1]});
      next.push_back(leaves + static_cast<int>(inner.size()) - 1);
    }
    level = std::move(next);
  }
  return TreeOf(leaves, std::move(inner));
}

// Fused additions of `width` terms and the running sum, as a tensor core makes them.
inline SumTree FusedTree(int leaves, int width) {
  std::vector<std::vector<int>> inner;
  for (int leaf = 0; leaf < leaves;) {
    std::vector<int> children;
    if (!inner.empty()) children.push_back(leaves + static_cast<int>(inner.size()) - 1);
    for (int i = 0; i < width && leaf < leaves; ++i) children.push_back(leaf++);
    inner.push_back(std::move(children));
  }
  return TreeOf(leaves, std::move(inner));
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_FINGERPRINTS_BUILD_TREE_H_
