// Verifies a statement: its signatures, the right of its keys, and its files.
//
// Role: decides; pure except for the files of subjects. Every doubt is an error of code integrity,
// in this order: the envelope, its signatures, the payload's type, the statement, its predicate,
// the rule, the files. Reads no payload before a key of the policy has signed it.
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

// A verified statement, and the signers that count.
struct Verified {
  std::variant<AttestedVerdict, Endorsement, SignedModel, Retirement, Withdrawal, Deletion> said;
  std::vector<AcceptedKey> signed_by;  // that count for the rule, each once; the policy's order
  std::size_t threshold = 1;           // number of keys required by the rule
  std::size_t rule = 0;                // in TrustPolicy::rules

  const AttestedVerdict* verdict() const { return std::get_if<AttestedVerdict>(&said); }
  const Endorsement* endorsement() const { return std::get_if<Endorsement>(&said); }
  const SignedModel* model() const { return std::get_if<SignedModel>(&said); }
  // Number of people behind these keys: keys with the same owner, in any case, belong to one.
  std::size_t people() const;
};

// Verifies one envelope, or a bundle around one. For rules an endorsement, a model and a deletion
// have the family "". `now`: refuses statements of a later time, by more than ten minutes. A
// model's signature has no time: its keys must be valid now. A bundle's hint, if any, must name a
// key that signed it.
Result<Verified> VerifyStatement(std::string_view envelope, std::string_view where,
                                 const TrustPolicy& policy, WallTime now);
// The same for a statement that is still being signed: a single key of its rule is enough.
Result<Verified> VerifyUnfinished(std::string_view envelope, std::string_view where,
                                  const TrustPolicy& policy, WallTime now);

// "lab-2026 (ML platform, Ada), audit (Model risk)".
std::string SignersText(const std::vector<AcceptedKey>& keys);

// "ada" for "Ada " and "ADA": the form for comparing owners.
std::string OwnerKey(std::string_view owner);

// A verified statement of a predicate that is read elsewhere.
struct VerifiedOther {
  SignedStatement statement;
  std::vector<AcceptedKey> signed_by;
  std::size_t threshold = 1;
};
// The time of such a statement, or why it is invalid (integrity).
using StatementTime = std::function<Result<WallTime>(const SignedStatement&)>;
// VerifyStatement for this predicate alone; for rules its family is "".
Result<VerifiedOther> VerifyOther(std::string_view envelope, std::string_view where,
                                  std::string_view predicate, const StatementTime& time_of,
                                  const TrustPolicy& policy, WallTime now);

// The verified statements of a file, and why its other lines are ignored.
struct VerifiedFile {
  std::vector<Verified> statements;  // at least one
  std::vector<Error> not_counted;    // FILE:LINE in `where`
};

// A file is one envelope, or, as *.jsonl, one per line; blank lines are skipped. Every line must be
// valid; exception: if a different line of the file is valid, a line without enough keys is ignored
// if some of its signers are not in the policy (any more). An invalid signature by a known key is
// an error. The error is that of the first invalid line, its number in `where`; in a file without a
// valid line, of the first. Errors: those; not_found, io; integrity for a file without any.
Result<VerifiedFile> VerifyFile(const std::filesystem::path& path, const TrustPolicy& policy,
                                WallTime now);

// The attestations below a folder, by path: *.intoto.jsonl and *.sigstore.json, whatever they are
// (a link, a pipe or a folder, too), and other *.json that claim to be envelopes or bundles. A file
// argument counts under any name. Links to folders are not followed. Errors: not_found, also for a
// folder without any; io.
Result<std::vector<std::filesystem::path>> FindAttestations(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_VERIFICATION_H_
