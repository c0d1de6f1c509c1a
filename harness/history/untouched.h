// A history for an auditor, who must leave it as it is and may have no right to write.
#ifndef RHARNESS_HARNESS_HISTORY_UNTOUCHED_H_
#define RHARNESS_HARNESS_HISTORY_UNTOUCHED_H_

#include <memory>
#include <string>

#include "harness/base/result.h"
#include "harness/history/store.h"

namespace rharness {

// One that is there, never made and never migrated: what would write is an io error. Of a file
// nothing but the file need be readable, and nothing is made beside it, unless somebody has it open
// for writing or was cut short: then SQLite's log must be readable, too. Errors: those of
// HistoryStore::OpenExisting; invalid_input for a schema older than this version's, which names the
// command that brings it up to date; timeout where it is written to all the time.
Result<std::unique_ptr<HistoryStore>> OpenUntouchedHistory(const std::string& url);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_UNTOUCHED_H_
