// Whether a selection means something in this history, before anything is made for it.
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

// Tells a selection that has `artifact` which runs made such files; reads every manifest for that.
// Errors: invalid_input for a digest of which no run made a file, those of the history.
Status FindArtifacts(HistoryStore* history, Selection* selection);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SELECTION_CHECK_H_
