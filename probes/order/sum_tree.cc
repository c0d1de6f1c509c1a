// Trees as lists in which children come before parents, so that nothing recurses: a sequential sum
// of a million terms is a million nodes deep.
#include "probes/order/sum_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "harness/base/digest.h"
#include "probes/order/at.h"

namespace rharness {
namespace {

using Lists = std::vector<std::vector<int>>;

// Before anything is allocated for an untrusted count of leaves: as many numbers must be there.
Status CheckCounts(int leaves, const Lists& inner) {
  std::size_t children = 0;
  for (const auto& list : inner) children += list.size();
  if (children + 1 < At(leaves)) return InvalidInput("a summation tree with two roots");
  constexpr auto kMostNodes = At(std::numeric_limits<int>::max());
  if (inner.size() <= kMostNodes - At(leaves)) return {};
  return InvalidInput(fmt::format("a summation tree of more than {} nodes", kMostNodes));
}

// Every node but the root is somebody's child exactly once. Returns the root.
Result<int> CheckParents(int leaves, const Lists& inner) {
  const int nodes = leaves + static_cast<int>(inner.size());
  std::vector<int> parents(At(nodes), 0);
  for (const auto& children : inner) {
    if (children.size() < 2) {
      return InvalidInput("an addition of fewer than two terms in a summation tree");
    }
    for (const int child : children) {
      if (child < 0 || child >= nodes) {
        return InvalidInput(fmt::format("node {} in a summation tree of {} nodes", child, nodes));
      }
      if (++parents[At(child)] > 1) {
        return InvalidInput(fmt::format("node {} has two parents in a summation tree", child));
      }
    }
  }
  int root = -1;
  for (int node = 0; node < nodes; ++node) {
    if (parents[At(node)] != 0) continue;
    if (root >= 0) return InvalidInput("a summation tree with two roots");
    root = node;
  }
  if (root < 0) return InvalidInput("a summation tree without a root");
  return root;
}

// Depth-first from the root: every inner node after its parent. Cycles are never reached.
std::vector<int> FromRoot(int leaves, const Lists& inner, int root) {
  std::vector<int> order, stack = {root};
  while (!stack.empty()) {
    const int node = stack.back();
    stack.pop_back();
    if (node < leaves) continue;
    order.push_back(node);
    for (const int child : inner[At(node - leaves)]) stack.push_back(child);
  }
  return order;
}

}  // namespace

Result<SumTree> SumTree::Build(int leaves, Lists inner) {
  if (leaves < 1) return InvalidInput("a summation tree without a leaf");
  RETURN_IF_ERROR(CheckCounts(leaves, inner));
  ASSIGN_OR_RETURN(const int root, CheckParents(leaves, inner));
  const std::vector<int> from_root = FromRoot(leaves, inner, root);
  if (from_root.size() != inner.size()) return InvalidInput("a cycle in a summation tree");
  std::vector<int> smallest(At(leaves) + inner.size());
  std::iota(smallest.begin(), smallest.begin() + leaves, 0);
  const auto by_smallest = [&](int a, int b) { return smallest[At(a)] < smallest[At(b)]; };
  for (auto node = from_root.rbegin(); node != from_root.rend(); ++node) {
    auto& children = inner[At(*node - leaves)];
    std::ranges::sort(children, by_smallest);
    smallest[At(*node)] = smallest[At(children.front())];
  }
  // Numbered depth-first with children in order, which no longer depends on how it was given.
  const std::vector<int> canonical = FromRoot(leaves, inner, root);
  std::vector<int> renumbered(smallest.size());
  std::iota(renumbered.begin(), renumbered.begin() + leaves, 0);
  int next = leaves;
  for (auto node = canonical.rbegin(); node != canonical.rend(); ++node)
    renumbered[At(*node)] = next++;
  SumTree tree;
  tree.leaves_ = leaves;
  tree.count_.assign(At(leaves), 1);
  tree.height_.assign(At(leaves), 0);
  tree.smallest_.resize(At(leaves));
  std::iota(tree.smallest_.begin(), tree.smallest_.end(), 0);
  tree.parent_.assign(smallest.size(), -1);
  for (auto node = canonical.rbegin(); node != canonical.rend(); ++node) {
    std::vector<int> children;
    int count = 0, height = 0;
    for (const int child : inner[At(*node - leaves)]) {
      children.push_back(renumbered[At(child)]);
      count += tree.count_[At(children.back())];
      height = std::max(height, tree.height_[At(children.back())] + 1);
      tree.parent_[At(children.back())] = renumbered[At(*node)];
    }
    tree.count_.push_back(count);
    tree.height_.push_back(height);
    tree.smallest_.push_back(tree.smallest_[At(children.front())]);
    tree.inner_.push_back(std::move(children));
  }
  return tree;
}

std::span<const int> SumTree::children(int node) const { return inner_[At(node - leaves_)]; }

int SumTree::LargestFanIn() const {
  std::size_t most = 0;
  for (const auto& children : inner_) most = std::max(most, children.size());
  return static_cast<int>(most);
}

int SumTree::LeavesUnderCommonAncestor(int a, int b) const {
  // A parent's id is above its children's, so the smaller one climbs.
  while (a != b) {
    int& lower = a < b ? a : b;
    lower = parent(lower);
  }
  return count(a);
}

std::string SumTree::Canonical() const {
  std::string text;
  // A closing bracket and the space before a sibling wait on the stack between the nodes.
  constexpr int kClose = -1, kSpace = -2;
  std::vector<int> stack = {root()};
  while (!stack.empty()) {
    const int node = stack.back();
    stack.pop_back();
    if (node == kClose) {
      text += ')';
    } else if (node == kSpace) {
      text += ' ';
    } else if (IsLeaf(node)) {
      text += std::to_string(node);
    } else {
      text += '(';
      stack.push_back(kClose);
      const auto below = children(node);
      for (std::size_t i = below.size(); i-- > 0;) {
        stack.push_back(below[i]);
        if (i > 0) stack.push_back(kSpace);
      }
    }
  }
  return text;
}

std::string SumTree::Sha256() const { return Sha256HexOf(Canonical()); }

std::string SumTree::Shape() const {
  // Each distinct shape gets a number, so that texts stay short however deep the tree is.
  std::map<std::vector<int>, int> numbers;
  std::vector<int> shape(At(nodes()), 0);
  for (int node = leaves_; node < nodes(); ++node) {
    std::vector<int> below;
    for (const int child : children(node)) below.push_back(shape[At(child)]);
    std::ranges::sort(below);
    const int next = static_cast<int>(numbers.size()) + 1;
    shape[At(node)] = numbers.emplace(std::move(below), next).first->second;
  }
  std::vector<std::pair<int, std::vector<int>>> rules;
  for (const auto& [below, number] : numbers) rules.emplace_back(number, below);
  std::ranges::sort(rules);
  std::string text;
  for (const auto& [number, below] : rules) text += fmt::format("({})", fmt::join(below, " "));
  return text;
}

SumTree SumTree::Subtree(int node) const {
  std::vector<int> below = FromRoot(leaves_, inner_, node);
  std::ranges::sort(below);
  std::vector<int> terms;
  for (const int inner : below) {
    for (const int child : children(inner)) {
      if (IsLeaf(child)) terms.push_back(child);
    }
  }
  if (IsLeaf(node)) terms.push_back(node);
  std::ranges::sort(terms);
  const int count = static_cast<int>(terms.size());
  const auto renumber = [&](int child) {
    const auto& list = IsLeaf(child) ? terms : below;
    const auto rank = std::ranges::lower_bound(list, child) - list.begin();
    return static_cast<int>(rank) + (IsLeaf(child) ? 0 : count);
  };
  Lists lists;
  for (const int inner : below) {
    auto& list = lists.emplace_back();
    for (const int child : children(inner)) list.push_back(renumber(child));
  }
  return Build(count, std::move(lists)).value();
}

SumTree SumTree::Above(std::span<const int> frontier) const {
  std::vector<int> renumbered(At(nodes()), -1);
  std::vector<int> sorted(frontier.begin(), frontier.end());
  std::ranges::sort(sorted, {}, [&](int node) { return smallest(node); });
  const int count = static_cast<int>(sorted.size());
  for (int i = 0; i < count; ++i) renumbered[At(sorted[At(i)])] = i;
  Lists lists;
  for (int node = leaves_; node < nodes(); ++node) {
    if (renumbered[At(node)] >= 0) continue;
    const auto below = children(node);
    const bool above =
        std::ranges::all_of(below, [&](int child) { return renumbered[At(child)] >= 0; });
    if (!above) continue;
    std::vector<int> list;
    for (const int child : below) list.push_back(renumbered[At(child)]);
    renumbered[At(node)] = count + static_cast<int>(lists.size());
    lists.push_back(std::move(list));
  }
  return Build(count, std::move(lists)).value();
}

}  // namespace rharness
