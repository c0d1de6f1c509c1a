// Is this what its keys signed, may these keys sign it, and are the files the ones it speaks of?
//
// Role: what decides; pure but for the files that subjects are held to. Every doubt is an error of
// code integrity, in this order: the envelope, its signatures, the payload's type, the statement,
// what it says, the rule, the files. Nothing of a payload is read before a key of the policy has
// signed it.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_VERIFICATION_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_VERIFICATION_H_

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/trust/attestation/approval_statements.h"
#include "harness/trust/attestation/endorsement.h"
#include "harness/trust/attestation/model_statement.h"
#include "harness/trust/attestation/trust.h"
#include "harness/trust/attestation/verdict_statement.h"

namespace rharness {

struct AcceptedKey {
  std::string name;
  std::string owner;
  std::string id;
};

// A statement, and whose signatures made it one to believe.
struct Verified {
  std::variant<AttestedVerdict, Endorsement, SignedModel, Retirement, Withdrawal, Deletion> said;
  std::vector<AcceptedKey> signed_by;  // that count for the rule, each once; the policy's order
  std::size_t threshold = 1;           // how many the rule asks for
  std::size_t rule = 0;                // in TrustPolicy::rules

  const AttestedVerdict* verdict() const { return std::get_if<AttestedVerdict>(&said); }
  const Endorsement* endorsement() const { return std::get_if<Endorsement>(&said); }
  const SignedModel* model() const { return std::get_if<SignedModel>(&said); }
  // How many people these keys are of: keys of one owner, however it is capitalized, are one's.
  std::size_t people() const;
};

// Of one envelope, or a bundle around one. Rules take an endorsement, a model and a deletion for
// ones of family "". `now`: what was said at a later time, by more than ten minutes, is refused. A
// model's signature says no time: its keys must hold now. A bundle's hint, where it has one, must
// be at a key that signed it.
Result<Verified> VerifyStatement(std::string_view envelope, std::string_view where,
                                 const TrustPolicy& policy, WallTime now);
// The same of one that is still being signed: a single key of its rule is enough.
Result<Verified> VerifyUnfinished(std::string_view envelope, std::string_view where,
                                  const TrustPolicy& policy, WallTime now);

// "lab-2026 (ML platform, Ada), audit (Model risk)".
std::string SignersText(const std::vector<AcceptedKey>& keys);

// "ada" of "Ada " and "ADA": what owners are compared by.
std::string OwnerKey(std::string_view owner);

// A statement of a predicate that is read elsewhere, and whose signatures made it one to believe.
struct VerifiedOther {
  SignedStatement statement;
  std::vector<AcceptedKey> signed_by;
  std::size_t threshold = 1;
};
// When such a statement was said, or why it is none (integrity).
using StatementTime = std::function<Result<WallTime>(const SignedStatement&)>;
// VerifyStatement for this predicate alone; rules take it for one of family "".
Result<VerifiedOther> VerifyOther(std::string_view envelope, std::string_view where,
                                  std::string_view predicate, const StatementTime& time_of,
                                  const TrustPolicy& policy, WallTime now);

// What a file says: the statements to believe, and why its other lines count for nothing.
struct VerifiedFile {
  std::vector<Verified> statements;  // at least one
  std::vector<Error> not_counted;    // FILE:LINE in `where`
};

// Of a file: one envelope, or of a *.jsonl one a line; blank lines are none. Every line must hold,
// but one that lacks keys because some that signed it are not in the policy (any more): where
// another line of the file holds, such a one counts for nothing. A wrong signature that names a key
// of the policy is none of a stranger's. The first line that does not hold is the error, its line
// in `where`; of a file in which no line holds, the first. Errors: those; not_found, io; integrity
// for a file without any.
Result<VerifiedFile> VerifyFile(const std::filesystem::path& path, const TrustPolicy& policy,
                                WallTime now);

// The attestations below a folder, by path: *.intoto.jsonl and *.sigstore.json, whatever they hold,
// and other *.json that say that they are envelopes or bundles. A file is itself, whatever its
// name. Links are not followed. Errors: not_found, also for a folder without any; io.
Result<std::vector<std::filesystem::path>> FindAttestations(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_VERIFICATION_H_
