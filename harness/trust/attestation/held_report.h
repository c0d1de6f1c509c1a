// Is a drill's report the one that the history was told of, with all that drill's runs and reruns?
//
// Role: before anything of the report is signed. Reads the history; reads no file.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_REPORT_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_REPORT_H_

#include <string>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/drill/journal.h"
#include "harness/history/store.h"
#include "reports/model.h"

namespace rharness {

// `json` is what `report` was read from, `where` its file. Held are: when the drill started; that
// every run of it is there, with its verdict, when that was decided, its headline, its decisive
// reasons, the version that judged, and the SHA-256 of all that the report says of it; that every
// rerun of the history and every collected one of the journal is there, with its outcome, and that
// the journal has the evidence that the history has; with which exit code the drill ended. Of a
// drill that an older version entered the history has no headline, version and SHA-256: a warning
// says so. Returns the ID that the drill has in the history: a resumed one may be there as ID.2.
// Errors: not_found for a drill that the history does not have; integrity, which names the run and
// the member; those of the store.
Result<std::string> HoldReport(const Report& report, const Json& json,
                               const JournalContent& journal, HistoryStore* store,
                               const std::string& where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_REPORT_H_
