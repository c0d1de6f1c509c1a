// The few words that SQL databases do not share: triggers, the catalogue, locking transactions.
//
// Role: migrations.cc and store.cc write shared SQL and ask here for the rest. Pure text.
#ifndef RHARNESS_HARNESS_HISTORY_DIALECT_H_
#define RHARNESS_HARNESS_HISTORY_DIALECT_H_

#include <string>
#include <vector>

namespace rharness {

// A table whose rows are never changed, and the columns of its primary key.
struct AppendOnlyTable {
  std::string name;
  std::vector<std::string> key;
};

// An effect that the database itself applies after a row was inserted into `table`: shared SQL in
// which NEW.column is the new row.
struct InsertEffect {
  std::string name;
  std::string table;
  std::string statement;
};

struct Dialect {
  std::string name;         // "sqlite"
  std::string begin_write;  // starts a transaction that holds the write lock from its start
  std::string list_tables;  // query: the name of every table

  // Statements after which UPDATE, DELETE and replacing inserts on the table fail.
  std::vector<std::string> (*refuse_changes)(const AppendOnlyTable& table);
  // Statements after which DELETE on the table fails.
  std::vector<std::string> (*refuse_deletion)(const std::string& table);
  // Statements after which an UPDATE that makes the condition (shared SQL over OLD and NEW) true
  // fails.
  std::vector<std::string> (*refuse_update_where)(const std::string& table,
                                                  const std::string& condition);
  // The statement that takes the trigger of this name away again.
  std::string (*drop_trigger)(const std::string& name, const std::string& table);
  // The statement that installs the effect.
  std::string (*after_insert)(const InsertEffect& effect);
};

const Dialect& SqliteDialect();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_DIALECT_H_
