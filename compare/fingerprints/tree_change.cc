// Order first, then regions, then arithmetic.
#include "compare/fingerprints/tree_change.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/order/tree_name.h"

namespace rharness {
namespace {

constexpr std::size_t kMostName = 120;  // bytes of a name quoted in a sentence

std::string Short(const std::string& text) {
  return text.size() <= kMostName ? text : text.substr(0, kMostName) + "...";
}

bool BothSayRegions(const FingerprintTree& a, const FingerprintTree& b) {
  return !a.regions_sha256.empty() && !b.regions_sha256.empty();
}

bool SameOwnOrder(const FingerprintTree& a, const FingerprintTree& b) {
  return a.sha256 == b.sha256 && a.leaves == b.leaves;
}

bool SameOwnArithmetic(const FingerprintTree& a, const FingerprintTree& b) {
  const bool both = !a.rounding.empty() && !b.rounding.empty();
  if (both && a.rounding != b.rounding) return false;
  const bool replayed = a.inputs > 0 && a.inputs == b.inputs;
  return !replayed || a.predicted == b.predicted;
}

bool SameBorders(const FingerprintTree& a, const FingerprintTree& b) {
  return !BothSayRegions(a, b) ||
         (a.regions_sha256 == b.regions_sha256 && a.regions.size() == b.regions.size());
}

std::string ArithmeticWords(const FingerprintTree& before, const FingerprintTree& after) {
  if (before.arithmetic != after.arithmetic) {
    return fmt::format("the same order with other arithmetic: was {}, is {}",
                       Short(before.arithmetic), Short(after.arithmetic));
  }
  if (before.rounding != after.rounding) {
    return fmt::format("the same order with other arithmetic: {} as before, of other terms",
                       Short(after.arithmetic));
  }
  return fmt::format("the same order predicts the bits of {} of {} inputs, was {}", after.predicted,
                     after.inputs, before.predicted);
}

std::string OrderWords(const FingerprintTree& before, const FingerprintTree& after) {
  if (before.tree && after.tree && before.leaves == after.leaves) {
    return DiffTrees(*before.tree, *after.tree).sentence;
  }
  return fmt::format("was {} over {} terms, is {} over {}", Short(before.name), before.leaves,
                     Short(after.name), after.leaves);
}

}  // namespace

bool SameOrder(const FingerprintTree& a, const FingerprintTree& b) {
  if (!SameOwnOrder(a, b) || !SameBorders(a, b)) return false;
  return !BothSayRegions(a, b) || std::ranges::equal(a.regions, b.regions, SameOwnOrder);
}

bool SameTree(const FingerprintTree& a, const FingerprintTree& b) {
  if (!SameOrder(a, b) || !SameOwnArithmetic(a, b)) return false;
  return !BothSayRegions(a, b) || std::ranges::equal(a.regions, b.regions, SameOwnArithmetic);
}

bool RevealedAnew(const FingerprintTree& a, const FingerprintTree& b) {
  return a.rounding.empty() != b.rounding.empty() ||
         a.regions_sha256.empty() != b.regions_sha256.empty();
}

std::string TreeChangeWords(const FingerprintTree& before, const FingerprintTree& after) {
  if (!SameOwnOrder(before, after)) return OrderWords(before, after);
  if (!SameBorders(before, after)) {
    return fmt::format(
        "the same order at the first output, which is that of {} of {} outputs, was {} of {}",
        after.outputs, after.all_outputs, before.outputs, before.all_outputs);
  }
  if (!SameOwnArithmetic(before, after)) return ArithmeticWords(before, after);
  for (std::size_t i = 0; i < std::min(before.regions.size(), after.regions.size()); ++i) {
    const FingerprintTree &was = before.regions[i], &is = after.regions[i];
    if (SameTree(was, is)) continue;
    return fmt::format("from row {} column {} on: {}", is.row, is.column, TreeChangeWords(was, is));
  }
  return "";
}

std::string TreeChangeNames(const FingerprintTree& before, const FingerprintTree& after) {
  return before.name == after.name ? TreeChangeWords(before, after)
                                   : fmt::format("{} → {}", Short(before.name), Short(after.name));
}

std::string WidestChange(const FingerprintTree& before, const FingerprintTree& after) {
  if (!before.tree || !after.tree) return "";
  const int was = before.tree->LargestFanIn(), is = after.tree->LargestFanIn();
  if (was == is || std::max(was, is) <= 2) return "";
  return fmt::format("from {} to {} terms", was, is);
}

std::string TreeText(const FingerprintTree& tree) {
  std::string text = fmt::format("{} {} {} of {}; {}", tree.sha256, tree.rounding, tree.predicted,
                                 tree.inputs, tree.regions_sha256);
  for (const FingerprintTree& region : tree.regions) text += "; " + TreeText(region);
  return text;
}

}  // namespace rharness
