// Recognises structure: a tree is named by the first pattern that fits all of it.
#include "probes/order/tree_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "probes/order/at.h"

namespace rharness {
namespace {

// Of every node: its leaves are smallest, smallest + stride, ... (count of them), or stride is 0.
std::vector<int> StridesOf(const SumTree& tree) {
  std::vector<int> stride(At(tree.nodes()), 0), largest(At(tree.nodes()), 0);
  for (int node = 0; node < tree.nodes(); ++node) {
    if (tree.IsLeaf(node)) {
      largest[At(node)] = node;
      continue;
    }
    int divisor = 0;
    for (const int child : tree.children(node)) {
      divisor = std::gcd(divisor, stride[At(child)]);
      divisor = std::gcd(divisor, tree.smallest(child) - tree.smallest(node));
      largest[At(node)] = std::max(largest[At(node)], largest[At(child)]);
    }
    stride[At(node)] = divisor;
  }
  // The divisor of all distances is the stride when the leaves leave no gap.
  std::vector<int> exact(At(tree.nodes()), 0);
  for (int node = tree.leaves(); node < tree.nodes(); ++node) {
    const int span = largest[At(node)] - tree.smallest(node);
    if (span == stride[At(node)] * (tree.count(node) - 1)) exact[At(node)] = stride[At(node)];
  }
  return exact;
}

// (smallest leaf, stride, count) to the node that has exactly these; leaves have every stride.
class Ranges {
 public:
  explicit Ranges(const SumTree& tree) {
    const std::vector<int> strides = StridesOf(tree);
    for (int node = tree.leaves(); node < tree.nodes(); ++node) {
      if (strides[At(node)] > 0) {
        nodes_[{tree.smallest(node), strides[At(node)], tree.count(node)}] = node;
      }
    }
  }
  std::optional<int> Find(int smallest, int stride, int count) const {
    if (count == 1) return smallest;
    const auto found = nodes_.find({smallest, stride, count});
    if (found == nodes_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::map<std::tuple<int, int, int>, int> nodes_;
};

// The leaves that join the running sum at each node of a chain, from the root down; empty when the
// tree is no chain with leaves in ascending (or descending) order.
std::vector<int> ChainWidths(const SumTree& tree, bool ascending) {
  std::vector<int> widths;
  for (int node = tree.root(); node >= 0;) {
    int below = -1;
    std::vector<int> leaves;
    for (const int child : tree.children(node)) {
      if (tree.IsLeaf(child)) {
        leaves.push_back(child);
      } else if (below >= 0) {
        return {};
      } else {
        below = child;
      }
    }
    widths.push_back(static_cast<int>(leaves.size()));
    if (leaves.empty()) return {};
    // The running sum has all the earlier leaves, which are the lower ones in ascending order.
    const bool in_order =
        below < 0 || (ascending ? leaves.front() == tree.smallest(node) + tree.count(below)
                                : tree.smallest(below) == leaves.back() + 1);
    if (!in_order || leaves.back() - leaves.front() + 1 != widths.back()) return {};
    node = below;
  }
  return widths;
}

// How many leaves join at a time; 0: this is no such chain. The first group may take one more,
// since there is no running sum yet, and the last may be a partial one.
int ChainWidth(const SumTree& tree, bool ascending) {
  const std::vector<int> widths = ChainWidths(tree, ascending);
  if (widths.size() < 2) return 0;
  const int first = widths.back();
  const int width = widths.size() > 2 ? widths[1] : std::max(widths.front(), first - 1);
  for (std::size_t i = 1; i + 1 < widths.size(); ++i) {
    if (widths[i] != width) return 0;
  }
  const bool fits = widths.front() <= width && (first == width || first == width + 1);
  return fits ? width : 0;
}

bool IsPairwise(const SumTree& tree) {
  const std::vector<int> strides = StridesOf(tree);
  for (int node = tree.leaves(); node < tree.nodes(); ++node) {
    const auto children = tree.children(node);
    if (children.size() != 2 || strides[At(node)] != 1) return false;
    const int left = tree.count(children[0]), right = tree.count(children[1]);
    // Halves, or the largest power of two below the whole and the rest.
    const bool halves = std::abs(left - right) <= 1;
    const bool power = (left & (left - 1)) == 0 && right <= left && 2 * left >= left + right;
    if (!halves && !power) return false;
  }
  return true;
}

// Of names within names, so that a tree made of ever smaller rests ends: beyond it is irregular.
constexpr int kMostNested = 8;

// `room`: names that may still be nested in this one.
std::string Describe(const SumTree& tree, int room);

// The one name of all these subtrees; empty when they differ. Sizes may.
std::string CommonName(const SumTree& tree, const std::vector<int>& nodes, int room) {
  std::string common;
  std::map<int, std::string> by_count;
  for (const int node : nodes) {
    std::string name = Describe(tree.Subtree(node), room - 1);
    if (tree.count(node) < 3) continue;  // too small to be distinctive
    if (!common.empty() && name != common) return {};
    common = std::move(name);
  }
  return common.empty() ? "sequential" : common;
}

// A name inside a name.
std::string Term(const std::string& name) {
  return name.find(' ') == name.npos ? name : "(" + name + ")";
}

constexpr int kMostWays = 1024;

std::optional<std::string> DescribeStrided(const SumTree& tree, const Ranges& ranges, int room) {
  const int n = tree.leaves();
  // Folded lanes are strided at every level: the lanes themselves are the sequential ones.
  std::optional<std::string> coarser;
  for (int ways = 2; ways <= std::min(n / 2, kMostWays); ++ways) {
    std::vector<int> nodes;
    for (int residue = 0; residue < ways; ++residue) {
      const auto node = ranges.Find(residue, ways, (n - residue + ways - 1) / ways);
      if (!node) break;
      nodes.push_back(*node);
    }
    if (static_cast<int>(nodes.size()) != ways) continue;
    const std::string inner = CommonName(tree, nodes, room);
    if (inner.empty()) continue;
    if (inner != "sequential" && coarser) continue;
    const std::string outer = Describe(tree.Above(nodes), room - 1);
    auto name = fmt::format("{}-way strided{} + {}", ways,
                            inner == "sequential" ? "" : " " + Term(inner), outer);
    if (inner == "sequential") return name;
    coarser = std::move(name);
  }
  return coarser;
}

// The node that has `body` and then the `more` leaves from `begin` on, one after the other.
std::optional<int> ExtendedBy(const SumTree& tree, int body, int begin, int more) {
  int node = body;
  for (int leaf = begin; leaf < begin + more; ++leaf) {
    const int parent = tree.parent(leaf);
    if (parent < 0 || tree.parent(node) != parent || tree.children(parent).size() != 2) {
      return std::nullopt;
    }
    node = parent;
  }
  return node;
}

// The running sums of `ways`, if one of them also has the last `more` terms; else empty.
std::vector<int> UnevenLanes(const SumTree& tree, const Ranges& ranges, int ways, int more,
                             int room) {
  const int n = tree.leaves();
  std::vector<int> lanes;
  int extended = 0;
  for (int residue = 0; residue < ways; ++residue) {
    const auto lane = ranges.Find(residue, ways, (n - more) / ways);
    if (!lane || Describe(tree.Subtree(*lane), room - 1) != "sequential") return {};
    const auto longer = ExtendedBy(tree, *lane, n - more, more);
    extended += longer.has_value() ? 1 : 0;
    lanes.push_back(longer.value_or(*lane));
  }
  return extended == 1 ? lanes : std::vector<int>();
}

// Running sums over whole vectors; the terms left over all go to one of them.
std::optional<std::string> DescribeUneven(const SumTree& tree, const Ranges& ranges, int room) {
  constexpr int kMostUnevenWays = 64;
  const int n = tree.leaves();
  // The terms at the end that join the same running sum, one after the other.
  int tail = 1;
  for (int leaf = n - 1; leaf > 0 && tail < kMostUnevenWays; --leaf, ++tail) {
    const auto children = tree.children(tree.parent(leaf));
    if (children.size() != 2 || tree.parent(leaf - 1) != children[0]) break;
  }
  for (int ways = 2; ways <= std::min(n / 2, kMostUnevenWays); ++ways) {
    for (int more = n % ways; more <= tail && n - more >= 2 * ways; more += ways) {
      if (more == 0) continue;
      const std::vector<int> lanes = UnevenLanes(tree, ranges, ways, more, room);
      if (lanes.empty()) continue;
      return fmt::format("{}-way strided ({} more in one) + {}", ways, more,
                         Describe(tree.Above(lanes), room - 1));
    }
  }
  return std::nullopt;
}

std::optional<std::string> DescribeBlocks(const SumTree& tree, const Ranges& ranges, int room) {
  const int n = tree.leaves();
  // Block sizes to try: the subtrees with the first leaf, smallest first.
  for (int node = tree.parent(0); node != tree.root(); node = tree.parent(node)) {
    const int size = tree.count(node);
    std::vector<int> nodes;
    bool all = true;
    for (int begin = 0; begin < n && all; begin += size) {
      const auto block = ranges.Find(begin, 1, std::min(size, n - begin));
      all = block.has_value();
      if (all) nodes.push_back(*block);
    }
    if (!all) continue;
    const std::string inner = CommonName(tree, nodes, room);
    if (inner.empty()) continue;
    const std::string outer = Describe(tree.Above(nodes), room - 1);
    if (outer == "sequential") return fmt::format("split-K {} of {}", nodes.size(), Term(inner));
    return fmt::format("{} blocks of {} + {}", nodes.size(), Term(inner), outer);
  }
  return std::nullopt;
}

// Every node adds the two interleaved halves of its terms, as lanes of a vector are folded.
bool IsInterleaved(const SumTree& tree) {
  if (tree.leaves() < 4) return false;
  const std::vector<int> strides = StridesOf(tree);
  for (int node = tree.leaves(); node < tree.nodes(); ++node) {
    const auto children = tree.children(node);
    if (children.size() != 2 || tree.count(children[0]) != tree.count(children[1])) return false;
    const bool halves =
        tree.IsLeaf(children[0]) || (strides[At(children[0])] == 2 * strides[At(node)] &&
                                     strides[At(children[1])] == 2 * strides[At(node)]);
    if (!halves || strides[At(node)] == 0) return false;
  }
  return true;
}

// The patterns that are no split of one node's children into parts; empty if none fits.
std::string DescribeWhole(const SumTree& tree, int room) {
  const int n = tree.leaves();
  if (n == 1) return "one term";
  if (n == 2) return "sequential";
  if (tree.nodes() == n + 1) return fmt::format("{}-way", n);
  if (const int width = ChainWidth(tree, true); width > 0) {
    return width == 1 ? "sequential" : fmt::format("({}+1)-way", width);
  }
  if (const int width = ChainWidth(tree, false); width > 0) {
    return width == 1 ? "reversed" : fmt::format("({}+1)-way reversed", width);
  }
  if (IsPairwise(tree)) return "pairwise";
  if (IsInterleaved(tree)) return "interleaved pairwise";
  const Ranges ranges(tree);
  if (auto name = DescribeStrided(tree, ranges, room)) return *name;
  return DescribeUneven(tree, ranges, room).value_or("");
}

// The two children when they are the first terms and the rest; else nothing.
std::optional<std::pair<int, int>> CutOf(const SumTree& tree, int node) {
  if (tree.IsLeaf(node) || tree.children(node).size() != 2) return std::nullopt;
  const int first = tree.children(node)[0], rest = tree.children(node)[1];
  // All of the first terms are below the smallest of the rest, counted from the node's own.
  if (tree.smallest(rest) != tree.smallest(node) + tree.count(first)) return std::nullopt;
  return std::pair(first, rest);
}

// What a chain of contiguous parts begins with, and the parts that are added to it, last one first.
struct Spine {
  int body = 0;
  std::vector<int> added;
};

// Blocks of unequal length, one after the other; perhaps to a term that was there before.
std::optional<std::string> DescribeSpine(const SumTree& tree, int room) {
  Spine spine{.body = tree.root()};
  std::string common;
  while (const auto cut = CutOf(tree, spine.body)) {
    if (tree.IsLeaf(cut->second)) return std::nullopt;
    spine.added.push_back(cut->second);
    const std::string name = DescribeWhole(tree.Subtree(cut->second), room);
    if (tree.count(cut->second) > 2) {
      if (name.empty() || (!common.empty() && name != common)) return std::nullopt;
      common = name;
    }
    spine.body = cut->first;
    const auto blocks = spine.added.size();
    if (tree.IsLeaf(spine.body)) {
      if (blocks == 1) return fmt::format("one term, then {}", Term(common));
      return fmt::format("one term, then split-K {} of {}", blocks, Term(common));
    }
    if (!common.empty() && DescribeWhole(tree.Subtree(spine.body), room) == common) {
      return fmt::format("split-K {} of {}", blocks + 1, Term(common));
    }
  }
  return std::nullopt;
}

// A whole pattern, and the terms that its vectors left over, added one by one at the end.
std::optional<std::string> DescribeTail(const SumTree& tree, int room) {
  int body = tree.root(), more = 0;
  for (auto cut = CutOf(tree, body); cut && tree.IsLeaf(cut->second); cut = CutOf(tree, body)) {
    body = cut->first;
    ++more;
  }
  if (more == 0 || tree.IsLeaf(body)) return std::nullopt;
  const std::string name = DescribeWhole(tree.Subtree(body), room);
  if (name.empty()) return std::nullopt;
  return fmt::format("{}, then {} more", name, more);
}

// Halves of halves, about equal, down to blocks of one pattern.
std::optional<std::string> DescribeHalves(const SumTree& tree, int room) {
  constexpr int kSlack = 16;  // terms by which halves differ, so that vectors stay whole
  std::vector<int> stack = {tree.root()};
  std::string common;
  std::size_t blocks = 0;
  while (!stack.empty()) {
    const int node = stack.back();
    stack.pop_back();
    const SumTree part = tree.Subtree(node);
    std::string name = DescribeWhole(part, room);
    if (name.empty()) {
      const auto tail = DescribeTail(part, room);
      if (tail) name = tail->substr(0, tail->find(", then"));
    }
    if (name.empty()) {
      const auto cut = CutOf(tree, node);
      if (!cut || std::abs(tree.count(cut->first) - tree.count(cut->second)) > kSlack) {
        return std::nullopt;
      }
      stack.insert(stack.end(), {cut->first, cut->second});
      continue;
    }
    if (!common.empty() && name != common) return std::nullopt;
    common = std::move(name);
    ++blocks;
  }
  if (blocks < 2) return std::nullopt;
  return fmt::format("{} blocks of {} + pairwise", blocks, Term(common));
}

// Two contiguous parts, each with a pattern of its own.
std::optional<std::string> DescribeParts(const SumTree& tree, int room) {
  const auto cut = CutOf(tree, tree.root());
  if (!cut) return std::nullopt;
  const std::string first = DescribeWhole(tree.Subtree(cut->first), room);
  const std::string rest = DescribeWhole(tree.Subtree(cut->second), room);
  if (first.empty() || rest.empty()) return std::nullopt;
  return fmt::format("{} terms {} + {} terms {}", tree.count(cut->first), Term(first),
                     tree.count(cut->second), Term(rest));
}

std::string Describe(const SumTree& tree, int room) {
  if (room > 0) {
    if (auto name = DescribeWhole(tree, room); !name.empty()) return name;
    if (auto name = DescribeTail(tree, room)) return *name;
    if (auto name = DescribeBlocks(tree, Ranges(tree), room)) return *name;
    for (const auto describe : {DescribeSpine, DescribeHalves, DescribeParts}) {
      if (auto name = describe(tree, room)) return *name;
    }
  }
  return fmt::format("irregular, depth {}", tree.height(tree.root()));
}

}  // namespace

std::string NameOf(const SumTree& tree) { return Describe(tree, kMostNested); }

}  // namespace rharness
