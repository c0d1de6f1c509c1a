// The words for layers and their states.
#include "harness/verdict/facts.h"

namespace rharness {

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
    case LayerState::kPartlyKnown:
      return "partly_known";
  }
  Abort("unknown LayerState");
}

std::vector<Fact> Unbundled(const std::vector<Fact>& facts) {
  std::vector<Fact> all;
  for (const Fact& fact : facts) {
    all.push_back(fact);
    if (fact.bundle == nullptr) continue;
    all.back().bundle = nullptr;
    all.insert(all.end(), fact.bundle->facts.begin(), fact.bundle->facts.end());
  }
  return all;
}

}  // namespace rharness
