// Schema steps for signed statements, in SQL that SQLite and PostgreSQL share.
#include "harness/history/signed_tables.h"

#include <vector>

namespace rharness {
namespace {

void Append(const Statements& more, Statements* statements) {
  statements->insert(statements->end(), more.begin(), more.end());
}

}  // namespace

Statements AttestationTable(const Dialect& dialect) {
  Statements statements = {
      "CREATE TABLE attestations (drill_id TEXT NOT NULL REFERENCES drills (drill_id), "
      "run_id TEXT NOT NULL REFERENCES runs (run_id), keyid TEXT NOT NULL, "
      "statement_sha256 TEXT NOT NULL, attested_ms BIGINT NOT NULL, "
      "PRIMARY KEY (drill_id, run_id, keyid))",
  };
  Append(dialect.refuse_changes({"attestations", {"drill_id", "run_id", "keyid"}}), &statements);
  return statements;
}

Statements ApprovalTables(const Dialect& dialect) {
  Statements statements = {
      "CREATE TABLE signed_statements (statement_sha256 TEXT NOT NULL, key_id TEXT NOT NULL, "
      "predicate TEXT NOT NULL, subject TEXT NOT NULL, signed_by TEXT NOT NULL, "
      "entered_ms BIGINT NOT NULL, sequence BIGINT NOT NULL, envelope TEXT NOT NULL, "
      "PRIMARY KEY (statement_sha256, key_id))",
      "CREATE INDEX signed_statements_by_subject ON signed_statements (predicate, subject, "
      "sequence)",
      "CREATE TABLE withdrawals (statement_sha256 TEXT PRIMARY KEY NOT NULL, "
      "withdrawal_sha256 TEXT NOT NULL)",
      "CREATE TABLE signed_retirements (run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (run_id), "
      "statement_sha256 TEXT NOT NULL, asked_by TEXT NOT NULL, asked_ms BIGINT NOT NULL, "
      "approved_by TEXT NOT NULL, approved_ms BIGINT NOT NULL)",
      "CREATE TABLE deletions (list_sha256 TEXT PRIMARY KEY NOT NULL, begun_ms BIGINT NOT NULL, "
      "asked_by TEXT NOT NULL, approved_by TEXT NOT NULL, sequence BIGINT NOT NULL, "
      "body TEXT NOT NULL)",
      "CREATE TABLE deleted_items (list_sha256 TEXT NOT NULL REFERENCES deletions (list_sha256), "
      "item BIGINT NOT NULL, step TEXT NOT NULL, at_ms BIGINT NOT NULL, bytes BIGINT NOT NULL, "
      "PRIMARY KEY (list_sha256, item, step))",
  };
  const std::vector<AppendOnlyTable> tables = {
      {"signed_statements", {"statement_sha256", "key_id"}},
      {"withdrawals", {"statement_sha256"}},
      {"signed_retirements", {"run_id"}},
      {"deletions", {"list_sha256"}},
      {"deleted_items", {"list_sha256", "item", "step"}}};
  for (const AppendOnlyTable& table : tables) Append(dialect.refuse_changes(table), &statements);
  return statements;
}

}  // namespace rharness
