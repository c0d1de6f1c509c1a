// Retiring a run takes two people: one requests it, a second one approves, both by signatures under
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

// All of these return the new state of the request, and enter nothing if they fail.

// Requests the run's retirement; it stays in drills until somebody else approves, at the latest at
// `expires`. A run retired unsigned can be requested again, for the same reason. Errors: not_found
// (no such run), invalid_input (no reason, retired with signatures already, already requested),
// integrity (the key may not sign that).
Result<RetirementTold> RequestRetirement(const std::string& run_id, const std::string& reason,
                                         WallTime expires, const SigningPerson& person,
                                         HistoryStore* store);

// The second signature, by another owner than the first, under the signed request; the run is
// retired when as many keys as the rule asks for, and two people at least, have signed. Errors:
// not_found (no request), invalid_input (withdrawn, expired, approved already, the same person
// again), integrity (the key may not sign that, or no longer; the statement is about another run,
// or another manifest than the history's).
Result<RetirementTold> ApproveRetirement(const std::string& run_id, const SigningPerson& person,
                                         HistoryStore* store);

// Withdraws a request that is not approved; one trusted key is enough, whatever the rule asks for.
// Errors: not_found, invalid_input, integrity as above.
Result<RetirementTold> WithdrawRetirement(const std::string& run_id, const std::string& reason,
                                          const SigningPerson& person, HistoryStore* store);

// Every retired or requested run, by run_id, each checked against its statements: with `trust` also
// against the keys that may sign. A run that differs from its signed statement is kDoubtful, with
// the reason. Errors: those of the history.
Result<std::vector<RetirementTold>> ListRetirements(const TrustPolicy* trust, WallTime now,
                                                    HistoryStore* store);
// The same for one run; kNone if nobody requested it. Errors: not_found.
Result<RetirementTold> RetirementOf(const std::string& run_id, const TrustPolicy* trust,
                                    WallTime now, HistoryStore* store);

// Doubts about the retirements of these runs, by run: checked against the signed statement, without
// keys. Runs that are not retired have no doubt. Code that names a retirement's signers calls this
// first, and names none if there is a doubt.
// Errors: those of the history.
Result<std::map<std::string, std::string>> RetirementDoubtsOf(
    const std::vector<HistoryEntry>& entries, WallTime now, HistoryStore* store);

// Whether two people ever signed a retirement in this history: then a retirement without signatures
// must name its policy.
// Errors: those of the history.
Result<bool> TakesTwoPeople(HistoryStore* store);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_APPROVAL_RETIREMENT_APPROVAL_H_
