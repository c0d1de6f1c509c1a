// The selected runs first, then, for maps, all others.
#include "harness/drill/given_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/execution/rerun/places.h"

namespace rharness {
namespace {

Status RequireUseByOthers(const DrillOptions& options, MapUse use, HistoryStore* history) {
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

}  // namespace

Status CheckGivenNames(const DrillOptions& options, const std::vector<std::string>& run_ids,
                       HistoryStore* history) {
  MapUse use(options.places);
  std::set<std::string> variables;
  for (const auto& [name, value] : options.environment) variables.insert(name);
  for (const std::string& run_id : run_ids) {
    if (use.AllUsed() && variables.empty()) return {};
    ASSIGN_OR_RETURN(const Manifest manifest, history->Get(run_id));
    use.See(manifest);
    for (const auto& [name, value] : manifest.environment.variables) variables.erase(name);
  }
  if (!variables.empty()) {
    LogWarning(
        TerminalSafe(fmt::format("--env: no selected run has recorded {}, set or unset; "
                                 "whether any reads it is not known",
                                 fmt::join(variables, ", "))));
  }
  return use.AllUsed() ? Status() : RequireUseByOthers(options, use, history);
}

Status RequireUsedMaps(const DrillOptions& options, const std::vector<Manifest>& runs) {
  MapUse use(options.places);
  for (const Manifest& run : runs) use.See(run);
  if (use.AllUsed()) return {};
  const Error error = UnusedMapsError(use.Unused(), "no run that was given");
  if (!options.maps_of_profile) return error;
  LogWarning(error.ToString());
  return {};
}

}  // namespace rharness
