// The state of a log at a time: number of entries, and the root over them, signed. Predicate
// "urn:rharness:tree-head:v1".
//
// Role: the only part of a log that a second party keeps. A changed log cannot reproduce the root
// of a head that somebody else keeps. Not here: checking a log against it (log_check.h).
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_TREE_HEAD_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_TREE_HEAD_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/trust/attestation/signer.h"
#include "harness/trust/attestation/trust.h"
#include "harness/trust/attestation/verification.h"
#include "harness/trust/audit/merkle.h"

namespace rharness {

inline constexpr char kTreeHeadPredicate[] = "urn:rharness:tree-head:v1";
// The one subject's name; its SHA-256 is the root, which is no digest of that file's bytes.
inline constexpr char kTreeHeadSubject[] = "rfc6962:entries.jsonl";

// A rule of a trust policy that lets a key sign heads.
inline constexpr char kTreeHeadRule[] =
    "`rules: [{predicates: [\"urn:rharness:tree-head:v1\"], keys: [NAME]}]`";

struct TreeHead {
  SizedRoot tree;
  WallTime time{};  // as who signed it said
};

// One line: an envelope around a statement. Errors: the signer's.
Result<std::string> SignTreeHead(const TreeHead& head, Signer* signer);

// The content of an envelope, without verification. Errors: integrity.
Result<TreeHead> PeekTreeHead(std::string_view envelope, std::string_view where);

struct VerifiedHead {
  TreeHead head;
  std::vector<AcceptedKey> signed_by;
};
// Errors: integrity, as VerifyOther's; invalid_input for a policy without a rule for heads, which
// says nothing about the head.
Result<VerifiedHead> VerifyTreeHead(std::string_view envelope, std::string_view where,
                                    const TrustPolicy& policy, WallTime now);

// A kept head, and its place: a line of heads.jsonl, or a file with one.
struct HeadText {
  std::string text;
  std::string where;
};
// Of heads.jsonl; none if it is missing. Errors: io, invalid_input; integrity for a last line
// without an end.
Result<std::vector<HeadText>> ReadHeadLines(const std::filesystem::path& folder);
// A file with one head and nothing else, or as *.jsonl several, and the last counts.
Result<HeadText> ReadKeptHead(const std::filesystem::path& file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_TREE_HEAD_H_
