// A Sigstore bundle: one envelope, and a hint at the key that signed it.
//
// Role: the form of signatures beside models; pure. Reads bundles that name a public key: it
// verifies no certificate, and no entry of a transparency log, so a bundle with one is refused.
// Source: sigstore/protobuf-specs, sigstore_bundle.proto (v0.3), and what the package model-signing
// 1.1.1 of PyPI writes.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_MODEL_BUNDLE_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_MODEL_BUNDLE_H_

#include <string>
#include <string_view>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/signer.h"

namespace rharness {

inline constexpr char kModelBundle[] = ".sigstore.json";  // of its file, behind the model's name
inline constexpr char kBundleMediaType[] = "application/vnd.dev.sigstore.bundle.v0.3+json";

struct SigstoreBundle {
  SignedEnvelope envelope;  // of one signature
  std::string hint;         // SHA-256 of the key's PEM text, in hex; may be empty
};

// SHA-256, in hex, of PublicKey::Pem.
std::string BundleHint(const PublicKey& key);
// Whether this claims to be a bundle, valid or not.
bool IsBundle(const Json& json);
// Unknown members are ignored. Errors: integrity for an invalid bundle: another media type, a
// certificate, an entry of a log, no envelope, another number of signatures than one.
Result<SigstoreBundle> ReadBundle(const Json& json, std::string_view where);
// One line. Aborts if the envelope has another number of signatures than one.
std::string WriteBundle(const SignedEnvelope& envelope, const PublicKey& key);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_MODEL_BUNDLE_H_
