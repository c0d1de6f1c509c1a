// Where drills reran a run: node, hardware and software.
//
// Role: a part of the answer (answer.h).
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_PLACES_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_PLACES_H_

#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/records/manifest/manifest.h"
#include "reports/audit_report.h"

namespace rharness {

// Fills AuditVerdict::where of the verdicts that are there, each of its first rerun whose
// surroundings were kept. What was changed since is told in the place of the words. Errors: those
// of the history.
Status AddPlaces(const Manifest& manifest, HistoryStore* store, AuditReport* report);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_PLACES_H_
