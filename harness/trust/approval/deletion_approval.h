// Deleting outputs of runs takes two people, who sign one list by its digest.
//
// Role: adds signatures, and checks whether both exist for a list. harness/trust/retention makes
// the list and carries it out.
#ifndef RHARNESS_HARNESS_TRUST_APPROVAL_DELETION_APPROVAL_H_
#define RHARNESS_HARNESS_TRUST_APPROVAL_DELETION_APPROVAL_H_

#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/trust/approval/signing_person.h"
#include "harness/trust/attestation/trust.h"
#include "reports/retention_report.h"

namespace rharness {

// These three return the new state of the request, and enter nothing if they fail.

// Requests the deletion of exactly the list; until `expires` it can be approved and carried out.
// Errors: invalid_input (an empty list, no reason, already requested), integrity (the key may not
// sign that).
Result<DeletionTold> RequestDeletion(const DeletionList& list, const std::string& reason,
                                     WallTime expires, const SigningPerson& person,
                                     HistoryStore* store);
// The second signature, by another owner, under the request for this list. Errors: not_found (no
// request for this list), invalid_input (withdrawn, expired, the same person again), integrity (the
// key may not sign that, or the signed content differs).
Result<DeletionTold> ApproveDeletion(const std::string& list_sha256, const SigningPerson& person,
                                     HistoryStore* store);
// Withdraws it, or rejects it; also an approved one, and the rest of one that is being carried out.
// One trusted key is enough, whatever the rule asks for.
Result<DeletionTold> WithdrawDeletion(const std::string& list_sha256, const std::string& reason,
                                      const SigningPerson& person, HistoryStore* store);

// Checks that two people signed this list, by valid keys, in time and not withdrawn. Errors:
// not_found, invalid_input, integrity, each with the missing part. `begun`: it is being carried
// out, and its time no longer counts.
Result<DeletionTold> RequireApproved(const std::string& list_sha256, bool begun,
                                     const TrustPolicy& trust, WallTime now, HistoryStore* store);

// Every requested list, in that order, checked against its statements; with `trust` also against
// the keys that may sign, if anything is, or was, done by it. A list that differs from its signed
// form is "doubtful". Errors: those of the history.
Result<std::vector<DeletionTold>> ListDeletions(const TrustPolicy* trust, WallTime now,
                                                HistoryStore* store);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_APPROVAL_DELETION_APPROVAL_H_
