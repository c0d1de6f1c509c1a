// The order in which a sum is added up, as a tree: leaves are summands, inner nodes additions.
//
// Role: found by reveal.h and kept in fingerprints. A node with more than two children is one fused
// addition of all of them (a tensor core's group). Addition commutes, so the order of children has
// no meaning: two trees are the same when the leaf sets of their nodes are.
#ifndef RHARNESS_PROBES_ORDER_SUM_TREE_H_
#define RHARNESS_PROBES_ORDER_SUM_TREE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

// A fingerprint keeps no longer canonical text, and refuses to read one.
inline constexpr std::size_t kLongestCanonicalBytes = std::size_t{64} << 10;

class SumTree {
 public:
  // Leaves have the ids 0 .. leaves - 1; inner node k has the id leaves + k and the children
  // inner[k]. Any order of inner nodes; there must be exactly one root, no cycle, every leaf once,
  // two children or more in every inner node, and at least one leaf. Else invalid_input.
  static Result<SumTree> Build(int leaves, std::vector<std::vector<int>> inner);

  int leaves() const { return leaves_; }
  int nodes() const { return leaves_ + static_cast<int>(inner_.size()); }
  int root() const { return nodes() - 1; }
  bool IsLeaf(int node) const { return node < leaves_; }
  // Of an inner node, sorted by their smallest leaf. A child's id is below its parent's.
  std::span<const int> children(int node) const;
  int parent(int node) const { return parent_[static_cast<std::size_t>(node)]; }      // -1: root
  int count(int node) const { return count_[static_cast<std::size_t>(node)]; }        // of leaves
  int smallest(int node) const { return smallest_[static_cast<std::size_t>(node)]; }  // leaf
  int height(int node) const { return height_[static_cast<std::size_t>(node)]; }      // leaf: 0
  int LargestFanIn() const;  // children of the widest node; 0 for a single leaf

  // Leaves below the lowest common ancestor of two different leaves. Cost: the depth of the tree.
  int LeavesUnderCommonAncestor(int a, int b) const;

  // "((0 1) 2)": children by their smallest leaf. Equal for equal orders of addition.
  std::string Canonical() const;
  std::string Sha256() const;  // of Canonical(), hex
  // The same with equal leaves and children sorted by their text: equal for orders that differ only
  // in the places of summands.
  std::string Shape() const;

  // The tree below a node, its leaves numbered from 0 in their own order.
  SumTree Subtree(int node) const;
  // The tree above a set of nodes that covers every leaf once, each of them now a leaf, numbered by
  // smallest leaf.
  SumTree Above(std::span<const int> frontier) const;

  bool operator==(const SumTree& other) const {
    return leaves_ == other.leaves_ && inner_ == other.inner_;
  }

 private:
  SumTree() = default;

  int leaves_ = 0;
  std::vector<std::vector<int>> inner_;  // canonical: children before parents, in depth-first order
  std::vector<int> parent_;
  std::vector<int> count_;
  std::vector<int> smallest_;
  std::vector<int> height_;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_ORDER_SUM_TREE_H_
