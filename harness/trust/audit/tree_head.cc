// Tree heads as signed statements.
#include "harness/trust/audit/tree_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/strict_member_reader.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/statement.h"
#include "harness/trust/audit/entry_file.h"
#include "harness/trust/audit/proof_members.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostHeadsBytes = std::uint64_t{256} << 20;

Result<TreeHead> ReadTreeHead(const SignedStatement& statement, const std::string& where) {
  if (statement.predicate_type != kTreeHeadPredicate || statement.subjects.size() != 1 ||
      statement.subjects[0].name != kTreeHeadSubject) {
    return IntegrityError(
        fmt::format("{} subjects of '{}'; expected one, {}, of {}", statement.subjects.size(),
                    TerminalSafe(statement.predicate_type.substr(0, 200)), kTreeHeadSubject,
                    kTreeHeadPredicate),
        where);
  }
  TreeHead head;
  JsonReader reader(statement.predicate, where, "$.predicate");
  StrictReader::ReadOpen(reader, head);
  const auto root = ParseTreeHash(statement.subjects[0].sha256);
  const Status status = reader.status();
  if (!status.ok()) {
    return IntegrityError("is no tree head: " + status.error().message, status.error().where);
  }
  if (!root || head.tree.size == 0 || head.tree.size >> 62 != 0) {
    return IntegrityError("is no tree head: expected a root, over at least one entry", where);
  }
  head.tree.root = *root;
  return head;
}

std::vector<HeadText> HeadLines(const std::string& text, const std::string& path) {
  std::vector<HeadText> heads;
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const auto end = rest.find('\n');
    const std::string_view one = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    if (one.find_first_not_of(" \t\r") == one.npos) continue;
    heads.push_back({std::string(one), fmt::format("{}:{}", path, line)});
  }
  return heads;
}

}  // namespace

Result<std::string> SignTreeHead(const TreeHead& head, Signer* signer) {
  SignedStatement statement;
  statement.subjects = {{kTreeHeadSubject, ToHex(head.tree.root)}};
  statement.predicate_type = kTreeHeadPredicate;
  statement.predicate = StrictWriter::Written(head);
  SignedEnvelope envelope{
      .payload_type = kStatementPayload, .payload = ToJson(statement).Dump(), .signatures = {}};
  RETURN_IF_ERROR(SignEnvelope(signer, &envelope));
  return WriteEnvelope(envelope);
}

Result<TreeHead> PeekTreeHead(std::string_view text, std::string_view place) {
  const std::string where(place);
  ASSIGN_OR_RETURN(const SignedEnvelope envelope, ParseEnvelope(text, where));
  ASSIGN_OR_RETURN(const SignedStatement statement, ParseStatement(envelope.payload, where));
  return ReadTreeHead(statement, where);
}

Result<VerifiedHead> VerifyTreeHead(std::string_view text, std::string_view place,
                                    const TrustPolicy& policy, WallTime now) {
  const std::string where(place);
  if (policy.FindRule(kTreeHeadPredicate, "") == nullptr) {
    return InvalidInput(
        fmt::format("no rule of the trust policy says who may sign tree heads ({}); expected one "
                    "such as {}",
                    kTreeHeadPredicate, kTreeHeadRule),
        where);
  }
  VerifiedHead verified;
  const auto time_of = [&](const SignedStatement& statement) -> Result<WallTime> {
    ASSIGN_OR_RETURN(verified.head, ReadTreeHead(statement, where));
    return verified.head.time;
  };
  // A clock that was ahead when somebody signed must not close the log until that time has come.
  ASSIGN_OR_RETURN(const TreeHead said, PeekTreeHead(text, where));
  ASSIGN_OR_RETURN(VerifiedOther other, VerifyOther(text, where, kTreeHeadPredicate, time_of,
                                                    policy, std::max(now, said.time)));
  verified.signed_by = std::move(other.signed_by);
  return verified;
}

Result<std::vector<HeadText>> ReadHeadLines(const fs::path& folder) {
  const fs::path path = folder / kHeadsFile;
  const auto text = ReadFile(path, kMostHeadsBytes);
  if (!text.ok() && text.error().code == ErrorCode::kNotFound) return std::vector<HeadText>();
  if (!text.ok()) return text.error();
  if (!text->empty() && text->back() != '\n') {
    return IntegrityError("its last line has no end", path.string());
  }
  return HeadLines(*text, path.string());
}

Result<HeadText> ReadKeptHead(const fs::path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMostHeadsBytes));
  if (!file.native().ends_with(".jsonl")) return HeadText{text, file.string()};
  std::vector<HeadText> heads = HeadLines(text, file.string());
  if (heads.empty()) return IntegrityError("holds no tree head", file.string());
  return std::move(heads.back());
}

}  // namespace rharness
