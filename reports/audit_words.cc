// Sentences about exceptions and entries.
#include "reports/audit_words.h"

#include <fmt/format.h>

namespace rharness {

std::string_view AuditStateWords(AuditEntryState state) {
  switch (state) {
    case AuditEntryState::kAsEntered:
      return "as entered";
    case AuditEntryState::kChanged:
      return "CHANGED";
    case AuditEntryState::kGone:
      return "GONE";
    case AuditEntryState::kTwice:
      return "ENTERED TWICE";
    case AuditEntryState::kNotEntered:
      return "not entered yet";
  }
  Abort("unknown AuditEntryState");
}

bool IsFault(AuditEntryState state) {
  return state != AuditEntryState::kAsEntered && state != AuditEntryState::kNotEntered;
}

std::string ExceptionWords(const AuditException& one) {
  std::string words = one.kind == "retirement" ? "retired" : one.kind + " of " + one.about;
  words += ": " + one.reason;
  if (!one.doubt.empty()) return words + ", doubtful: " + one.doubt;
  if (!one.signed_by.empty()) words += ", signed by " + one.signed_by;
  if (!one.doubt.empty()) return words + ", doubtful: " + one.doubt;
  if (one.kind == "retirement" && one.signed_by.empty()) words += ", unsigned";
  if (!one.until.empty()) words += ", " + one.until;
  if (!one.holds) words += " (over)";
  return words;
}

std::string_view StatementMark(const AuditStatement& one) {
  if (!one.refused.empty()) return "REFUSED: ";
  return one.not_counted.empty() ? "" : "not counted: ";
}

std::string_view StatementWords(const AuditStatement& one) {
  if (!one.refused.empty()) return one.refused;
  return one.not_counted.empty() ? one.says : one.not_counted;
}

std::string EntryPlace(const AuditEntryRow& row) {
  return row.index ? fmt::format("entry {}", *row.index) : "-";
}

}  // namespace rharness
