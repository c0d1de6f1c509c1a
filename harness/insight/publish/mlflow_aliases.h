// Which version of a registered model an alias should name, after a drill of their runs.
//
// Role: pure. An alias that stands for "reproduced" names the newest version that did: it goes
// forward only, and off a version that drifted.
#ifndef RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_ALIASES_H_
#define RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_ALIASES_H_

#include <cstdint>
#include <optional>
#include <set>

namespace rharness {

struct DrilledVersions {
  std::set<std::int64_t> reproduced;
  std::set<std::int64_t> drifted;
};

enum class AliasChange { kNone, kSet, kRemove };

struct AliasDecision {
  AliasChange change = AliasChange::kNone;
  std::int64_t version = 0;  // of kSet: the new one; of kRemove: the one it is taken from
};

// `current`: the version that has the alias. It is set to the newest version that reproduced where
// that is newer, where there is none, or where the current one drifted; else it is removed from one
// that drifted. A version of which the drill says neither keeps it.
AliasDecision DecideAlias(const DrilledVersions& drilled, std::optional<std::int64_t> current);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_ALIASES_H_
