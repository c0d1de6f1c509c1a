// SQLite's own words, and PostgreSQL's.
#include "harness/history/dialect.h"

#include <fmt/format.h>

namespace rharness {
namespace {

std::string Refusal(const std::string& table, const char* event, const char* suffix,
                    const std::string& condition) {
  return fmt::format(
      "CREATE TRIGGER {0}_{2} BEFORE {1} ON {0} FOR EACH ROW {3}"
      "BEGIN SELECT RAISE(ABORT, 'the history is append-only: {0} rows stay as they are'); END",
      table, event, suffix, condition);
}

Statements RefuseDeletion(const std::string& table) {
  return {Refusal(table, "DELETE", "no_delete", "")};
}

Statements RefuseChanges(const AppendOnlyTable& table) {
  std::string same_key;
  for (const std::string& column : table.key) {
    same_key += fmt::format("{}{} = NEW.{}", same_key.empty() ? "" : " AND ", column, column);
  }
  // INSERT OR REPLACE deletes the old row without firing its DELETE triggers.
  const std::string taken =
      fmt::format("WHEN EXISTS (SELECT 1 FROM {} WHERE {}) ", table.name, same_key);
  return {Refusal(table.name, "UPDATE", "no_update", ""),
          Refusal(table.name, "DELETE", "no_delete", ""),
          Refusal(table.name, "INSERT", "no_replace", taken)};
}

Statements RefuseUpdateWhere(const std::string& table, const std::string& condition) {
  return {Refusal(table, "UPDATE", "no_update", "WHEN " + condition + " ")};
}

Statements DropTrigger(const std::string& name, const std::string&) {
  return {"DROP TRIGGER " + name};
}

Statements AfterInsert(const InsertEffect& effect) {
  return {fmt::format("CREATE TRIGGER {} AFTER INSERT ON {} FOR EACH ROW BEGIN {}; END",
                      effect.name, effect.table, effect.statement)};
}

std::string JsonText(const std::string& column, const std::string& outer,
                     const std::string& inner) {
  return fmt::format("CASE WHEN json_valid({0}) THEN json_extract({0}, '$.{1}.{2}') END", column,
                     outer, inner);
}

// PostgreSQL: a trigger calls a function. A replacing insert is an UPDATE there.
namespace postgresql {

std::string Function(const std::string& name, const std::string& body) {
  return fmt::format("CREATE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql AS $${}$$", name, body);
}

std::string Trigger(const std::string& name, const char* when, const std::string& table,
                    const char* each, const std::string& function) {
  return fmt::format("CREATE TRIGGER {} {} ON {} FOR EACH {} EXECUTE FUNCTION {}()", name, when,
                     table, each, function);
}

std::string RefuseBody() {
  return " BEGIN RAISE EXCEPTION 'the history is append-only: % rows stay as they are', "
         "TG_TABLE_NAME; END ";
}

Statements RefuseDeletion(const std::string& table) {
  return {Trigger(table + "_no_delete", "BEFORE DELETE", table, "ROW", kRefuseFunction),
          Trigger(table + "_no_truncate", "BEFORE TRUNCATE", table, "STATEMENT", kRefuseFunction)};
}

Statements RefuseChanges(const AppendOnlyTable& table) {
  Statements statements = {
      Trigger(table.name + "_no_update", "BEFORE UPDATE", table.name, "ROW", kRefuseFunction)};
  for (std::string& one : RefuseDeletion(table.name)) statements.push_back(std::move(one));
  return statements;
}

Statements RefuseUpdateWhere(const std::string& table, const std::string& condition) {
  const std::string name = table + "_no_update";
  return {Function(name, fmt::format(" BEGIN IF {} THEN RAISE EXCEPTION 'the history is "
                                     "append-only: {} rows stay as they are'; END IF; RETURN NEW; "
                                     "END ",
                                     condition, table)),
          Trigger(name, "BEFORE UPDATE", table, "ROW", name)};
}

Statements DropTrigger(const std::string& name, const std::string& table) {
  return {fmt::format("DROP TRIGGER {} ON {}", name, table),
          fmt::format("DROP FUNCTION IF EXISTS {}()", name)};
}

std::string JsonText(const std::string& column, const std::string& outer,
                     const std::string& inner) {
  return fmt::format("CAST({} AS json) #>> '{{{},{}}}'", column, outer, inner);
}

Statements AfterInsert(const InsertEffect& effect) {
  return {Function(effect.name, fmt::format(" BEGIN {}; RETURN NULL; END ", effect.statement)),
          Trigger(effect.name, "AFTER INSERT", effect.table, "ROW", effect.name)};
}

}  // namespace postgresql
}  // namespace

const Dialect& SqliteDialect() {
  static const Dialect dialect{
      .name = "sqlite",
      .text = "TEXT",
      .begin_write = {"BEGIN IMMEDIATE"},
      .begin_read = {"BEGIN"},
      .begin_check = {"BEGIN"},
      .begin_migration = {"BEGIN IMMEDIATE"},
      .begin_claims = {"BEGIN IMMEDIATE"},
      .list_tables = "SELECT name FROM sqlite_master WHERE type = 'table'",
      .prologue = {},
      .json_text = JsonText,
      .position = "instr",
      .now_ms = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
      .texts_of_ids = "json_each(:ids) w",
      .skip_taken_runs = "",
      .skip_taken_drills = "",
      .refuse_changes = RefuseChanges,
      .refuse_deletion = RefuseDeletion,
      .refuse_update_where = RefuseUpdateWhere,
      .drop_trigger = DropTrigger,
      .after_insert = AfterInsert,
  };
  return dialect;
}

const Dialect& PostgresqlDialect() {
  // Advisory locks belong to the database, and a history is one schema of it. Writers are one at a
  // time, as in SQLite: they write upon what they read.
  static const Dialect dialect{
      .name = "postgresql",
      .text = "TEXT COLLATE \"C\"",
      .begin_write = {"BEGIN", "SELECT pg_advisory_xact_lock(1918398322, 1)"},
      .begin_read = {"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"},
      .begin_check = {"BEGIN", "SELECT pg_advisory_xact_lock_shared(1918398322, 2)"},
      .begin_migration = {"BEGIN", "SELECT pg_advisory_xact_lock(1918398322, 1)",
                          "SELECT pg_advisory_xact_lock(1918398322, 2)"},
      .begin_claims = {"BEGIN"},
      .list_tables = fmt::format(
          "SELECT CAST(c.relname AS text) FROM pg_class c JOIN pg_namespace n ON n.oid = "
          "c.relnamespace WHERE n.nspname = '{}' AND c.relkind NOT IN ('i', 'I', 't', 'c')",
          kHistorySchema),
      .prologue = {postgresql::Function(kRefuseFunction, postgresql::RefuseBody())},
      .json_text = postgresql::JsonText,
      .position = "strpos",
      .now_ms = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
      .texts_of_ids = "json_array_elements_text(CAST(:ids AS json)) w(value)",
      .skip_taken_runs = " FOR NO KEY UPDATE OF r SKIP LOCKED",
      .skip_taken_drills = " FOR UPDATE SKIP LOCKED",
      .refuse_changes = postgresql::RefuseChanges,
      .refuse_deletion = postgresql::RefuseDeletion,
      .refuse_update_where = postgresql::RefuseUpdateWhere,
      .drop_trigger = postgresql::DropTrigger,
      .after_insert = postgresql::AfterInsert,
  };
  return dialect;
}

}  // namespace rharness
