// The places of a run's reruns: node, hardware and software.
//
// Role: a part of the answer (answer.h).
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_PLACES_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_PLACES_H_

#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/records/manifest/manifest.h"
#include "reports/audit_report.h"

namespace rharness {

// Fills AuditVerdict::where of the existing verdicts, each from its first rerun with kept
// surroundings. A changed record is reported in place of the words. Errors: those of the history.
Status AddPlaces(const Manifest& manifest, HistoryStore* store, AuditReport* report);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_PLACES_H_
