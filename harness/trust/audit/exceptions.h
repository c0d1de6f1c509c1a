// Exceptions for one run that somebody answers for: waivers of probes that it may depend on,
// substitutes for its GPUs, and a requested retirement.
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

// From every given policy. With a trust policy that has a rule for them, the person in `signed_by`
// is verified if that person's key signed the file; else reported as plain text. An unsigned policy
// is a note, and one with invalid signatures a refused statement. Errors: those of reading
// policies.
Status AddPolicyExceptions(const AnswerRequest& request, const Manifest& manifest,
                           AuditReport* report);

// An open one: who requested it, why, and until when somebody else may approve. Errors: those of
// the history.
Status AddRetirementRequest(const AnswerRequest& request, HistoryStore* store, AuditReport* report);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_EXCEPTIONS_H_
