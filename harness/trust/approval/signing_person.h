// A person who requests, approves or withdraws: the key, the trust policy, the time.
#ifndef RHARNESS_HARNESS_TRUST_APPROVAL_SIGNING_PERSON_H_
#define RHARNESS_HARNESS_TRUST_APPROVAL_SIGNING_PERSON_H_

#include "harness/base/clock.h"
#include "harness/trust/attestation/signer.h"
#include "harness/trust/attestation/trust.h"

namespace rharness {

struct SigningPerson {
  Signer* signer = nullptr;
  const TrustPolicy* trust = nullptr;
  WallTime now{};
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_APPROVAL_SIGNING_PERSON_H_
