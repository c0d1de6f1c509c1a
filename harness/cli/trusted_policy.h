// A policy file as its signers answer for it: who signed_by names is one of those who endorsed it.
#ifndef RHARNESS_HARNESS_CLI_TRUSTED_POLICY_H_
#define RHARNESS_HARNESS_CLI_TRUSTED_POLICY_H_

#include <string>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/records/policy/policy.h"
#include "harness/trust/attestation/verification.h"

namespace rharness {

// LoadPolicy; with a trust policy what was read must be endorsed as it asks (VerifyEndorsed), and
// the waivers and substitutes that hold now, as far as somebody answers for them, must be signed_by
// an owner of the keys that endorsed it: they are marked as verified. Errors: theirs; integrity,
// which names the first that is not, and who did sign.
Result<Policy> LoadTrustedPolicy(const std::string& path, const std::string& trust, WallTime now);

// The second half: pure. `where`: the file.
Status HoldToSigners(const Verified& endorsed, const std::string& where, WallTime now,
                     Policy* policy);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_TRUSTED_POLICY_H_
