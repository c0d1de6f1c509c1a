// Names that were given for a drill, held to what runs have: what misses is a slip, as a rule.
#ifndef RHARNESS_HARNESS_DRILL_GIVEN_NAMES_H_
#define RHARNESS_HARNESS_DRILL_GIVEN_NAMES_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/drill/drill.h"
#include "harness/history/store.h"

namespace rharness {

// Before anything runs, as a misspelled FROM of --map would leave runs to what lies at their
// recorded places. A map that only other runs of the history use is warned of, since a selection
// may differ from night to night; so is each one that a profile has for many histories. A variable
// of
// --env that no selected run has recorded, set or unset, is warned of: it may be new to them. Reads
// manifests until all have a use. Errors: invalid_input for a map that no run of the history uses;
// those of reading.
Status CheckGivenNames(const DrillOptions& options, const std::vector<std::string>& run_ids,
                       HistoryStore* history);

// The same of maps for what reruns these runs alone, as `isolate` does.
Status RequireUsedMaps(const DrillOptions& options, const std::vector<Manifest>& runs);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_GIVEN_NAMES_H_
