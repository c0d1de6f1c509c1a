// What a history's schema consists of in PostgreSQL, in lines: as a server's catalogue has it, and
// as our migrations make it. Pure text.
//
// Role: a database may be a stranger's, or strangers may have rights in it. Views, rules, triggers,
// functions, defaults and policies in the schema run with the rights of whoever reads the history,
// so nothing is believed that our migrations did not make.
#ifndef RHARNESS_HARNESS_HISTORY_POSTGRESQL_SCHEMA_H_
#define RHARNESS_HARNESS_HISTORY_POSTGRESQL_SCHEMA_H_

#include <string>
#include <vector>

namespace rharness {

// A query of one text column, a line a part: "relation runs: table", "column run_id of runs: ...",
// and indexes, constraints, triggers, functions and operators. Source: PostgreSQL's documentation,
// "System Catalogs".
std::string PostgresqlSchemaQuery();

// The same lines, sorted, of the schema at a version. It reads the statements of migrations.h,
// which are of few forms; one of another form aborts.
std::vector<std::string> PostgresqlSchemaAt(int version);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_POSTGRESQL_SCHEMA_H_
