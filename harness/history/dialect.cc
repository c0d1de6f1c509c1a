// SQLite's own words.
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

std::vector<std::string> RefuseDeletion(const std::string& table) {
  return {Refusal(table, "DELETE", "no_delete", "")};
}

std::vector<std::string> RefuseChanges(const AppendOnlyTable& table) {
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

std::vector<std::string> RefuseUpdateWhere(const std::string& table, const std::string& condition) {
  return {Refusal(table, "UPDATE", "no_update", "WHEN " + condition + " ")};
}

std::string DropTrigger(const std::string& name, const std::string&) {
  return "DROP TRIGGER " + name;
}

std::string AfterInsert(const InsertEffect& effect) {
  return fmt::format("CREATE TRIGGER {} AFTER INSERT ON {} FOR EACH ROW BEGIN {}; END", effect.name,
                     effect.table, effect.statement);
}

}  // namespace

const Dialect& SqliteDialect() {
  static const Dialect dialect{
      "sqlite",      "BEGIN IMMEDIATE", "SELECT name FROM sqlite_master WHERE type = 'table'",
      RefuseChanges, RefuseDeletion,    RefuseUpdateWhere,
      DropTrigger,   AfterInsert,
  };
  return dialect;
}

}  // namespace rharness
