// Statements that need two people: predicates "urn:rharness:retirement:v1",
// "urn:rharness:deletion:v1", and "urn:rharness:withdrawal:v1", which withdraws one of them.
//
// Role: pure; requests as statements, and back. The second person signs the same bytes as the
// first. verification.h decides whose signatures count; harness/trust/approval acts on them.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_APPROVAL_STATEMENTS_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_APPROVAL_STATEMENTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"
#include "harness/trust/attestation/statement.h"

namespace rharness {

inline constexpr char kRetirementPredicate[] = "urn:rharness:retirement:v1";
inline constexpr char kWithdrawalPredicate[] = "urn:rharness:withdrawal:v1";
inline constexpr char kDeletionPredicate[] = "urn:rharness:deletion:v1";

// Removal of a run from drills and from its family's statistics.
struct Retirement {
  std::string run_id;
  std::string family;
  SignedSubject manifest;  // as in a verdict (verdict_statement.h)
  std::string reason;
  WallTime requested{};
  WallTime expires{};  // later approvals do not count
};

// The request must no longer be approved.
struct Withdrawal {
  std::string run_id;  // these two are empty for a deletion
  std::string family;
  SignedSubject statement;  // "RUN.retirement" or "deletion.json", the SHA-256 of what was signed
  std::string reason;
  WallTime withdrawn{};
};

// Deletion of exactly the files of a list.
struct Deletion {
  SignedSubject list;  // "deletion.json"
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  std::string reason;  // may be empty
  WallTime requested{};
  WallTime expires{};
};

inline constexpr char kDeletionListName[] = "deletion.json";

// "RUN.json", as written by `rharness record` and `import`.
SignedSubject ManifestSubject(const Manifest& manifest);

SignedStatement RetirementStatement(const Retirement& retirement);
SignedStatement WithdrawalStatement(const Withdrawal& withdrawal);
SignedStatement DeletionStatement(const Deletion& deletion);
// Errors: integrity for another predicate type, another number of subjects than one, missing or
// mistyped members, a run that its subject is not named after, an end before the beginning.
Result<Retirement> ReadRetirement(const SignedStatement& statement, std::string_view where);
Result<Withdrawal> ReadWithdrawal(const SignedStatement& statement, std::string_view where);
Result<Deletion> ReadDeletion(const SignedStatement& statement, std::string_view where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_APPROVAL_STATEMENTS_H_
