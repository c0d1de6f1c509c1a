// The parts of a history's schema in PostgreSQL, as lines: from a server's catalogue, and from our
// migrations. Pure text.
//
// Role: a database may be untrusted, or untrusted users may have rights in it. Views, rules,
// triggers, functions, defaults and policies in the schema run with the rights of the history's
// reader, so nothing is trusted that our migrations did not make.
#ifndef RHARNESS_HARNESS_HISTORY_POSTGRESQL_SCHEMA_H_
#define RHARNESS_HARNESS_HISTORY_POSTGRESQL_SCHEMA_H_

#include <string>
#include <vector>

namespace rharness {

// A query of one text column, one row per part: "relation runs: table", "column run_id of runs:
// ...", and indexes, constraints, triggers, functions and operators. Source: PostgreSQL's
// documentation, "System Catalogs".
std::string PostgresqlSchemaQuery();

// The same lines, sorted, of the schema at a version. It parses the statements of migrations.h,
// which have few forms; another form aborts.
std::vector<std::string> PostgresqlSchemaAt(int version);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_POSTGRESQL_SCHEMA_H_
