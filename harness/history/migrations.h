// The history's schema as an ordered list of steps, each applied once and in one transaction.
//
// Role: store.cc runs them on a new or an old database. A released step is never edited; a change
// is a new step at the end. Pure text.
#ifndef RHARNESS_HARNESS_HISTORY_MIGRATIONS_H_
#define RHARNESS_HARNESS_HISTORY_MIGRATIONS_H_

#include <string>
#include <vector>

#include "harness/history/dialect.h"

namespace rharness {

struct Migration {
  int version = 0;  // the schema's version once this step is done: 1, 2, ...
  std::string name;
  Statements statements;
};

// The table that holds the schema's version, in the row 'schema_version'.
inline constexpr const char* kMetaTable = "rharness_meta";

// In order, versions without gaps.
std::vector<Migration> Migrations(const Dialect& dialect);

// The version of the last step.
int NewestSchema();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_MIGRATIONS_H_
