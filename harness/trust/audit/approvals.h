// What takes two people, held to what they signed: an audit vouches for no retirement and no
// deletion that the signatures in the history do not say.
//
// Role: asks harness/trust/approval, for logs (audit.h) and for one run (answer.h).
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_APPROVALS_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_APPROVALS_H_

#include <optional>
#include <string>
#include <string_view>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/trust/attestation/trust.h"
#include "reports/audit_report.h"

namespace rharness {

// The policy, where it has a rule for retirements of some family; else nullptr: then they are held
// to the names that the history has alone. The policy of an audit need say nothing but who may sign
// heads.
const TrustPolicy* TrustForRetirements(const TrustPolicy* trust);

// The first deletion or retirement that is not what two people signed; empty: there is none. With
// `trust` the keys must be ones that may sign that, where it has a rule for it. Errors: those of
// the history.
Result<std::optional<Error>> DoubtfulApproval(const std::string& history, const TrustPolicy* trust,
                                              WallTime now);

// Of a run that is retired, or that two people signed for; empty: neither. Of a doubtful one
// nobody is named, and `doubt` says why. Errors: those of the history.
Result<std::optional<AuditException>> RetirementException(const std::string& run_id,
                                                          const TrustPolicy* trust, WallTime now,
                                                          HistoryStore* store);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_APPROVALS_H_
