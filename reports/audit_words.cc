// Sentences about statements, entries and what is next.
#include "reports/audit_words.h"

#include <fmt/format.h>

#include <algorithm>

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

std::string_view StatementMark(const AuditStatement& one) {
  if (!one.refused.empty()) return "REFUSED: ";
  return one.not_counted.empty() ? "" : "not counted: ";
}

std::string_view StatementWords(const AuditStatement& one) {
  if (!one.refused.empty()) return one.refused;
  return one.not_counted.empty() ? one.says : one.not_counted;
}

std::string NoExceptionWords(const AuditReport& report) {
  if (report.policies.empty()) {
    return "waivers and substitutes are not known: no policy was given (--policy)";
  }
  return report.exceptions.empty() ? "none" : "";
}

std::string FaultsFirst(const AuditReport& report) {
  const auto is_fault = [](const AuditEntryRow& row) { return IsFault(row.state); };
  const auto first = std::ranges::find_if(report.entries, is_fault);
  if (first == report.entries.end()) return "";
  const auto missing =
      std::ranges::count(report.entries, AuditEntryState::kNotEntered, &AuditEntryRow::state);
  const auto faults = std::ranges::count_if(report.entries, is_fault);
  return fmt::format(
      "{} of its {} entries in the log {} not as entered ({}{} {}, {}); as the history has it "
      "now: ",
      faults, std::ssize(report.entries) - missing, faults == 1 ? "is" : "are",
      faults == 1 ? "" : "the first: ", first->kind, first->name, AuditStateWords(first->state));
}

std::string NextToReproduce(const AuditReport& report) {
  const bool retired = std::ranges::find(report.exceptions, "retirement", &AuditException::kind) !=
                       report.exceptions.end();
  if (retired) return "";
  const std::string drill =
      fmt::format("`rharness drill --history {} --select 'run_id = {}' --out DIR`", report.history,
                  report.run_id);
  if (report.verdicts.empty()) return "no drill has rerun it: " + drill;
  switch (report.verdicts.front().said.verdict) {
    case Verdict::kIdentical:
    case Verdict::kEquivalent:
      return "";
    case Verdict::kDrifted:
    case Verdict::kFailed:
      return fmt::format(
          "its last verdict is {}: `rharness incident {} --history {}` says what to "
          "do",
          VerdictName(report.verdicts.front().said.verdict), report.run_id, report.history);
    case Verdict::kInconclusive:
    case Verdict::kNotComparable:
    case Verdict::kInfra:
      break;
  }
  return fmt::format("its last verdict is {}, which leaves it open: {}",
                     VerdictName(report.verdicts.front().said.verdict), drill);
}

std::string DeletedFilesWords(const AuditReport& report) {
  const auto deleted = std::ranges::count(report.exceptions, kAuditDeletion, &AuditException::kind);
  if (deleted == 0) return "";
  return fmt::format("; {} of its files {} deleted", deleted, deleted == 1 ? "was" : "were");
}

std::string EntryPlace(const AuditEntryRow& row) {
  return row.index ? fmt::format("entry {}", *row.index) : "-";
}

}  // namespace rharness
