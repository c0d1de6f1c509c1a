// A signature more, held to the trust policy before anything is entered.
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

// A statement, signed by this person alone, whom its rule names and whose key holds now.
struct NewSignature {
  SignedEnvelope envelope;
  AcceptedKey key;
};
// Errors: integrity.
Result<NewSignature> SignAs(const SigningPerson& person, std::string payload,
                            const std::string& where);

// What is asked for, of this predicate type and about this family.
struct AskedFor {
  std::string_view predicate;
  std::string_view family;  // empty: of none
};
// SignAs of what somebody else has to approve. Errors: invalid_input where the rule for it names no
// key of another owner that holds now, so that nobody ever could.
Result<NewSignature> AskAs(const SigningPerson& person, const AskedFor& asked, std::string payload,
                           const std::string& where);

// What a second signature comes to: the statement with all of them.
struct Approval {
  NewSignature added;
  Verified verified;
  bool finished = false;  // as many keys as the rule asks for, and two people at least
};
// Errors: integrity (the key may not sign that), invalid_input (the same person again).
Result<Approval> SignUnder(SignedEnvelope envelope, std::size_t people, const SigningPerson& person,
                           const std::string& where);

// "Bob, Cyd": whose keys these are, but for who asked.
std::string OthersThan(const std::string& asked_by, const Verified& verified);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_APPROVAL_SIGNING_H_
