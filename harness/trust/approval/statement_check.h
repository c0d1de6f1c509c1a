// Whether the signatures of a statement are what the history says of them.
//
// Role: private to this folder; for everything that takes two people.
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

// With a policy: as many keys as it asks for, each held when its signature was entered, and the
// owners are whom the history names; one that is `finished` has two people. Of one that was taken
// back, and is not finished, the withdrawal alone: that has one key of its rule, and whose keys
// left the policy since does not count. Errors: integrity.
Status HoldToTrust(const GatheredStatement& gathered, const SignedEnvelope& envelope,
                   const Question& question, bool finished);

// No signature was entered before it was asked for, or later than now; ten minutes between clocks
// are nothing. Errors: integrity, with the time.
Status HoldToClock(const GatheredStatement& gathered, WallTime requested, WallTime now);

// By the names that the history has.
std::size_t PeopleOf(const GatheredStatement& gathered);
// All but the first: "Bob, Cyd".
std::string ApproversOf(const GatheredStatement& gathered);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_APPROVAL_STATEMENT_CHECK_H_
