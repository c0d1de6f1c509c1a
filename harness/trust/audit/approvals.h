// Checks retirements and deletions against their signatures: an audit vouches for none that the
// signatures in the history do not cover.
//
// Role: calls harness/trust/approval, for logs (audit.h) and for one run (answer.h).
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

// The policy, if it has a rule for retirements of some family; else nullptr: then they are only
// checked against the names in the history. An audit's policy may be limited to the signers of
// heads.
const TrustPolicy* TrustForRetirements(const TrustPolicy* trust);

// The first deletion or retirement that does not match its two signatures; empty: none. With
// `trust` the keys must be allowed to sign that, if it has a rule for it. Errors: those of the
// history.
Result<std::optional<Error>> DoubtfulApproval(const std::string& history, const TrustPolicy* trust,
                                              WallTime now);

// Of a run that is retired, or that two people signed for; empty: neither. For a doubtful one it
// names nobody, and `doubt` has the reason. Errors: those of the history.
Result<std::optional<AuditException>> RetirementException(const std::string& run_id,
                                                          const TrustPolicy* trust, WallTime now,
                                                          HistoryStore* store);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_APPROVALS_H_
