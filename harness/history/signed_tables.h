// The tables of what people signed.
//
// Role: steps of migrations.h, by whose rules they are kept. Private to this folder. Pure text.
#ifndef RHARNESS_HARNESS_HISTORY_SIGNED_TABLES_H_
#define RHARNESS_HARNESS_HISTORY_SIGNED_TABLES_H_

#include "harness/history/dialect.h"

namespace rharness {

// Which verdicts somebody signed (`rharness sign`).
Statements AttestationTable(const Dialect& dialect);

// What two people signed of a run, what was asked for and taken back, and what was deleted by which
// list.
Statements ApprovalTables(const Dialect& dialect);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_SIGNED_TABLES_H_
