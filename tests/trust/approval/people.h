// Ada with two keys, Bob and Cyd with one each, and Mallory, whom nobody trusts.
#ifndef RHARNESS_TESTS_TRUST_APPROVAL_PEOPLE_H_
#define RHARNESS_TESTS_TRUST_APPROVAL_PEOPLE_H_

#include <memory>
#include <string>

#include "tests/trust/attestation/attested.h"

namespace rharness {

// The public half of the seed of 64 sevens (openssl pkey -pubout).
inline constexpr char kSevensPublic[] =
    "c853ad0f0cd2b619aea92ceec4fd56a24d6499d584ce79257e45cfd8139b60a7";

struct People {
  KeyFolder folder;
  std::unique_ptr<Signer> ada = folder.Load(Ed25519Pem(kAdaSeed));
  std::unique_ptr<Signer> ada_at_home = folder.Load(Ed25519Pem(std::string(64, '7')));
  std::unique_ptr<Signer> bob = folder.Load(P256Pem(kBobScalar));
  std::unique_ptr<Signer> mallory = folder.Load(Ed25519Pem(std::string(64, '3')));

  // `bob`: what else is said of his key, ", until: 2026-06-01".
  TrustPolicy Trust(const std::string& rule = "keys: [ada, home, bob]",
                    const std::string& of_bob = "") const {
    folder.Put("ada.pub", PublicPem(std::string(kEd25519Head) + kAdaPublic));
    folder.Put("home.pub", PublicPem(std::string(kEd25519Head) + kSevensPublic));
    folder.Put("bob.pub", PublicPem(std::string(kP256Head) + kBobPublic));
    auto policy = ParseTrustPolicy(
        "version: 1\nkeys:\n  - {name: ada, owner: Ada, public_key: ada.pub}\n"
        "  - {name: home, owner: \"ADA \", public_key: home.pub}\n"
        "  - {name: bob, owner: Bob, public_key: bob.pub" +
            of_bob + "}\nrules:\n  - {" + rule + "}\n",
        folder.At("trust.yaml"));
    if (!policy.ok()) Abort(policy.error().ToString());
    return std::move(*policy);
  }
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_TRUST_APPROVAL_PEOPLE_H_
