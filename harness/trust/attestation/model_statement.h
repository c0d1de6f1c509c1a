// A model's files, each by its SHA-256, as OpenSSF Model Signing signs them, and beside them the
// digest of its tensors.
//
// Role: pure; the predicate "https://model_signing/signature/v1.0" in and out. model_files.h reads
// its files; model_bundle.h has the bundle around it. Source: the format of the package
// model-signing 1.1.1 of PyPI, and its README (sigstore/model-transparency).
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_MODEL_STATEMENT_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_MODEL_STATEMENT_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/trust/attestation/statement.h"

namespace rharness {

inline constexpr char kModelPredicate[] = "https://model_signing/signature/v1.0";
// The member of the predicate with the digest of the tensors: other readers ignore it.
inline constexpr char kModelTensors[] = "urn:rharness:tensors:v1";

// A file of a model, or one shard of it.
struct ModelResource {
  std::string path;         // below the model; "." if the model is one file
  std::uint64_t begin = 0;  // of a shard, in bytes; 0 for a whole file
  std::uint64_t end = 0;    // 0: a whole file
  std::string sha256;
};

// How files became resources.
struct ModelSerialization {
  std::uint64_t shard_bytes = 0;  // 0: whole files. Else an empty file has no shard
  bool allow_symlinks = false;    // links to files count as the files; false: links are forbidden
  std::vector<std::string> ignore_paths;  // files, and folders with their content
};

// Of a checkpoint: rharness.checkpoint/v1 (compare/weights/tensor_digest.h), over all its tensors.
struct SignedTensors {
  std::string sha256;
  std::uint64_t tensors = 0;
  std::uint64_t size_bytes = 0;
  bool operator==(const SignedTensors&) const = default;
};

struct SignedModel {
  std::string name;  // its file's or folder's; independent of its place
  ModelSerialization serialization;
  std::vector<ModelResource> resources;  // in ModelOrder, none twice
  std::optional<SignedTensors> tensors;  // of ours alone
};

// Its path, or of a shard "PATH:BEGIN:END".
std::string ResourceName(const ModelResource& resource);
// By the parts of the path, then by the shard's first byte: "a/z" is before "a.b".
bool ModelOrder(const ModelResource& a, const ModelResource& b);
// Whether `path` is one of these, or lies below one.
bool IsIgnored(const ModelSerialization& serialization, std::string_view path);
// SHA-256, in hex, over the digests' bytes one after the other.
std::string ModelRoot(const std::vector<ModelResource>& resources);

Json TensorsJson(const SignedTensors& tensors);
// Aborts where a resource has no SHA-256.
SignedStatement ModelStatement(const SignedModel& model);
// Unknown members are ignored. Errors: integrity for another predicate type, another number of
// subjects than one, a root that its resources do not give; resources that are invalid, unordered,
// repeated, also ignored, with a path that leaves the model or is not in normal form; shards that
// do not follow each other; another hash than SHA-256.
Result<SignedModel> ReadModelStatement(const SignedStatement& statement, std::string_view where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_MODEL_STATEMENT_H_
