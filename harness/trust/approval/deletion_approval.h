// Deleting what runs made takes two people, who sign for one list by its digest.
//
// Role: what a signature more comes to, and whether the two of a list are there. Making the list
// and carrying it out are harness/trust/retention's.
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

// These three return what has become of the request, and enter nothing where they fail.

// Asks that exactly what the list names be deleted; until `expires` it can be approved and carried
// out. Errors: invalid_input (an empty list, no reason, asked for already), integrity (the key may
// not sign that).
Result<DeletionTold> RequestDeletion(const DeletionList& list, const std::string& reason,
                                     WallTime expires, const SigningPerson& person,
                                     HistoryStore* store);
// The second signature, by another owner, under the request for this list. Errors: not_found
// (nobody asked for this list), invalid_input (taken back, expired, the same person again),
// integrity (the key may not sign that, or it is not what was signed).
Result<DeletionTold> ApproveDeletion(const std::string& list_sha256, const SigningPerson& person,
                                     HistoryStore* store);
// Takes it back, or rejects it; also an approved one, and one that is being carried out, as far as
// it is not. One trusted key is enough, whatever the rule asks for.
Result<DeletionTold> WithdrawDeletion(const std::string& list_sha256, const std::string& reason,
                                      const SigningPerson& person, HistoryStore* store);

// Two people signed for this list, by keys that hold, and it is in time and not taken back. Errors:
// not_found, invalid_input, integrity, each with what is missing. `begun`: it is being carried out,
// and its time counts no more.
Result<DeletionTold> RequireApproved(const std::string& list_sha256, bool begun,
                                     const TrustPolicy& trust, WallTime now, HistoryStore* store);

// Every list that was asked for, in that order, held to its statements; with `trust` also to the
// keys that may sign, as far as anything is, or was, done by it. What is not as it was signed is
// "doubtful". Errors: those of the history.
Result<std::vector<DeletionTold>> ListDeletions(const TrustPolicy* trust, WallTime now,
                                                HistoryStore* store);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_APPROVAL_DELETION_APPROVAL_H_
