// The five layers of reproducibility, and facts in them: what was recorded against what was seen.
//
// Role: the drill turns manifests and evidence into facts; everything that reports a cause speaks
// in them. Not here: what a difference means for the verdict (verdict.h).
#ifndef RHARNESS_COMPARE_FACTS_H_
#define RHARNESS_COMPARE_FACTS_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

enum class Layer { kData, kCode, kEnvironment, kHardware, kRandomness };
inline constexpr std::array<Layer, 5> kLayers = {Layer::kData, Layer::kCode, Layer::kEnvironment,
                                                 Layer::kHardware, Layer::kRandomness};
std::string_view LayerName(Layer layer);  // "data", "code", "environment", "hardware", "randomness"
Result<Layer> ParseLayer(std::string_view name);

// What a fact's difference does to comparability.
enum class FactWeight {
  kIdentity,  // must be the recorded one, or the runs are not comparable (a data hash)
  kClass,     // names the hardware class: must agree for bits to be promised (a GPU model)
  kContext,   // may differ; explains a drift (a driver version)
};

// One observation. `value` empty: known to be absent (an unset variable).
struct Fact {
  Layer layer = Layer::kEnvironment;
  std::string key;  // "data.digits.sha256", "environment.OMP_NUM_THREADS", "gpu.model"
  std::optional<std::string> value;
  FactWeight weight = FactWeight::kContext;
};

struct FactDifference {
  Layer layer = Layer::kEnvironment;
  std::string key;
  FactWeight weight = FactWeight::kContext;
  std::optional<std::string> recorded;  // empty: recorded as absent
  std::optional<std::string> observed;
};

enum class LayerState {
  kSame,  // at least one fact on both sides, none differs
  kDiffers,
  kUnknown,  // nothing was recorded or nothing was seen: no claim
};
std::string_view LayerStateName(LayerState state);  // "same", "differs", "unknown"

struct LayerComparison {
  Layer layer = Layer::kData;
  LayerState state = LayerState::kUnknown;
  int compared = 0;       // facts present on both sides
  int only_recorded = 0;  // recorded, but not looked at in the rerun
  // Identity first, then class, then context; what probes saw ("probe.") after what may have caused
  // it; then by key.
  std::vector<FactDifference> differences;
};

// Compares by (layer, key). A fact on one side only is no difference; one recorded alone is
// counted. Of two facts with one key on a side the first counts. Where the sides give different
// weights the difference has the stricter one. Returns the five layers in the order of kLayers.
std::array<LayerComparison, 5> CompareFacts(const std::vector<Fact>& recorded,
                                            const std::vector<Fact>& observed);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FACTS_H_
