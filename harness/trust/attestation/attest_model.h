// A checkpoint in, one file with a signature over its files and its tensors out.
//
// Role: the composition for models: files hashed, tensors digested, both in one statement, signed,
// written as a bundle that Model Signing's own tools verify. Not here: trust.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_ATTEST_MODEL_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_ATTEST_MODEL_H_

#include <filesystem>

#include "harness/base/result.h"
#include "harness/trust/attestation/attest_state.h"
#include "harness/trust/attestation/model_statement.h"
#include "harness/trust/attestation/signer.h"

namespace rharness {

struct AttestedModel {
  SignedModel model;
  std::filesystem::path path;  // of the bundle
  AttestState state = AttestState::kWritten;
};

// OUT/NAME.sigstore.json, of one line; `out` empty: beside the model. Inside the model it is
// ignored, like .git, .github, .gitattributes and .gitignore. A repetition changes nothing. Errors:
// those of HashModel and DigestTensors; unsupported for a key that Model Signing does not know (it
// knows ECDSA alone); invalid_input if another file exists, including another key's bundle, since a
// bundle has one signature; integrity if the model changes meanwhile; the signer's. Then nothing is
// written.
Result<AttestedModel> AttestModel(const std::filesystem::path& model,
                                  const std::filesystem::path& out, Signer* signer);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_ATTEST_MODEL_H_
