// What the history holds of one statement that takes two people, put together again.
//
// Role: private to this folder.
#ifndef RHARNESS_HARNESS_TRUST_APPROVAL_RETIREMENT_RECORDS_H_
#define RHARNESS_HARNESS_TRUST_APPROVAL_RETIREMENT_RECORDS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/history/store.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/verification.h"

namespace rharness {

// One statement with all signatures that were entered under it.
struct GatheredStatement {
  std::string sha256;
  std::vector<SignedRecord> rows;  // in the order in which they were entered; never empty
  std::optional<SignedRecord> withdrawal;

  std::string where() const;
};

// By subject (a run, or a deletion list's digest), of each the statements in the order in which
// they were first entered.
using GatheredStatements = std::map<std::string, std::vector<GatheredStatement>>;
GatheredStatements Gather(std::vector<SignedRecord> rows,
                          const std::vector<SignedRecord>& withdrawals);

// The rows' signatures over one payload, with no more said of it. Errors: integrity where a row is
// no envelope of this statement and of one signature, or says another key than its signature.
Result<SignedEnvelope> Combine(const GatheredStatement& gathered);

// What it says, believed by nobody yet.
Result<Retirement> ReadUnverified(const SignedEnvelope& envelope, const std::string& where);

// Whether the statement is about this run as the history holds it. Errors: integrity.
Status HoldToRun(const Retirement& said, const Manifest& manifest, const std::string& where);

// Why it was taken back; empty: it was not, or what was signed of that cannot be read.
std::string ReasonOfWithdrawal(const GatheredStatement& gathered);

// With this signature alone: a row of the history. `signed_by`: whose key the policy says it is.
SignedRecord RowOf(const SignedEnvelope& envelope, const EnvelopeSignature& signature,
                   const std::string& subject, const AcceptedKey& key, WallTime now);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_APPROVAL_RETIREMENT_RECORDS_H_
