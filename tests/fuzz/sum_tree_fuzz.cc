// Fuzzes the canonical text of summation trees, and what is said of trees: a text that is accepted
// is written again as it was, differs in nothing from itself, and has a name and a drawing.
//
// Run: rharness-sum-tree-fuzz -max_total_time=60 -dict=sum_tree.dict CORPUS sum_tree_seeds
#include <string>
#include <vector>

#include "compare/fingerprints/canonical_tree.h"
#include "probes/order/tree_name.h"
#include "tests/compare/fingerprints/build_tree.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/reports/html_checker.h"

namespace rharness {
namespace {

void CheckNodes(const SumTree& tree) {
  Require(tree.count(tree.root()) == tree.leaves() && tree.parent(tree.root()) == -1);
  for (int node = tree.leaves(); node < tree.nodes(); ++node) {
    int count = 0, last = -1;
    for (const int child : tree.children(node)) {
      Require(child < node && tree.parent(child) == node && tree.smallest(child) > last);
      last = tree.smallest(child);
      count += tree.count(child);
    }
    Require(count == tree.count(node));
  }
}

void CheckDifference(const SumTree& before, const SumTree& after) {
  const TreeDifference found = DiffTrees(before, after);
  Require(found.sentence.empty() == (before == after));
  Require(found.moved_pairs >= 0.0 && found.moved_pairs <= 1.0);
  Require(DiffTrees(after, before).moved_pairs == found.moved_pairs);
}

void Check(const SumTree& tree) {
  CheckNodes(tree);
  Require(!NameOf(tree).empty());
  Require(CheckHtml(DrawTree(tree, "id")).error.empty());
  Require(tree.Subtree(tree.root()) == tree);
  const std::vector<int> root = {tree.root()};
  Require(tree.Above(root).leaves() == 1);
  CheckDifference(tree, tree);
  const int leaves = tree.leaves();
  CheckDifference(tree, leaves > 1 ? SequentialTree(leaves) : TreeOf(1, {}));
  CheckDifference(TreeOf(1, {}), tree);
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = rharness::TextOf(data, size);
  const auto tree = rharness::ParseCanonicalTree(text);
  if (!tree.ok()) {
    rharness::RequireError(tree.error(), {rharness::ErrorCode::kInvalidInput}, "");
    return 0;
  }
  rharness::Require(tree->Canonical() == text);
  rharness::Check(*tree);
  return 0;
}
