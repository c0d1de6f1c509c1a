// Proofs as JSON documents, by the lists of their members.
#include "harness/base/json_reader.h"
#include "harness/trust/audit/proof.h"
#include "harness/trust/audit/proof_members.h"

namespace rharness {
namespace {

template <class T>
Result<T> ParseProof(const Json& json, std::string_view where) {
  JsonReader reader(json, std::string(where));
  T proof;
  MemberReader::ReadInto(reader, proof);
  RETURN_IF_ERROR(reader.status());
  return proof;
}

}  // namespace

Result<TreeHash> ParseHash(std::string_view hex) {
  const auto hash = ParseTreeHash(hex);
  if (!hash) return InvalidInput("expected 64 lower-case hex digits");
  return *hash;
}

void PathMembers(MemberWriter& io, const TreePath& path, const About&) {
  io.Must("path", ArrayOf(path, [](const TreeHash& hash) { return Json(ToHex(hash)); }));
}

void PathMembers(MemberReader& io, TreePath& path, const About&) {
  JsonReader& reader = io.json();
  std::vector<std::string> texts;
  reader.ReadArray("path", &texts);
  if (texts.size() > kMostPathHashes) return reader.Fail("more hashes than a path has", "path");
  for (const std::string& hex : texts) {
    const auto hash = ParseTreeHash(hex);
    if (!hash) return reader.Fail("expected 64 lower-case hex digits in each", "path");
    path.push_back(*hash);
  }
}

void CheckRead(JsonReader& reader, const SizedRoot& tree) {
  if (tree.size >> 62 != 0) reader.Fail("more entries than a log can have");
}

void CheckRead(JsonReader& reader, const InclusionProof& proof) { CheckRead(reader, proof.tree); }

Json ToJson(const InclusionProof& proof) { return MemberWriter::Written(proof); }
Json ToJson(const ConsistencyProof& proof) { return MemberWriter::Written(proof); }

Result<InclusionProof> ParseInclusionProof(const Json& json, std::string_view where) {
  return ParseProof<InclusionProof>(json, where);
}

Result<ConsistencyProof> ParseConsistencyProof(const Json& json, std::string_view where) {
  return ParseProof<ConsistencyProof>(json, where);
}

}  // namespace rharness
