// Statements as JSON.
#include "harness/trust/attestation/statement.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

Result<SignedStatement> ReadStatement(const Json& json, const std::string& where) {
  JsonReader reader(json, where);
  std::string type;
  SignedStatement statement;
  reader.Read("_type", &type);
  if (reader.ok() && type != kStatementType) {
    reader.Fail(fmt::format("'{}'; expected {}", TerminalSafe(type.substr(0, 80)), kStatementType),
                "_type");
  }
  reader.Read("predicateType", &statement.predicate_type);
  std::set<std::string> names;
  reader.ForEach("subject", [&](JsonReader& one) {
    SignedSubject& subject = statement.subjects.emplace_back();
    ReadSubject(one, &subject);
    if (one.ok() && !names.insert(subject.name).second) {
      one.Fail("a second subject of this name", "name");
    }
  });
  if (reader.ok() && statement.subjects.empty()) {
    reader.Fail("expected at least one subject", "subject");
  }
  reader.ReadObject("predicate", false, [&](JsonReader& one) { statement.predicate = one.json(); });
  RETURN_IF_ERROR(reader.status());
  return statement;
}

}  // namespace

Json ToJson(const SignedSubject& subject) {
  return Json::MakeObject(
      {{"name", subject.name}, {"digest", Json::MakeObject({{"sha256", subject.sha256}})}});
}

void ReadSubject(JsonReader& reader, SignedSubject* out) {
  reader.Read("name", &out->name);
  if (reader.ok() && out->name.empty()) reader.Fail("is empty", "name");
  ReadSha256(reader, &out->sha256);
}

void ReadSha256(JsonReader& reader, std::string* out) {
  reader.ReadObject("digest", true, [&](JsonReader& digest) {
    digest.Read("sha256", out);
    if (digest.ok() && !IsSha256Hex(*out)) {
      digest.Fail("expected 64 lower-case hexadecimal digits", "sha256");
    }
  });
}

std::string Shown(std::string_view text) { return TerminalSafe(text.substr(0, 200)); }

Json ToJson(const SignedStatement& statement) {
  Json subjects = Json::MakeArray();
  for (const SignedSubject& one : statement.subjects) subjects.Append(ToJson(one));
  return Json::MakeObject({{"_type", kStatementType},
                           {"subject", std::move(subjects)},
                           {"predicateType", statement.predicate_type},
                           {"predicate", statement.predicate}});
}

Result<SignedStatement> ParseStatement(std::string_view payload, std::string_view where) {
  const auto fail = [](const Error& error) {
    return IntegrityError("is no in-toto statement: " + error.message, error.where);
  };
  const auto json = ParseJson(payload, where);
  if (!json.ok()) return fail(json.error());
  auto statement = ReadStatement(*json, std::string(where));
  if (!statement.ok()) return fail(statement.error());
  return statement;
}

}  // namespace rharness
