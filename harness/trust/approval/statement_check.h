// Checks the signatures of a statement against the history's data on them.
//
// Role: private to this folder; for every statement that takes two people.
#ifndef RHARNESS_HARNESS_TRUST_APPROVAL_STATEMENT_CHECK_H_
#define RHARNESS_HARNESS_TRUST_APPROVAL_STATEMENT_CHECK_H_

#include <cstddef>
#include <string>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/trust/approval/retirement_records.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/trust.h"

namespace rharness {

struct Question {
  const TrustPolicy* trust = nullptr;  // nullptr: signatures are not verified
  WallTime now{};
};

// With a policy: as many keys as it asks for, each valid when its signature was entered, with the
// owners that the history names; a `finished` statement has two people. For a withdrawn one that is
// not finished only the withdrawal counts: it has one key of its rule, and keys that left the
// policy since do not matter. Errors: integrity.
Status HoldToTrust(const GatheredStatement& gathered, const SignedEnvelope& envelope,
                   const Question& question, bool finished);

// No signature was entered before the request, or later than now; ten minutes of clock difference
// are tolerated. Errors: integrity, with the time.
Status HoldToClock(const GatheredStatement& gathered, WallTime requested, WallTime now);

// By the names that the history has.
std::size_t PeopleOf(const GatheredStatement& gathered);
// All but the first: "Bob, Cyd".
std::string ApproversOf(const GatheredStatement& gathered);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_APPROVAL_STATEMENT_CHECK_H_
