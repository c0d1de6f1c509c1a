// Facts compared layer by layer.
#include "compare/facts.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace rharness {
namespace {

// Facts of one layer by key. The first of two facts with one key counts.
using FactsByKey = std::map<std::string_view, const Fact*>;

FactsByKey FactsOfLayer(const std::vector<Fact>& facts, Layer layer) {
  FactsByKey by_key;
  for (const Fact& fact : facts) {
    if (fact.layer == layer) by_key.emplace(fact.key, &fact);
  }
  return by_key;
}

LayerComparison CompareLayer(Layer layer, const FactsByKey& recorded, const FactsByKey& observed) {
  LayerComparison comparison;
  comparison.layer = layer;
  for (const auto& [key, fact] : recorded) {
    const auto other = observed.find(key);
    if (other == observed.end()) {
      ++comparison.only_recorded;
      continue;
    }
    ++comparison.compared;
    if (fact->value == other->second->value) continue;
    comparison.differences.push_back({layer, fact->key,
                                      std::min(fact->weight, other->second->weight), fact->value,
                                      other->second->value});
  }
  std::ranges::sort(comparison.differences, {}, [](const FactDifference& difference) {
    const bool is_effect = difference.key.starts_with("probe.");
    return std::make_tuple(difference.weight, is_effect, std::string_view(difference.key));
  });
  if (!comparison.differences.empty()) {
    comparison.state = LayerState::kDiffers;
  } else if (comparison.compared > 0) {
    comparison.state = LayerState::kSame;
  }
  return comparison;
}

}  // namespace

std::string_view LayerName(Layer layer) {
  switch (layer) {
    case Layer::kData:
      return "data";
    case Layer::kCode:
      return "code";
    case Layer::kEnvironment:
      return "environment";
    case Layer::kHardware:
      return "hardware";
    case Layer::kRandomness:
      return "randomness";
  }
  Abort("unknown Layer");
}

Result<Layer> ParseLayer(std::string_view name) {
  for (const Layer layer : kLayers) {
    if (LayerName(layer) == name) return layer;
  }
  return InvalidInput("unknown layer '" + std::string(name.substr(0, 40)) +
                      "'; expected data, code, environment, hardware or randomness");
}

std::string_view LayerStateName(LayerState state) {
  switch (state) {
    case LayerState::kSame:
      return "same";
    case LayerState::kDiffers:
      return "differs";
    case LayerState::kUnknown:
      return "unknown";
  }
  Abort("unknown LayerState");
}

std::array<LayerComparison, 5> CompareFacts(const std::vector<Fact>& recorded,
                                            const std::vector<Fact>& observed) {
  std::array<LayerComparison, 5> comparisons;
  for (std::size_t i = 0; i < kLayers.size(); ++i) {
    comparisons[i] = CompareLayer(kLayers[i], FactsOfLayer(recorded, kLayers[i]),
                                  FactsOfLayer(observed, kLayers[i]));
  }
  return comparisons;
}

}  // namespace rharness
