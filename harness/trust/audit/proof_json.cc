// Proofs as JSON documents.
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/json_reader.h"
#include "harness/trust/audit/proof.h"

namespace rharness {
namespace {

constexpr char kInclusionSchema[] = "rharness.audit_proof";
constexpr char kConsistencySchema[] = "rharness.audit_consistency";

Json PathJson(const TreePath& path) {
  Json json = Json::MakeArray();
  for (const TreeHash& hash : path) json.Append(ToHex(hash));
  return json;
}

Json TreeJson(const SizedRoot& tree) {
  return Json::MakeObject({{"tree_size", tree.size}, {"root_sha256", ToHex(tree.root)}});
}

void ReadHash(JsonReader& reader, std::string_view key, TreeHash* out) {
  std::string hex;
  reader.Read(key, &hex);
  if (!reader.ok()) return;
  const auto hash = ParseTreeHash(hex);
  if (!hash) return reader.Fail("expected 64 lower-case hex digits", key);
  *out = *hash;
}

void ReadPath(JsonReader& reader, TreePath* out) {
  std::vector<std::string> path;
  reader.ReadArray("path", &path);
  if (path.size() > kMostPathHashes) return reader.Fail("more hashes than a path has", "path");
  for (const std::string& hex : path) {
    const auto hash = ParseTreeHash(hex);
    if (!hash) return reader.Fail("expected 64 lower-case hex digits in each", "path");
    out->push_back(*hash);
  }
}

void ReadTree(JsonReader& reader, SizedRoot* out) {
  reader.Read("tree_size", &out->size);
  ReadHash(reader, "root_sha256", &out->root);
  if (reader.ok() && out->size >> 62 != 0) reader.Fail("more entries than a log can have");
}

}  // namespace

Json ToJson(const InclusionProof& proof) {
  Json entries = Json::MakeArray();
  for (const EntryProof& one : proof.entries) {
    entries.Append(Json::MakeObject(
        {{"index", one.index}, {"entry", one.line}, {"path", PathJson(one.path)}}));
  }
  return Json::MakeObject({{"schema", std::string(kInclusionSchema) + "/v1"},
                           {"run_id", proof.run_id},
                           {"tree_size", proof.tree.size},
                           {"root_sha256", ToHex(proof.tree.root)},
                           {"head", proof.head.empty() ? Json() : Json(proof.head)},
                           {"entries", std::move(entries)}});
}

Json ToJson(const ConsistencyProof& proof) {
  return Json::MakeObject({{"schema", std::string(kConsistencySchema) + "/v1"},
                           {"first", TreeJson(proof.first)},
                           {"second", TreeJson(proof.second)},
                           {"path", PathJson(proof.path)}});
}

Result<InclusionProof> ParseInclusionProof(const Json& json, std::string_view where) {
  InclusionProof proof;
  JsonReader reader(json, std::string(where));
  reader.ReadSchema(kInclusionSchema, 1);
  reader.Read("run_id", &proof.run_id);
  ReadTree(reader, &proof.tree);
  reader.ReadOptional("head", &proof.head);
  reader.ForEach("entries", [&](JsonReader& element) {
    EntryProof& one = proof.entries.emplace_back();
    element.Read("index", &one.index);
    element.Read("entry", &one.line);
    ReadPath(element, &one.path);
  });
  RETURN_IF_ERROR(reader.status());
  return proof;
}

Result<ConsistencyProof> ParseConsistencyProof(const Json& json, std::string_view where) {
  ConsistencyProof proof;
  JsonReader reader(json, std::string(where));
  reader.ReadSchema(kConsistencySchema, 1);
  reader.ReadObject("first", true, [&](JsonReader& tree) { ReadTree(tree, &proof.first); });
  reader.ReadObject("second", true, [&](JsonReader& tree) { ReadTree(tree, &proof.second); });
  ReadPath(reader, &proof.path);
  RETURN_IF_ERROR(reader.status());
  return proof;
}

}  // namespace rharness
