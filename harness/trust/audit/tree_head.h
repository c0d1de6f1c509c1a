// What a log was at a time: how many entries, and the root over them, signed. Predicate
// "urn:rharness:tree-head:v1".
//
// Role: the one thing of a log that a second party keeps. A log that was changed cannot come to the
// root of a head that somebody else holds. Not here: whether a log comes to it (log_check.h).
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

// What an envelope says, whoever signed it. Errors: integrity.
Result<TreeHead> PeekTreeHead(std::string_view envelope, std::string_view where);

struct VerifiedHead {
  TreeHead head;
  std::vector<AcceptedKey> signed_by;
};
// Errors: integrity, as VerifyOther's; invalid_input for a policy that has no rule for heads, which
// says nothing of the head.
Result<VerifiedHead> VerifyTreeHead(std::string_view envelope, std::string_view where,
                                    const TrustPolicy& policy, WallTime now);

// A head as somebody keeps it, and where: a line of heads.jsonl, or a file of one.
struct HeadText {
  std::string text;
  std::string where;
};
// Of heads.jsonl; none where it is not there. Errors: io, invalid_input; integrity for a last line
// that has no end.
Result<std::vector<HeadText>> ReadHeadLines(const std::filesystem::path& folder);
// A file that holds one head and nothing else, or as *.jsonl several, of which the last is meant.
Result<HeadText> ReadKeptHead(const std::filesystem::path& file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_TREE_HEAD_H_
