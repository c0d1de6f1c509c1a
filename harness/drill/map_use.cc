// The selected runs first, then all others.
#include "harness/drill/map_use.h"

#include "harness/base/log.h"
#include "harness/rerun/places.h"

namespace rharness {

Status RequireUsedMaps(const DrillOptions& options, const std::vector<std::string>& run_ids,
                       HistoryStore* history) {
  MapUse use(options.places);
  for (const std::string& run_id : run_ids) {
    if (use.AllUsed()) return {};
    ASSIGN_OR_RETURN(const Manifest manifest, history->Get(run_id));
    use.See(manifest);
  }
  if (use.AllUsed()) return {};
  const std::vector<std::string> unused = use.Unused();
  if (!options.maps_of_profile) {
    ASSIGN_OR_RETURN(const auto entries, history->List(false));
    for (const HistoryEntry& entry : entries) {
      if (use.AllUsed()) break;
      ASSIGN_OR_RETURN(const Manifest manifest, history->Get(entry.run_id));
      use.See(manifest);
    }
    if (!use.AllUsed()) return UnusedMapsError(use.Unused(), "no run of the history");
  }
  LogWarning(UnusedMapsError(unused, "no selected run").ToString());
  return {};
}

}  // namespace rharness
