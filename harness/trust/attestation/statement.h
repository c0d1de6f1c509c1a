// A statement: its files, by SHA-256, and its predicate on them (in-toto v1).
//
// Role: pure; the frame around every predicate. The predicates are defined elsewhere
// (verdict_statement.h). Source: in-toto/attestation, spec/v1/statement.md and
// resource_descriptor.md.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_STATEMENT_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_STATEMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_reader.h"
#include "harness/base/result.h"

namespace rharness {

inline constexpr char kStatementType[] = "https://in-toto.io/Statement/v1";
inline constexpr char kStatementPayload[] = "application/vnd.in-toto+json";

// A file by its name and content.
struct SignedSubject {
  std::string name;
  std::string sha256;
  bool operator==(const SignedSubject&) const = default;
};

struct SignedStatement {
  std::vector<SignedSubject> subjects;
  std::string predicate_type;
  Json predicate;
};

Json ToJson(const SignedStatement& statement);
// Parses the exact signed bytes. Ignores unknown members and other digests beside sha256. Errors:
// integrity for another _type, no subject, one without name or SHA-256, two of one name, mistyped
// members.
Result<SignedStatement> ParseStatement(std::string_view payload, std::string_view where);

// {"name": ..., "digest": {"sha256": ...}}, an in-toto ResourceDescriptor, and reading it; both are
// required. Of digests alone: "digest" of the reader's value.
Json ToJson(const SignedSubject& subject);
void ReadSubject(JsonReader& reader, SignedSubject* out);
void ReadSha256(JsonReader& reader, std::string* out);

// Untrusted text in a message: its first 200 bytes, safe on a terminal.
std::string Shown(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_STATEMENT_H_
