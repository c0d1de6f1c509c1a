// Chooses the version of a registered model for an alias, after a drill of their runs.
//
// Role: pure. An alias for "reproduced" names the newest version that did: it only moves forward,
// and leaves a drifted version.
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
  std::int64_t version = 0;  // of kSet: the new one; of kRemove: the old one
};

// `current`: the version with the alias. The alias is set to the newest reproduced version if that
// is newer, if there is no current one, or if the current one drifted; else it is removed from a
// drifted one. A version that the drill leaves open keeps it.
AliasDecision DecideAlias(const DrilledVersions& drilled, std::optional<std::int64_t> current);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_ALIASES_H_
