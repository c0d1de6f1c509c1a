// What somebody answers for that is about one run: waivers of probes that it may depend on,
// substitutes for its GPUs, and a retirement that was asked for.
//
// Role: a part of the answer (answer.h).
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_EXCEPTIONS_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_EXCEPTIONS_H_

#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/records/manifest/manifest.h"
#include "harness/trust/audit/answer.h"
#include "reports/audit_report.h"

namespace rharness {

// Of every policy that was given. With a trust policy that has a rule for them, who `signed_by`
// names is verified where that person's key signed the file; else it is told as plain text. A
// policy that nobody signed is a note, and one whose signatures do not hold a statement that is
// refused. Errors: those of reading policies.
Status AddPolicyExceptions(const AnswerRequest& request, const Manifest& manifest,
                           AuditReport* report);

// One that is open: who asked for it, why, and until when somebody else may approve. Errors: those
// of the history.
Status AddRetirementRequest(const AnswerRequest& request, HistoryStore* store, AuditReport* report);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_EXCEPTIONS_H_
