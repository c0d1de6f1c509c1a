// Fuzzes the lines of an audit log, its proofs and its heads: no crash, no undefined behaviour,
// errors of the promised kind, one spelling of an entry, and no proof of what is not in the tree.
//
// The first byte says which of them the rest is: a line, a proof that an entry is in a tree (p),
// one that a tree is the beginning of another (c), a head (h).
// Run: rharness-audit-fuzz -max_total_time=90 CORPUS audit_seeds
#include <string>

#include "harness/trust/audit/entry.h"
#include "harness/trust/audit/proof.h"
#include "harness/trust/audit/tree_head.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

void CheckLine(std::string_view line) {
  EntryParts parts;
  const bool scanned = ScanEntry(line, &parts);
  const auto entry = ParseEntry(line, "fuzz");
  if (!entry.ok()) return RequireError(entry.error(), {ErrorCode::kIntegrity}, "fuzz");
  Require(scanned && parts.index == entry->index && parts.kind == entry->kind);
  Require(!parts.plain || parts.name == entry->name);
  Require(WriteEntry(*entry) == line);
}

// What is read is written and read again as the same; and where the proof holds, it holds for no
// other root.
void CheckInclusion(const Json& json) {
  auto proof = ParseInclusionProof(json, "fuzz");
  if (!proof.ok()) return RequireError(proof.error(), {ErrorCode::kInvalidInput}, "fuzz");
  const Json written = ToJson(*proof);
  const auto again = ParseInclusionProof(written, "again");
  Require(again.ok() && ToJson(*again).Dump() == written.Dump());
  const Status holds = CheckProof(*proof, "fuzz");
  if (!holds.ok()) return RequireError(holds.error(), {ErrorCode::kIntegrity}, "fuzz");
  proof->tree.root[0] ^= 1;
  Require(!CheckProof(*proof, "fuzz").ok());
}

void CheckConsistency(const Json& json) {
  auto proof = ParseConsistencyProof(json, "fuzz");
  if (!proof.ok()) return RequireError(proof.error(), {ErrorCode::kInvalidInput}, "fuzz");
  const Json written = ToJson(*proof);
  const auto again = ParseConsistencyProof(written, "again");
  Require(again.ok() && ToJson(*again).Dump() == written.Dump());
  const Status holds = CheckProof(*proof, "fuzz");
  if (!holds.ok()) return RequireError(holds.error(), {ErrorCode::kIntegrity}, "fuzz");
  proof->second.root[0] ^= 1;
  // Nothing holds a tree to the empty one but its size.
  Require(proof->first.size == 0 || !CheckProof(*proof, "fuzz").ok());
}

void CheckHead(std::string_view text) {
  const auto head = PeekTreeHead(text, "fuzz");
  if (!head.ok()) RequireError(head.error(), {ErrorCode::kIntegrity}, "fuzz");
}

void Check(std::string_view text) {
  switch (text[0]) {
    case 'p':
    case 'c': {
      const auto json = ParseJson(text.substr(1), "fuzz");
      if (!json.ok()) return;
      return text[0] == 'p' ? CheckInclusion(*json) : CheckConsistency(*json);
    }
    case 'h':
      return CheckHead(text.substr(1));
    default:
      return CheckLine(text);
  }
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) rharness::Check(rharness::TextOf(data, size));
  return 0;
}
