// Checks that a drill's report is the one entered into the history, with all runs and reruns of the
// drill.
//
// Role: before a report is signed. Reads the history; reads no file.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_REPORT_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_REPORT_H_

#include <string>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/drill/journal.h"
#include "harness/history/store.h"
#include "reports/model.h"

namespace rharness {

// `json` is what `report` was read from, `where` its file. Checks: the start of the drill; that
// every run is present, with its verdict, its time, its headline, its decisive reasons, the judging
// version, and the SHA-256 of its part of the report; that every rerun of the history and every
// collected one of the journal is present, with its outcome, and that journal and history have the
// same evidence; the exit code of the drill. For a drill entered by an older version the history
// has no headline, version and SHA-256: a warning says so. Returns the drill's ID in the history: a
// resumed one may be ID.2 there. Errors: not_found for a drill missing from the history; integrity,
// with the run and the member; those of the store.
Result<std::string> HoldReport(const Report& report, const Json& json,
                               const JournalContent& journal, HistoryStore* store,
                               const std::string& where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_REPORT_H_
