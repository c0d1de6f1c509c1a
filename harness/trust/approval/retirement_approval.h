// Retiring a run takes two people: one asks, another one approves, both by their signatures under
// the same statement, which the history keeps.
//
// Role: what a signature more comes to, and whether what the history says of retirements is what
// was signed. Who may sign is the trust policy's (harness/trust/attestation/trust.h). Not here:
// options and printing (harness/cli/history_retire.cc).
#ifndef RHARNESS_HARNESS_TRUST_APPROVAL_RETIREMENT_APPROVAL_H_
#define RHARNESS_HARNESS_TRUST_APPROVAL_RETIREMENT_APPROVAL_H_

#include <map>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/trust/approval/signing_person.h"
#include "harness/trust/attestation/trust.h"
#include "reports/retirements_report.h"

namespace rharness {

// All of these return what has become of the request, and enter nothing where they fail.

// Asks that the run be retired; it stays in drills until somebody else approves, who has until
// `expires`. A run that was retired unsigned can be asked for again, for the same reason. Errors:
// not_found (no such run), invalid_input (no reason, retired with signatures already, asked for
// already), integrity (the key may not sign that).
Result<RetirementTold> RequestRetirement(const std::string& run_id, const std::string& reason,
                                         WallTime expires, const SigningPerson& person,
                                         HistoryStore* store);

// The second signature, by another owner than the first, under the request as it was signed; the
// run is retired when as many keys as the rule asks for, and two people at least, have signed.
// Errors: not_found (nobody asked), invalid_input (taken back, expired, approved already, the same
// person again), integrity (the key may not sign that, or no longer; what was signed is of another
// run, or of another manifest than the history holds).
Result<RetirementTold> ApproveRetirement(const std::string& run_id, const SigningPerson& person,
                                         HistoryStore* store);

// Takes a request back that is not approved; one trusted key is enough, whatever the rule asks for.
// Errors: not_found, invalid_input, integrity as above.
Result<RetirementTold> WithdrawRetirement(const std::string& run_id, const std::string& reason,
                                          const SigningPerson& person, HistoryStore* store);

// Every run that is retired or was asked for, by run_id, each held to its statements: with `trust`
// also to the keys that may sign. What is not as it was signed is kDoubtful, with the reason.
// Errors: those of the history.
Result<std::vector<RetirementTold>> ListRetirements(const TrustPolicy* trust, WallTime now,
                                                    HistoryStore* store);
// The same of one run; kNone where nobody asked. Errors: not_found.
Result<RetirementTold> RetirementOf(const std::string& run_id, const TrustPolicy* trust,
                                    WallTime now, HistoryStore* store);

// Of these runs, by run, what is doubtful of their retirement: held to what was signed for it,
// which takes no key. Runs that are not retired have no doubt. Whoever names a retirement's signers
// asks this first, and names none where there is one. Errors: those of the history.
Result<std::map<std::string, std::string>> RetirementDoubtsOf(
    const std::vector<HistoryEntry>& entries, WallTime now, HistoryStore* store);

// Whether two people ever signed for a retirement in this history: who retires without must say by
// which policy. Errors: those of the history.
Result<bool> TakesTwoPeople(HistoryStore* store);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_APPROVAL_RETIREMENT_APPROVAL_H_
