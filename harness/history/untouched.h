// A history for an auditor, who must not change it and may have no write access.
#ifndef RHARNESS_HARNESS_HISTORY_UNTOUCHED_H_
#define RHARNESS_HARNESS_HISTORY_UNTOUCHED_H_

#include <memory>
#include <string>

#include "harness/base/result.h"
#include "harness/history/store.h"

namespace rharness {

// Opens an existing one, never makes or migrates it: writes are io errors. For a file only the file
// itself must be readable, and nothing is made beside it, unless somebody has it open for writing
// or crashed: then SQLite's log must be readable, too. Errors: those of HistoryStore::OpenExisting;
// invalid_input for a schema older than this version's, which names the command that brings it up
// to date; timeout if it is written to all the time.
Result<std::unique_ptr<HistoryStore>> OpenUntouchedHistory(const std::string& url);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_UNTOUCHED_H_
