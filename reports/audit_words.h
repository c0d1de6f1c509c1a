// Sentences of the answer to an auditor.
#ifndef RHARNESS_REPORTS_AUDIT_WORDS_H_
#define RHARNESS_REPORTS_AUDIT_WORDS_H_

#include <string>
#include <string_view>

#include "reports/audit_report.h"

namespace rharness {

// "as entered", "CHANGED", "GONE", "ENTERED TWICE", "not entered yet"
std::string_view AuditStateWords(AuditEntryState state);
bool IsFault(AuditEntryState state);
// "REFUSED: ", "not counted: "; empty: it is valid.
std::string_view StatementMark(const AuditStatement& one);
// Its content, or why it is not valid.
std::string_view StatementWords(const AuditStatement& one);
// The text in place of missing or unknown exceptions; empty: none.
std::string NoExceptionWords(const AuditReport& report);
// "2 of its 9 entries in the log are not as entered (the first: verdict d/mlp-1, CHANGED); as the
// history has it now: ", for the beginning of the answer; empty: none is.
std::string FaultsFirst(const AuditReport& report);
// How to show that the run reproduces, if its last verdict does not; empty: it does, or no drill is
// possible any more.
std::string NextToReproduce(const AuditReport& report);
// "; 1 of its files was deleted"; empty: none was.
std::string DeletedFilesWords(const AuditReport& report);
// "entry 12", "-"
std::string EntryPlace(const AuditEntryRow& row);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_AUDIT_WORDS_H_
