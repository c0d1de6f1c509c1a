// The few parts that SQL databases do not share: triggers, the catalogue, locks, clocks.
//
// Role: migrations.cc and the store write shared SQL and ask here for the rest. Pure text.
#ifndef RHARNESS_HARNESS_HISTORY_DIALECT_H_
#define RHARNESS_HARNESS_HISTORY_DIALECT_H_

#include <string>
#include <vector>

namespace rharness {

using Statements = std::vector<std::string>;

// A table whose rows are never changed, and the columns of its primary key.
struct AppendOnlyTable {
  std::string name;
  std::vector<std::string> key;
};

// An effect that the database itself applies after an insert into `table`: shared SQL in which
// NEW.column is the new row.
struct InsertEffect {
  std::string name;
  std::string table;
  std::string statement;
};

struct Dialect {
  std::string name;            // "sqlite", "postgresql"
  std::string text;            // the text type ordered by bytes
  Statements begin_write;      // starts a transaction that holds the write lock from its start
  Statements begin_read;       // starts one with a consistent snapshot that writes nothing
  Statements begin_check;      // starts one with a stable schema, whatever others migrate meanwhile
  Statements begin_migration;  // starts one that no such check sees half done
  Statements begin_claims;     // starts one that waits for no other writer, if possible
  std::string list_tables;     // query: names of all tables, and of their substitutes
  Statements prologue;         // needed by the first migration

  // A member of a member of a column of JSON text, as text; null if absent, or if the text is no
  // JSON and the database can detect that.
  std::string (*json_text)(const std::string& column, const std::string& outer,
                           const std::string& inner);
  std::string position;  // function of (text, part): where the part begins, from 1; 0: absent
  // Milliseconds since 1970 by the database's own clock.
  std::string now_ms;
  // A table w with the column `value`: the texts of the JSON array :ids. Goes behind FROM or JOIN.
  std::string texts_of_ids;
  // Ends a SELECT: locks its rows for this transaction, and skips rows locked by others.
  std::string skip_taken_runs;    // of runs r
  std::string skip_taken_drills;  // of leases

  // Statements after which UPDATE, DELETE and replacing inserts on the table fail; the first one is
  // for UPDATE.
  Statements (*refuse_changes)(const AppendOnlyTable& table);
  // Statements after which DELETE on the table fails.
  Statements (*refuse_deletion)(const std::string& table);
  // Statements after which an UPDATE fails if it makes the condition (shared SQL over OLD and NEW)
  // true.
  Statements (*refuse_update_where)(const std::string& table, const std::string& condition);
  // The statements that drop the trigger, or the effect, of this name.
  Statements (*drop_trigger)(const std::string& name, const std::string& table);
  // The statements that install the effect.
  Statements (*after_insert)(const InsertEffect& effect);
};

const Dialect& SqliteDialect();
const Dialect& PostgresqlDialect();

// For PostgreSQL: the schema of a history, and the function that refuses changes there.
inline constexpr const char* kHistorySchema = "rharness";
inline constexpr const char* kRefuseFunction = "refuse_change";

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_DIALECT_H_
