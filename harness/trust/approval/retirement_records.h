// Collects the history's rows of one statement that takes two people.
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

// One statement with all its entered signatures.
struct GatheredStatement {
  std::string sha256;
  std::vector<SignedRecord> rows;  // in order of entry; never empty
  std::optional<SignedRecord> withdrawal;

  std::string where() const;
};

// By subject (a run, or a deletion list's digest): its statements in the order of their first
// entry.
using GatheredStatements = std::map<std::string, std::vector<GatheredStatement>>;
GatheredStatements Gather(std::vector<SignedRecord> rows,
                          const std::vector<SignedRecord>& withdrawals);

// The rows' signatures over one payload, without any verification. Errors: integrity if a row is no
// envelope of this statement with one signature, or names another key than its signature.
Result<SignedEnvelope> Combine(const GatheredStatement& gathered);

// What it says, believed by nobody yet.
Result<Retirement> ReadUnverified(const SignedEnvelope& envelope, const std::string& where);

// Whether the statement is about this run as in the history. Errors: integrity.
Status HoldToRun(const Retirement& said, const Manifest& manifest, const std::string& where);

// Why it was withdrawn; empty: it was not, or the withdrawal cannot be read.
std::string ReasonOfWithdrawal(const GatheredStatement& gathered);

// With this signature alone: a row of the history. `signed_by`: the key's owner by the policy.
SignedRecord RowOf(const SignedEnvelope& envelope, const EnvelopeSignature& signature,
                   const std::string& subject, const AcceptedKey& key, WallTime now);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_APPROVAL_RETIREMENT_RECORDS_H_
