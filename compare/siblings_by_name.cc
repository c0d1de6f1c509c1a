// Which pairs one change made: by the facts that their sides recorded, and by name.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compare/fact_order.h"
#include "compare/siblings.h"

namespace rharness {
namespace {

// The changes between the sides, by the facts that both recorded; none if they recorded none.
std::optional<std::string> ChangeOf(const Comparison& comparison) {
  std::string key;
  bool known = false;
  for (const LayerComparison& layer : comparison.layers) {
    if (layer.layer == Layer::kData || layer.layer == Layer::kRandomness) continue;
    known = known || layer.compared > 0 || !layer.differences.empty();
    for (const FactDifference& difference : layer.differences) {
      if (IsUnusedPackage(difference)) continue;
      key += fmt::format("\n{}\t{}\t{}", difference.key, difference.recorded.value_or("(absent)"),
                         difference.observed.value_or("(absent)"));
    }
  }
  return known ? std::optional(std::move(key)) : std::nullopt;
}

}  // namespace

std::vector<Sibling> SiblingsByName(const std::vector<Comparison*>& comparisons) {
  std::vector<Sibling> siblings;
  for (Comparison* comparison : comparisons) {
    const std::string& name = comparison->name;
    const std::string group = name.substr(0, std::min(name.find("__"), name.find('/')));
    Sibling sibling{.comparison = comparison, .places = {}};
    const std::optional<std::string> change = ChangeOf(*comparison);
    const std::string suffix = change ? "\nchanged" + *change : "";
    if (!group.empty()) sibling.places.push_back({group + suffix, group, change.has_value()});
    sibling.places.push_back({suffix, "", change.has_value()});
    siblings.push_back(std::move(sibling));
  }
  return siblings;
}

}  // namespace rharness
