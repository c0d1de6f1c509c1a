// Whether each map of a drill has anything to map.
#ifndef RHARNESS_HARNESS_DRILL_MAP_USE_H_
#define RHARNESS_HARNESS_DRILL_MAP_USE_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/drill/drill.h"
#include "harness/history/store.h"

namespace rharness {

// Before anything runs: a misspelled FROM would leave runs to what lies at their recorded places.
// A map that only other runs of the history use is warned of, as a selection may differ from night
// to night; so is each one that a profile has for many histories. Reads manifests until every map
// has a use. Errors: invalid_input for one that no run of the history uses; those of reading.
Status RequireUsedMaps(const DrillOptions& options, const std::vector<std::string>& run_ids,
                       HistoryStore* history);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_MAP_USE_H_
