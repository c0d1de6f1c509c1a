// Whoever asks, approves or takes back: with which key, believed by whom, at what time.
#ifndef RHARNESS_HARNESS_APPROVAL_SIGNING_PERSON_H_
#define RHARNESS_HARNESS_APPROVAL_SIGNING_PERSON_H_

#include "harness/attestation/signer.h"
#include "harness/attestation/trust.h"
#include "harness/base/clock.h"

namespace rharness {

struct SigningPerson {
  Signer* signer = nullptr;
  const TrustPolicy* trust = nullptr;
  WallTime now{};
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_APPROVAL_SIGNING_PERSON_H_
