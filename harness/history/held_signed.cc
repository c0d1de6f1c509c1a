// Reads rows that people signed, and rows on actions by these signatures.
#include <fmt/format.h>

#include <utility>

#include "harness/history/held_deletions.h"
#include "harness/history/held_rows.h"

namespace rharness {
namespace {

class SignedRowReader {
 public:
  SignedRowReader(soci::session& sql, std::vector<HeldRecord>* out) : sql_(sql), out_(out) {}

  void ReadAttestations(const HeldRange& runs) {
    std::string drill_id, run_id, key_id, statement;
    long long attested_ms = 0;
    soci::statement query =
        (sql_.prepare << "SELECT drill_id, run_id, keyid, statement_sha256, attested_ms FROM "
                         "attestations WHERE run_id >= :first AND run_id <= :last ORDER BY "
                         "attested_ms, drill_id, run_id, keyid",
         soci::use(runs.first, "first"), soci::use(runs.last, "last"), soci::into(drill_id),
         soci::into(run_id), soci::into(key_id), soci::into(statement), soci::into(attested_ms));
    query.execute();
    while (query.fetch()) {
      Add("attestation", fmt::format("{}/{}/{}", drill_id, run_id, key_id),
          Json::MakeObject({{"drill_id", drill_id},
                            {"run_id", run_id},
                            {"keyid", key_id},
                            {"statement_sha256", statement},
                            {"attested_ms", attested_ms}}));
    }
  }

  void ReadStatements(const HeldRange& subjects) {
    std::string statement, key_id, predicate, subject, signed_by, envelope;
    long long entered_ms = 0, sequence = 0;
    soci::statement query =
        (sql_.prepare << "SELECT statement_sha256, key_id, predicate, subject, signed_by, "
                         "entered_ms, sequence, envelope FROM signed_statements WHERE subject >= "
                         ":first AND subject <= :last ORDER BY sequence, statement_sha256, key_id",
         soci::use(subjects.first, "first"), soci::use(subjects.last, "last"),
         soci::into(statement), soci::into(key_id), soci::into(predicate), soci::into(subject),
         soci::into(signed_by), soci::into(entered_ms), soci::into(sequence), soci::into(envelope));
    query.execute();
    while (query.fetch()) {
      Add("signed_statement", fmt::format("{}/{}/{}", subject, statement, key_id),
          Json::MakeObject({{"statement_sha256", statement},
                            {"key_id", key_id},
                            {"predicate", predicate},
                            {"subject", subject},
                            {"signed_by", signed_by},
                            {"entered_ms", entered_ms},
                            {"sequence", sequence},
                            {"envelope", envelope}}));
    }
  }

  void ReadRetirements(const HeldRange& runs) {
    std::string run_id, statement, asked_by, approved_by;
    long long asked_ms = 0, approved_ms = 0;
    soci::statement query =
        (sql_.prepare << "SELECT run_id, statement_sha256, asked_by, asked_ms, approved_by, "
                         "approved_ms FROM signed_retirements WHERE run_id >= :first AND run_id <= "
                         ":last ORDER BY approved_ms, run_id",
         soci::use(runs.first, "first"), soci::use(runs.last, "last"), soci::into(run_id),
         soci::into(statement), soci::into(asked_by), soci::into(asked_ms), soci::into(approved_by),
         soci::into(approved_ms));
    query.execute();
    while (query.fetch()) {
      Add("signed_retirement", run_id,
          Json::MakeObject({{"run_id", run_id},
                            {"statement_sha256", statement},
                            {"asked_by", asked_by},
                            {"asked_ms", asked_ms},
                            {"approved_by", approved_by},
                            {"approved_ms", approved_ms}}));
    }
  }

  // Withdrawals of statements on one subject, and the withdrawn statements.
  void ReadTakenBack(const std::string& subject) {
    std::vector<std::string> statements;
    std::string statement;
    soci::statement query = (sql_.prepare << "SELECT DISTINCT statement_sha256 FROM "
                                             "signed_statements WHERE subject = :subject ORDER BY "
                                             "statement_sha256",
                             soci::use(subject, "subject"), soci::into(statement));
    query.execute();
    while (query.fetch()) statements.push_back(statement);
    for (const std::string& one : statements) {
      ReadStatements({one, one});
      ReadWithdrawals({one, one});
    }
  }

  // Of the statements with these digests.
  void ReadWithdrawals(const HeldRange& statements) {
    std::string statement, withdrawal;
    soci::statement query =
        (sql_.prepare << "SELECT statement_sha256, withdrawal_sha256 FROM withdrawals WHERE "
                         "statement_sha256 >= :first AND statement_sha256 <= :last ORDER BY "
                         "statement_sha256",
         soci::use(statements.first, "first"), soci::use(statements.last, "last"),
         soci::into(statement), soci::into(withdrawal));
    query.execute();
    while (query.fetch()) {
      Add("withdrawal", statement,
          Json::MakeObject({{"statement_sha256", statement}, {"withdrawal_sha256", withdrawal}}));
    }
  }

  void ReadDeletions() {
    std::string list, asked_by, approved_by, body;
    long long begun_ms = 0, sequence = 0;
    soci::statement query =
        (sql_.prepare << "SELECT list_sha256, begun_ms, asked_by, approved_by, sequence, body FROM "
                         "deletions ORDER BY sequence, list_sha256",
         soci::into(list), soci::into(begun_ms), soci::into(asked_by), soci::into(approved_by),
         soci::into(sequence), soci::into(body));
    query.execute();
    while (query.fetch()) {
      Add("deletion", list,
          Json::MakeObject({{"list_sha256", list},
                            {"begun_ms", begun_ms},
                            {"asked_by", asked_by},
                            {"approved_by", approved_by},
                            {"sequence", sequence},
                            {"body", body}}));
    }
  }

  void ReadDeletedItems() {
    std::string list, step;
    long long item = 0, at_ms = 0, bytes = 0;
    soci::statement query =
        (sql_.prepare << "SELECT list_sha256, item, step, at_ms, bytes FROM deleted_items ORDER BY "
                         "list_sha256, item, at_ms, step",
         soci::into(list), soci::into(item), soci::into(step), soci::into(at_ms),
         soci::into(bytes));
    query.execute();
    while (query.fetch()) {
      Add("deleted_item", fmt::format("{}/{}/{}", list, item, step),
          Json::MakeObject({{"list_sha256", list},
                            {"item", item},
                            {"step", step},
                            {"at_ms", at_ms},
                            {"bytes", bytes}}));
    }
  }

 private:
  void Add(const char* kind, std::string name, const Json& content) {
    out_->push_back({kind, std::move(name), DigestOfHeld(content.Dump())});
  }

  soci::session& sql_;
  std::vector<HeldRecord>* out_;
};

}  // namespace

void AddSignedRows(soci::session& sql, const HeldRange& runs, std::vector<HeldRecord>* out) {
  SignedRowReader reader(sql, out);
  reader.ReadAttestations(runs);
  reader.ReadStatements(runs);
  reader.ReadRetirements(runs);
}

void AddTakenBackRows(soci::session& sql, const std::string& run_id, std::vector<HeldRecord>* out) {
  SignedRowReader(sql, out).ReadTakenBack(run_id);
}

void AddDeletionRows(soci::session& sql, const HeldRange& all, std::vector<HeldRecord>* out) {
  SignedRowReader reader(sql, out);
  reader.ReadWithdrawals(all);
  reader.ReadDeletions();
  reader.ReadDeletedItems();
}

void AddRowsOfDeletion(soci::session& sql, const std::string& list_sha256,
                       std::vector<HeldRecord>* out) {
  SignedRowReader(sql, out).ReadStatements({list_sha256, list_sha256});
  std::vector<HeldRecord> all;
  SignedRowReader reader(sql, &all);
  reader.ReadDeletions();
  reader.ReadDeletedItems();
  for (HeldRecord& one : all) {
    if (IsOfDeletion(one.kind, one.name, list_sha256)) out->push_back(std::move(one));
  }
}

}  // namespace rharness
