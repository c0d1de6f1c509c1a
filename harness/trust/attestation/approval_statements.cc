// Retirements, withdrawals and deletions as JSON.
#include "harness/trust/attestation/approval_statements.h"

#include <fmt/format.h>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/records/manifest/fields.h"

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

// Reads the members of a predicate of this type about one subject.
template <class T, class F>
Result<T> ReadAs(const SignedStatement& statement, const char* predicate, std::string_view where,
                 F read) {
  const std::string place(where);
  if (statement.predicate_type != predicate || statement.subjects.size() != 1) {
    return IntegrityError(
        fmt::format("{} subjects of '{}'; expected one of {}", statement.subjects.size(),
                    TerminalSafe(statement.predicate_type.substr(0, 200)), predicate),
        place);
  }
  T value;
  JsonReader reader(statement.predicate, place, "$.predicate");
  read(reader, &value);
  if (reader.ok()) return value;
  const Status status = reader.status();
  return IntegrityError(fmt::format("is no statement of {}: {}", predicate, status.error().message),
                        status.error().where);
}

void ReadEnd(JsonReader& reader, WallTime requested, WallTime* expires) {
  ReadTime(reader, "expires", Presence::kRequired, expires);
  if (reader.ok() && *expires <= requested) reader.Fail("is over before it begins", "expires");
}

void CheckNamed(JsonReader& reader, const SignedSubject& subject, const std::string& expected) {
  if (reader.ok() && subject.name != expected) {
    reader.Fail(fmt::format("the subject is '{}'; expected {}",
                            TerminalSafe(subject.name.substr(0, 200)), TerminalSafe(expected)),
                "run_id");
  }
}

}  // namespace

SignedSubject ManifestSubject(const Manifest& manifest) {
  return {manifest.run_id + ".json", Sha256HexOf(ToJson(manifest).Dump(2) + "\n")};
}

SignedStatement RetirementStatement(const Retirement& retirement) {
  return StatementOf(kRetirementPredicate, retirement.manifest,
                     Json::MakeObject({{"run_id", retirement.run_id},
                                       {"family", retirement.family},
                                       {"reason", retirement.reason},
                                       {"requested", FormatTime(retirement.requested)},
                                       {"expires", FormatTime(retirement.expires)}}));
}

SignedStatement WithdrawalStatement(const Withdrawal& withdrawal) {
  return StatementOf(kWithdrawalPredicate, withdrawal.statement,
                     Json::MakeObject({{"run_id", withdrawal.run_id},
                                       {"family", withdrawal.family},
                                       {"reason", withdrawal.reason},
                                       {"withdrawn", FormatTime(withdrawal.withdrawn)}}));
}

SignedStatement DeletionStatement(const Deletion& deletion) {
  return StatementOf(kDeletionPredicate, deletion.list,
                     Json::MakeObject({{"items", deletion.items},
                                       {"bytes", deletion.bytes},
                                       {"reason", deletion.reason},
                                       {"requested", FormatTime(deletion.requested)},
                                       {"expires", FormatTime(deletion.expires)}}));
}

Result<Retirement> ReadRetirement(const SignedStatement& statement, std::string_view where) {
  return ReadAs<Retirement>(statement, kRetirementPredicate, where,
                            [&](JsonReader& reader, Retirement* out) {
                              out->manifest = statement.subjects[0];
                              reader.Read("run_id", &out->run_id);
                              reader.Read("family", &out->family);
                              reader.Read("reason", &out->reason);
                              if (reader.ok() && out->reason.empty())
                                reader.Fail("expected a reason", "reason");
                              ReadTime(reader, "requested", Presence::kRequired, &out->requested);
                              ReadEnd(reader, out->requested, &out->expires);
                              CheckNamed(reader, out->manifest, out->run_id + ".json");
                            });
}

Result<Withdrawal> ReadWithdrawal(const SignedStatement& statement, std::string_view where) {
  return ReadAs<Withdrawal>(statement, kWithdrawalPredicate, where,
                            [&](JsonReader& reader, Withdrawal* out) {
                              out->statement = statement.subjects[0];
                              reader.Read("run_id", &out->run_id);
                              reader.Read("family", &out->family);
                              reader.Read("reason", &out->reason);
                              ReadTime(reader, "withdrawn", Presence::kRequired, &out->withdrawn);
                              CheckNamed(reader, out->statement, WithdrawnName(out->run_id));
                            });
}

Result<Deletion> ReadDeletion(const SignedStatement& statement, std::string_view where) {
  return ReadAs<Deletion>(statement, kDeletionPredicate, where,
                          [&](JsonReader& reader, Deletion* out) {
                            out->list = statement.subjects[0];
                            reader.Read("items", &out->items);
                            reader.Read("bytes", &out->bytes);
                            reader.Read("reason", &out->reason);
                            ReadTime(reader, "requested", Presence::kRequired, &out->requested);
                            ReadEnd(reader, out->requested, &out->expires);
                          });
}

}  // namespace rharness
