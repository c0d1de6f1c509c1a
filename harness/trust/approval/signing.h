// A new signature, checked against the trust policy before anything is entered.
//
// Role: private to this folder.
#ifndef RHARNESS_HARNESS_TRUST_APPROVAL_SIGNING_H_
#define RHARNESS_HARNESS_TRUST_APPROVAL_SIGNING_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/trust/approval/retirement_records.h"
#include "harness/trust/approval/signing_person.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/verification.h"

namespace rharness {

inline constexpr std::size_t kMostReasonBytes = 2000;

// A statement, signed by this person alone, whom its rule names and whose key is valid now.
struct NewSignature {
  SignedEnvelope envelope;
  AcceptedKey key;
};
// Errors: integrity.
Result<NewSignature> SignAs(const SigningPerson& person, std::string payload,
                            const std::string& where);

// The request: its predicate type and family.
struct AskedFor {
  std::string_view predicate;
  std::string_view family;  // empty: of none
};
// SignAs for a statement that somebody else must approve. Errors: invalid_input if its rule names
// no valid key of another owner, so that nobody could approve it.
Result<NewSignature> AskAs(const SigningPerson& person, const AskedFor& asked, std::string payload,
                           const std::string& where);

// The result of a second signature: the statement with all signatures.
struct Approval {
  NewSignature added;
  Verified verified;
  bool finished = false;  // as many keys as the rule asks for, and two people at least
};
// Errors: integrity (the key may not sign that), invalid_input (the same person again).
Result<Approval> SignUnder(SignedEnvelope envelope, std::size_t people, const SigningPerson& person,
                           const std::string& where);

// "Bob, Cyd": the owners of these keys, without the requester.
std::string OthersThan(const std::string& asked_by, const Verified& verified);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_APPROVAL_SIGNING_H_
