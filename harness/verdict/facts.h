// The five layers of reproducibility, facts in them, and how far two sides' facts agree.
//
// Role: records and evidence become facts; everything that reports a cause speaks in them. The
// comparison is in compare/facts.h. Not here: what a difference means for the verdict.
#ifndef RHARNESS_HARNESS_VERDICT_FACTS_H_
#define RHARNESS_HARNESS_VERDICT_FACTS_H_

#include <array>
#include <memory>
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

// The effect of a fact's difference on comparability.
enum class FactWeight {
  kIdentity,  // must equal the recorded one, else the runs are not comparable (a data hash)
  kClass,     // names the hardware class: must agree for bits to be promised (a GPU model)
  kContext,   // may differ; explains a drift (a driver version)
};

// Whether a process of the run used the subject of the fact: a package that was mapped.
enum class FactUse { kNotKnown, kUsed, kNotUsed };

enum class FactKind {
  kValue,
  // Nothing is known of the facts whose keys begin with `key`; `value` names them in words
  // ("Python packages").
  kNotKnown,
  // All facts whose keys begin with `key` are there: one that only the other side has is absent
  // here. But a list that is empty on one side alone is not known there: the observer may have seen
  // nothing. `value` names them in words.
  kComplete,
  // The producer of the subject of "data.NAME.sha256", under the key "made_by.NAME". No difference
  // by itself: it explains one.
  kLineage,
};

struct FactBundle;

// One observation. `value` empty: known to be absent (an unset variable).
struct Fact {
  Layer layer = Layer::kEnvironment;
  std::string key;  // "data.digits.sha256", "variable.OMP_NUM_THREADS", "package.python.numpy"
  std::optional<std::string> value;
  FactWeight weight = FactWeight::kContext;
  FactUse use = FactUse::kNotKnown;
  FactKind kind = FactKind::kValue;
  // If the value is a substitute, what made it: the id of the key of a keyed digest. Values of
  // different realms cannot be compared, and kRedacted ones with none.
  std::string realm;
  // Digest of what `value` names, "sha256:...": the files of a package. Compared if both sides have
  // one of the same algorithm and the values agree.
  std::string digest = {};
  // Of kComplete: the facts whose keys begin with `key`, which then stand nowhere else. Two sides
  // that share them agree, and none of them is looked at.
  std::shared_ptr<const FactBundle> bundle = {};
};
inline constexpr std::string_view kRedacted = "redacted";

// Facts that many runs share: a list of packages.
struct FactBundle {
  std::vector<Fact> facts;  // kValue, of one layer, sorted by key
  std::string lines;        // "KEY=VALUE\n" of each, sorted: distinguishes stacks
};

// The same facts without bundles.
std::vector<Fact> Unbundled(const std::vector<Fact>& facts);

struct FactDifference {
  Layer layer = Layer::kEnvironment;
  std::string key;
  FactWeight weight = FactWeight::kContext;
  std::optional<std::string> recorded;  // empty: recorded as absent
  std::optional<std::string> observed;
  FactUse use = FactUse::kNotKnown;  // used if it was used on either side
};

enum class LayerState {
  kSame,  // at least one fact on both sides, none differs
  kDiffers,
  kUnknown,      // nothing was recorded or nothing was seen: no claim
  kPartlyKnown,  // no known fact differs, and some are not known: no further claim
};
std::string_view LayerStateName(LayerState state);  // "same", "differs", "unknown", "partly_known"

struct LayerComparison {
  Layer layer = Layer::kData;
  LayerState state = LayerState::kUnknown;
  int compared = 0;       // facts present on both sides
  int only_recorded = 0;  // recorded, but not observed in the rerun
  // The most telling first; see TellingOrder in fact_order.h.
  std::vector<FactDifference> differences;
  // What could not be compared, in words: "Python packages not recorded".
  std::vector<std::string> not_known;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_VERDICT_FACTS_H_
