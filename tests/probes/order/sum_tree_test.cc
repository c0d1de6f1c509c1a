// The tree itself: one canonical form, bad trees refused, nothing recursive.
#include "probes/order/sum_tree.h"

#include <gtest/gtest.h>

#include <limits>

#include "probes/order/tree_name.h"
#include "tests/probes/order/routines.h"

namespace rharness {
namespace {

using Lists = std::vector<std::vector<int>>;

SumTree Make(int leaves, Lists inner) { return SumTree::Build(leaves, std::move(inner)).value(); }

std::string ErrorOf(int leaves, Lists inner) {
  const auto tree = SumTree::Build(leaves, std::move(inner));
  return tree.ok() ? "" : tree.error().message;
}

TEST(SumTree, IsEqualInWhateverOrderNodesAndChildrenAreGiven) {
  const SumTree tree = Make(4, {{0, 1}, {2, 3}, {4, 5}});
  EXPECT_EQ(tree.Canonical(), "((0 1) (2 3))");
  EXPECT_EQ(tree, Make(4, {{5, 6}, {3, 2}, {1, 0}}));
  EXPECT_EQ(tree.Sha256(), Make(4, {{6, 5}, {1, 0}, {3, 2}}).Sha256());
  EXPECT_FALSE(tree == Make(4, {{0, 2}, {1, 3}, {4, 5}}));
  EXPECT_EQ(Make(1, {}).Canonical(), "0");
  EXPECT_EQ(Make(3, {{2, 0, 1}}).Canonical(), "(0 1 2)");
}

TEST(SumTree, RefusesWhatIsNoTree) {
  EXPECT_NE(ErrorOf(0, {}), "");
  EXPECT_NE(ErrorOf(-3, {}), "");
  EXPECT_EQ(ErrorOf(2, {}), "a summation tree with two roots");
  EXPECT_EQ(ErrorOf(2, {{0}}), "an addition of fewer than two terms in a summation tree");
  EXPECT_EQ(ErrorOf(2, {{0, 7}}), "node 7 in a summation tree of 3 nodes");
  EXPECT_EQ(ErrorOf(2, {{0, -1}}), "node -1 in a summation tree of 3 nodes");
  EXPECT_EQ(ErrorOf(2, {{0, 0}}), "node 0 has two parents in a summation tree");
  EXPECT_EQ(ErrorOf(1, {{0, 1}}), "a summation tree without a root");
  // Nodes 4 and 5 hold each other, beside a proper tree.
  EXPECT_EQ(ErrorOf(3, {{0, 1}, {5, 2}, {4, 3}}), "a summation tree without a root");
  EXPECT_EQ(ErrorOf(4, {{0, 1}, {2, 6}, {3, 5}}), "a cycle in a summation tree");
}

TEST(SumTree, TakesNoMemoryForLeavesThatAreOnlyClaimed) {
  constexpr int kMost = std::numeric_limits<int>::max();
  EXPECT_EQ(ErrorOf(kMost, {}), "a summation tree with two roots");
  EXPECT_EQ(ErrorOf(kMost, {{0, 1}}), "a summation tree with two roots");
}

TEST(SumTree, CountsLeavesUnderTheCommonAncestor) {
  const SumTree tree = Make(5, {{0, 1}, {2, 3}, {5, 6}, {7, 4}});
  EXPECT_EQ(tree.LeavesUnderCommonAncestor(0, 1), 2);
  EXPECT_EQ(tree.LeavesUnderCommonAncestor(1, 2), 4);
  EXPECT_EQ(tree.LeavesUnderCommonAncestor(4, 3), 5);
  EXPECT_EQ(tree.height(tree.root()), 3);
  EXPECT_EQ(tree.count(tree.root()), 5);
  EXPECT_EQ(tree.LargestFanIn(), 2);
  EXPECT_EQ(Make(1, {}).LargestFanIn(), 0);
}

TEST(SumTree, HasTheShapeOfAnyPermutationOfItsLeaves) {
  const SumTree pairs = Make(4, {{0, 1}, {2, 3}, {4, 5}});
  EXPECT_EQ(pairs.Shape(), Make(4, {{0, 2}, {1, 3}, {4, 5}}).Shape());
  EXPECT_NE(pairs.Shape(), Make(4, {{0, 1}, {4, 2}, {5, 3}}).Shape());
  EXPECT_EQ(routines::TreeOf(40, routines::Sequential<routines::Symbol>).Shape(),
            routines::TreeOf(40, routines::Reversed<routines::Symbol>).Shape());
}

TEST(SumTree, CutsOutSubtreesAndWhatIsAboveThem) {
  const SumTree tree = Make(6, {{1, 4}, {6, 5}, {0, 3}, {8, 2}, {7, 9}});
  ASSERT_EQ(tree.Canonical(), "(((0 3) 2) ((1 4) 5))");
  const auto top = tree.children(tree.root());
  EXPECT_EQ(tree.Subtree(top[0]).Canonical(), "((0 2) 1)");
  EXPECT_EQ(tree.Subtree(top[1]).Canonical(), "((0 1) 2)");
  EXPECT_EQ(tree.Subtree(3).Canonical(), "0");
  EXPECT_EQ(tree.Subtree(tree.root()), tree);
  const std::vector<int> frontier = {top[1], tree.children(top[0])[0], 2};
  EXPECT_EQ(tree.Above(frontier).Canonical(), "((0 2) 1)");
  EXPECT_EQ(tree.Above(std::vector<int>{tree.root()}).Canonical(), "0");
}

TEST(SumTree, TakesATreeOfAMillionLevels) {
  constexpr int kLeaves = 1'000'000;
  Lists inner = {{0, 1}};
  for (int leaf = 2; leaf < kLeaves; ++leaf) inner.push_back({kLeaves + leaf - 2, leaf});
  const SumTree tree = Make(kLeaves, std::move(inner));
  EXPECT_EQ(tree.height(tree.root()), kLeaves - 1);
  EXPECT_EQ(tree.LeavesUnderCommonAncestor(0, kLeaves - 1), kLeaves);
  EXPECT_EQ(tree.Canonical().substr(999'999, 12), "0 1) 2) 3) 4");
  EXPECT_EQ(NameOf(tree), "sequential");
  EXPECT_FALSE(tree.Shape().empty());
  EXPECT_EQ(tree.Subtree(tree.parent(499'999)).leaves(), 500'000);
}

}  // namespace
}  // namespace rharness
