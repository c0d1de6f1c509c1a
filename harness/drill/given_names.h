// Checks names given for a drill against the runs: a name without a match is usually a mistake.
#ifndef RHARNESS_HARNESS_DRILL_GIVEN_NAMES_H_
#define RHARNESS_HARNESS_DRILL_GIVEN_NAMES_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/drill/drill.h"
#include "harness/history/store.h"

namespace rharness {

// Runs before anything else, as a misspelled FROM of --map would leave runs to the files at their
// recorded places. Warns of a map that only other runs of the history use, since a selection may
// differ from night to night; and of such maps in a profile for many histories. Warns of a variable
// of --env that no selected run has recorded, set or unset: it may be new to them. Reads manifests
// until all have a use. Errors: invalid_input for a map that no run of the history uses; those of
// reading.
Status CheckGivenNames(const DrillOptions& options, const std::vector<std::string>& run_ids,
                       HistoryStore* history);

// The same for maps, for verbs that rerun only these runs, as `isolate`.
Status RequireUsedMaps(const DrillOptions& options, const std::vector<Manifest>& runs);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_GIVEN_NAMES_H_
