// What moved between two orders, pair by pair of summands.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "probes/order/tree_name.h"

namespace rharness {
namespace {

// "; its widest addition takes 17 terms, was 9"; empty if it does not change.
std::string FanInChange(const SumTree& before, const SumTree& after) {
  const int was = before.LargestFanIn(), is = after.LargestFanIn();
  if (was == is) return {};
  return fmt::format("; its widest addition takes {} terms, was {}", is, was);
}

}  // namespace

TreeDifference DiffTrees(const SumTree& before, const SumTree& after) {
  TreeDifference difference;
  if (before == after) return difference;
  if (before.leaves() != after.leaves()) {
    difference.sentence =
        fmt::format("was a sum of {} terms, is one of {}", before.leaves(), after.leaves());
    return difference;
  }
  constexpr int kAllPairsUpTo = 200, kSample = 20'000;
  const int n = before.leaves();
  std::vector<std::pair<int, int>> pairs;
  if (n <= kAllPairsUpTo) {
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) pairs.emplace_back(i, j);
    }
  } else {
    std::mt19937 random(1);
    for (int k = 0; k < kSample; ++k) {
      const int i = static_cast<int>(random() % static_cast<unsigned>(n)),
                j = static_cast<int>(random() % static_cast<unsigned>(n));
      if (i != j) pairs.emplace_back(std::min(i, j), std::max(i, j));
    }
    std::ranges::sort(pairs);
  }
  int moved = 0;
  for (const auto& [i, j] : pairs) {
    if (before.LeavesUnderCommonAncestor(i, j) == after.LeavesUnderCommonAncestor(i, j)) continue;
    if (moved++ == 0) difference.first_a = i, difference.first_b = j;
  }
  difference.moved_pairs = static_cast<double>(moved) / static_cast<double>(pairs.size());
  difference.same_shape = before.Shape() == after.Shape();
  const std::string was = NameOf(before), is = NameOf(after);
  if (difference.same_shape) {
    difference.sentence = fmt::format("the same shape ({}) with the terms in other places", is);
  } else if (was == is) {
    difference.sentence = fmt::format("{} as before, in another arrangement", is);
  } else {
    difference.sentence = fmt::format("was {}, is {}", was, is);
  }
  difference.sentence += FanInChange(before, after);
  return difference;
}

}  // namespace rharness
