// Where an alias goes.
#include "harness/insight/publish/mlflow_aliases.h"

namespace rharness {

AliasDecision DecideAlias(const DrilledVersions& drilled, std::optional<std::int64_t> current) {
  const bool lost = current && drilled.drifted.contains(*current);
  if (!drilled.reproduced.empty()) {
    const std::int64_t newest = *drilled.reproduced.rbegin();
    if (!current || newest > *current || (lost && newest != *current)) {
      return {AliasChange::kSet, newest};
    }
  }
  if (lost) return {AliasChange::kRemove, *current};
  return {};
}

}  // namespace rharness
