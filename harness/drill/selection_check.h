// Whether a selection means something in this history, before anything is made for it. Pure.
#ifndef RHARNESS_HARNESS_DRILL_SELECTION_CHECK_H_
#define RHARNESS_HARNESS_DRILL_SELECTION_CHECK_H_

#include <vector>

#include "harness/base/result.h"
#include "harness/drill/select.h"
#include "harness/history/store.h"

namespace rharness {

// Every value that is compared with = or != must be one that its field has in the history, or may
// have: with a slip of the pen a drill would pass by what was meant. `entries`: all of the history,
// retired ones too. Errors: invalid_input with the values nearest to it.
Status CheckNamedValues(const Selection& selection, const std::vector<HistoryEntry>& entries);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SELECTION_CHECK_H_
