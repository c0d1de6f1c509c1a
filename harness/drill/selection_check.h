// Checks that a selection has a meaning in this history, before anything is made for it.
#ifndef RHARNESS_HARNESS_DRILL_SELECTION_CHECK_H_
#define RHARNESS_HARNESS_DRILL_SELECTION_CHECK_H_

#include <vector>

#include "harness/base/result.h"
#include "harness/drill/select.h"
#include "harness/history/store.h"

namespace rharness {

// Every value compared by = or != must exist, or be possible, for its field in the history: with a
// typing error a drill would miss the intended runs. `entries`: all of the history, including
// retired ones. Errors: invalid_input with the nearest values.
Status CheckNamedValues(const Selection& selection, const std::vector<HistoryEntry>& entries);

// Gives a selection with `artifact` the runs that made such files; reads every manifest for that.
// Errors: invalid_input for a digest that no run's file has, those of the history.
Status FindArtifacts(HistoryStore* history, Selection* selection);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SELECTION_CHECK_H_
