// The tables of signed statements.
//
// Role: steps of migrations.h, under its rules. Private to this folder. Pure text.
#ifndef RHARNESS_HARNESS_HISTORY_SIGNED_TABLES_H_
#define RHARNESS_HARNESS_HISTORY_SIGNED_TABLES_H_

#include "harness/history/dialect.h"

namespace rharness {

// Which verdicts somebody signed (`rharness sign`).
Statements AttestationTable(const Dialect& dialect);

// Statements on a run signed by two people, requests, withdrawals, and deletions by list.
Statements ApprovalTables(const Dialect& dialect);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_SIGNED_TABLES_H_
