// The few words that SQL databases do not share: triggers, the catalogue, locks, clocks.
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

// An effect that the database itself applies after a row was inserted into `table`: shared SQL in
// which NEW.column is the new row.
struct InsertEffect {
  std::string name;
  std::string table;
  std::string statement;
};

struct Dialect {
  std::string name;            // "sqlite", "postgresql"
  std::string text;            // the type of text that is ordered by its bytes
  Statements begin_write;      // starts a transaction that holds the write lock from its start
  Statements begin_read;       // starts one that sees one moment and writes nothing
  Statements begin_check;      // starts one that sees one schema, whatever others migrate meanwhile
  Statements begin_migration;  // starts one that no such check sees half
  Statements begin_claims;  // starts one that waits for no other writer, where there is such a one
  std::string list_tables;  // query: the name of every table, and of what stands in for one
  Statements prologue;      // what the first migration needs

  // Of a column of JSON text, a member of a member as text; null where it is not there, or where
  // the text is no JSON and the database can tell.
  std::string (*json_text)(const std::string& column, const std::string& outer,
                           const std::string& inner);
  std::string position;  // function of (text, part): where the part begins, from 1; 0: nowhere
  // Milliseconds since 1970 by the database's own clock.
  std::string now_ms;
  // A table w with the column `value`: the texts of the JSON array :ids. Goes behind FROM or JOIN.
  std::string texts_of_ids;
  // Ends a SELECT: its rows are this transaction's alone, and those that are another's are skipped.
  std::string skip_taken_runs;    // of runs r
  std::string skip_taken_drills;  // of leases

  // Statements after which UPDATE, DELETE and replacing inserts on the table fail; the first one
  // is UPDATE's.
  Statements (*refuse_changes)(const AppendOnlyTable& table);
  // Statements after which DELETE on the table fails.
  Statements (*refuse_deletion)(const std::string& table);
  // Statements after which an UPDATE that makes the condition (shared SQL over OLD and NEW) true
  // fails.
  Statements (*refuse_update_where)(const std::string& table, const std::string& condition);
  // The statements that take the trigger, or the effect, of this name away again.
  Statements (*drop_trigger)(const std::string& name, const std::string& table);
  // The statements that install the effect.
  Statements (*after_insert)(const InsertEffect& effect);
};

const Dialect& SqliteDialect();
const Dialect& PostgresqlDialect();

// Of PostgreSQL: the schema that a history is, and the function that refuses changes there.
inline constexpr const char* kHistorySchema = "rharness";
inline constexpr const char* kRefuseFunction = "refuse_change";

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_DIALECT_H_
