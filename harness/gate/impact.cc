// The runs of a history that depend on a change.
#include <algorithm>

#include "harness/gate/gate.h"

namespace rharness {

std::vector<ImpactedRun> FindImpacted(const FingerprintDifference& difference,
                                      const std::set<std::string>& compared,
                                      const std::vector<Manifest>& history) {
  std::vector<ImpactedRun> impacted;
  for (const Manifest& run : history) {
    const auto& families = run.probe_families;
    const bool unseen = std::ranges::any_of(
        families, [&](const auto& family) { return !compared.contains(family); });
    ImpactedRun out{.run_id = run.run_id, .family = run.family};
    for (const ProbeDifference& probe : difference.probes) {
      if (probe.change == BehaviourChange::kAppeared) continue;
      const bool depends = families.empty() || unseen || probe.family == kScalarFamily ||
                           std::ranges::find(families, probe.family) != families.end();
      if (depends) out.probes.push_back(probe.probe);
    }
    if (unseen || !out.probes.empty()) impacted.push_back(std::move(out));
  }
  return impacted;
}

}  // namespace rharness
