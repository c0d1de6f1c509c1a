// Models signed.
#include "harness/trust/attestation/attest_model.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/model_bundle.h"
#include "harness/trust/attestation/model_files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOfGit[] = {".git", ".gitattributes", ".github", ".gitignore"};

// Without "." and ".." and without a '/' at its end, so that it has a name.
Result<fs::path> PlainPath(const fs::path& path) {
  std::error_code error;
  fs::path plain = fs::absolute(path, error).lexically_normal();
  if (!error && !plain.has_filename()) plain = plain.parent_path();
  if (error || !plain.has_filename()) {
    return InvalidInput("has no name to be signed under", path.string());
  }
  return plain;
}

ModelSerialization SerializationFor(const fs::path& model, const fs::path& bundle) {
  ModelSerialization serialization;
  std::error_code error;
  if (!fs::is_directory(model, error)) return serialization;
  serialization.ignore_paths.assign(std::begin(kOfGit), std::end(kOfGit));
  const std::string inside = bundle.lexically_relative(model).generic_string();
  if (!inside.starts_with("..")) serialization.ignore_paths.push_back(inside);
  return serialization;
}

// Whether the same is signed by the same key at `path`. Errors: something else is there.
Result<bool> IsThere(const fs::path& path, const std::string& payload, const PublicKey& key) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return false;
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path, kMostEnvelopeBytes));
  const auto bundle = ReadBundle(json, path.string());
  if (bundle.ok() && bundle->envelope.payload == payload && bundle->hint == BundleHint(key) &&
      bundle->envelope.payload_type == kStatementPayload && IsSignedBy(bundle->envelope, key)) {
    return true;
  }
  return InvalidInput(
      "holds something else than this key's signature of the model as it is now; remove it, or "
      "choose another folder (--out)",
      path.string());
}

// The files, then the tensors, then the files again: the signed state existed at one time.
Result<SignedModel> TakeModel(const fs::path& path, const fs::path& bundle) {
  SignedModel model;
  model.name = path.filename().string();
  model.serialization = SerializationFor(path, bundle);
  ASSIGN_OR_RETURN(const ModelStamp before, StampModel(path, model.serialization));
  ASSIGN_OR_RETURN(model.resources, HashModel(path, model.serialization));
  ASSIGN_OR_RETURN(model.tensors, DigestTensors(path));
  ASSIGN_OR_RETURN(const ModelStamp after, StampModel(path, model.serialization));
  if (before == after) return model;
  return IntegrityError("changed while it was looked at; nothing is signed", path.string());
}

}  // namespace

Result<AttestedModel> AttestModel(const fs::path& path, const fs::path& out, Signer* signer) {
  if (signer->public_key().algorithm() != "ECDSA P-256") {
    return Unsupported(
        fmt::format("a key of {}; models are signed with ECDSA P-256, since Model "
                    "Signing verifies no other that rharness has",
                    signer->public_key().algorithm()));
  }
  ASSIGN_OR_RETURN(const fs::path plain, PlainPath(path));
  AttestedModel attested;
  // Beside it, by the name that it was given.
  const fs::path given = path.has_filename() ? path : path.parent_path();
  const fs::path folder =
      given.filename() == plain.filename() ? given.parent_path() : plain.parent_path();
  attested.path = (out.empty() ? folder : out) / (plain.filename().string() + kModelBundle);
  ASSIGN_OR_RETURN(const fs::path bundle, PlainPath(attested.path));
  ASSIGN_OR_RETURN(attested.model, TakeModel(plain, bundle));
  SignedEnvelope envelope{.payload_type = kStatementPayload,
                          .payload = ToJson(ModelStatement(attested.model)).Dump(),
                          .signatures = {}};
  ASSIGN_OR_RETURN(const bool there,
                   IsThere(attested.path, envelope.payload, signer->public_key()));
  if (there) {
    attested.state = AttestState::kUnchanged;
    return attested;
  }
  RETURN_IF_ERROR(SignEnvelope(signer, &envelope));
  const std::string text = WriteBundle(envelope, signer->public_key()) + "\n";
  if (text.size() > kMostEnvelopeBytes) {
    return InvalidInput(
        fmt::format("has {} files, for a bundle of {} bytes; at most {} are read",
                    attested.model.resources.size(), text.size(), kMostEnvelopeBytes),
        path.string());
  }
  RETURN_IF_ERROR(WriteFileAtomic(attested.path, text));
  return attested;
}

}  // namespace rharness
