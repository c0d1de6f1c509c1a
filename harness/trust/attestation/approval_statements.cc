// Retirements, withdrawals and deletions as JSON.
#include "harness/trust/attestation/approval_statements.h"

#include <fmt/format.h>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/strict_member_reader.h"
#include "harness/trust/attestation/approval_members.h"

namespace rharness {
namespace {

// Without a run it is a deletion that is taken back.
std::string WithdrawnName(const std::string& run_id) {
  return run_id.empty() ? kDeletionListName : run_id + ".retirement";
}

SignedStatement StatementOf(const char* predicate, const SignedSubject& subject, Json members) {
  SignedStatement statement;
  statement.subjects = {subject};
  statement.predicate_type = predicate;
  statement.predicate = std::move(members);
  return statement;
}

// Reads a predicate of this type about one subject.
template <class T>
Result<T> ReadPredicate(const SignedStatement& statement, const char* predicate,
                        std::string_view where, SignedSubject T::*subject) {
  const std::string place(where);
  if (statement.predicate_type != predicate || statement.subjects.size() != 1) {
    return IntegrityError(
        fmt::format("{} subjects of '{}'; expected one of {}", statement.subjects.size(),
                    TerminalSafe(statement.predicate_type.substr(0, 200)), predicate),
        place);
  }
  T value;
  value.*subject = statement.subjects[0];
  JsonReader reader(statement.predicate, place, "$.predicate");
  StrictReader::ReadOpen(reader, value);
  if (reader.ok()) return value;
  const Status status = reader.status();
  return IntegrityError(fmt::format("is no statement of {}: {}", predicate, status.error().message),
                        status.error().where);
}

void CheckEnd(JsonReader& reader, WallTime requested, WallTime expires) {
  if (expires <= requested) reader.Fail("is over before it begins", "expires");
}

void CheckNamed(JsonReader& reader, const SignedSubject& subject, const std::string& expected) {
  if (subject.name == expected) return;
  reader.Fail(fmt::format("the subject is '{}'; expected {}",
                          TerminalSafe(subject.name.substr(0, 200)), TerminalSafe(expected)),
              "run_id");
}

}  // namespace

SignedSubject ManifestSubject(const Manifest& manifest) {
  return {manifest.run_id + ".json", ManifestSha256(manifest)};
}

void CheckMembers(JsonReader& reader, const Retirement& retirement) {
  if (retirement.reason.empty()) reader.Fail("expected a reason", "reason");
  CheckEnd(reader, retirement.requested, retirement.expires);
  CheckNamed(reader, retirement.manifest, retirement.run_id + ".json");
}

void CheckMembers(JsonReader& reader, const Withdrawal& withdrawal) {
  CheckNamed(reader, withdrawal.statement, WithdrawnName(withdrawal.run_id));
}

void CheckMembers(JsonReader& reader, const Deletion& deletion) {
  CheckEnd(reader, deletion.requested, deletion.expires);
}

SignedStatement RetirementStatement(const Retirement& retirement) {
  return StatementOf(kRetirementPredicate, retirement.manifest, StrictWriter::Written(retirement));
}

SignedStatement WithdrawalStatement(const Withdrawal& withdrawal) {
  return StatementOf(kWithdrawalPredicate, withdrawal.statement, StrictWriter::Written(withdrawal));
}

SignedStatement DeletionStatement(const Deletion& deletion) {
  return StatementOf(kDeletionPredicate, deletion.list, StrictWriter::Written(deletion));
}

Result<Retirement> ReadRetirement(const SignedStatement& statement, std::string_view where) {
  return ReadPredicate(statement, kRetirementPredicate, where, &Retirement::manifest);
}

Result<Withdrawal> ReadWithdrawal(const SignedStatement& statement, std::string_view where) {
  return ReadPredicate(statement, kWithdrawalPredicate, where, &Withdrawal::statement);
}

Result<Deletion> ReadDeletion(const SignedStatement& statement, std::string_view where) {
  return ReadPredicate(statement, kDeletionPredicate, where, &Deletion::list);
}

}  // namespace rharness
