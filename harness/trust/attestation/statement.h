// A statement: which files it is about, by their SHA-256, and what it says of them (in-toto v1).
//
// Role: pure; the frame around every predicate. Which predicates there are is said beside them
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
// The exact bytes that were signed, read. Unknown members and other digests beside sha256 are
// ignored. Errors: integrity for another _type, no subject, one without name or SHA-256, two of one
// name, members of another type.
Result<SignedStatement> ParseStatement(std::string_view payload, std::string_view where);

// {"name": ..., "digest": {"sha256": ...}}, an in-toto ResourceDescriptor, and reading it; both are
// required. Of digests alone: "digest" of the reader's value.
Json ToJson(const SignedSubject& subject);
void ReadSubject(JsonReader& reader, SignedSubject* out);
void ReadSha256(JsonReader& reader, std::string* out);

// What a stranger wrote, in a message: its first 200 bytes, safe on a terminal.
std::string Shown(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_STATEMENT_H_
