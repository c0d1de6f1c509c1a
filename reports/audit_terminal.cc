// The answer to an auditor on a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "reports/audit_words.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr int kLeastAuditColumns = 40;
constexpr int kLeastNameColumns = 16;
constexpr int kMostNameColumns = 28;

// Width of the names: that of the longest, if half of the columns remain for the values.
int AuditNameColumns(const std::vector<AuditFact>& facts, int columns) {
  int wide = kLeastNameColumns;
  for (const AuditFact& fact : facts) {
    wide = std::max(wide, DisplayWidth(SafeText(fact.name, 100)) + 1);
  }
  return std::min({wide, kMostNameColumns, std::max(kLeastNameColumns, columns / 2)});
}

// "name   value", the value wrapped behind its column.
std::string AuditPair(const AuditFact& fact, int wide, int columns) {
  const std::string text = Wrapped(SafeText(fact.value, 600), columns, wide);
  const std::string label = Padded(ElideEnd(SafeText(fact.name, 100), wide - 1), wide);
  return label + text.substr(std::min(text.size(), static_cast<std::size_t>(wide)));
}

std::string AuditHeading(std::string_view title) { return fmt::format("\n{}\n", title); }

std::string AuditVerdictLines(const AuditReport& report, int columns, bool color) {
  std::string out = AuditHeading("LAST REPRODUCED");
  if (report.verdicts.empty()) return out + Wrapped("never drilled", columns);
  const std::size_t shown = std::min(report.verdicts.size(), kMostAuditVerdicts);
  std::string_view where;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [said, on] = report.verdicts[i];
    const std::string name(VerdictName(said.verdict));
    out += fmt::format("{}  {} by drill {}, {}\n", FormatMinute(said.decided),
                       Painted(Padded(name, 14), ColourOf(said.verdict), color),
                       SafeText(said.drill_id, 100),
                       Counted(static_cast<std::uint64_t>(std::max(said.reruns, 0)), "rerun"));
    // Mostly that of the one before.
    if (!on.empty() && on != where) {
      out += Wrapped("on " + SafeText(on, 800), columns, 4);
    }
    where = on;
    if (i > 0) continue;
    for (const Reason& reason : said.reasons) {
      out += Wrapped(SafeText(ReasonText(reason), 400), columns, 4);
    }
  }
  if (shown < report.verdicts.size()) {
    out += fmt::format("and {} before\n", report.verdicts.size() - shown);
  }
  return out;
}

std::string AuditEntryLines(const AuditReport& report, int columns, bool color) {
  std::string out = AuditHeading("IN THE LOG");
  const std::size_t shown = std::min(report.entries.size(), kMostAuditEntries);
  for (std::size_t i = 0; i < shown; ++i) {
    const AuditEntryRow& row = report.entries[i];
    const std::string state = Padded(std::string(AuditStateWords(row.state)), 16);
    out +=
        Padded(EntryPlace(row), 12) +
        (IsFault(row.state) ? Painted(state, ColourOf(Verdict::kDrifted), color) : state) +
        ElideEnd(
            SafeText(fmt::format("{} {}, sha256 {}", row.kind, row.name, row.sha256.substr(0, 16)),
                     300),
            std::max(20, columns - 28)) +
        "\n";
  }
  if (shown < report.entries.size())
    out += fmt::format("and {} more\n", report.entries.size() - shown);
  out += Wrapped(report.head.empty()
                     ? fmt::format("the log has {} entries, and no signed head", report.tree_size)
                     : fmt::format("the log has {} entries; its newest head is {}",
                                   report.tree_size, SafeText(report.head, 600)),
                 columns);
  return out;
}

}  // namespace

std::string WriteTerminal(const AuditReport& report, int columns, bool color) {
  columns = std::max(columns, kLeastAuditColumns);
  std::string out = Wrapped(SafeText(report.headline, 1000), columns);
  out += AuditHeading("HOW IT WAS MADE, AND FROM WHAT");
  const int wide = AuditNameColumns(report.made, columns);
  for (const AuditFact& fact : report.made) out += AuditPair(fact, wide, columns);
  out += AuditVerdictLines(report, columns, color);
  out += AuditHeading("EXCEPTIONS");
  for (const AuditException& one : report.exceptions) {
    out += Wrapped(SafeText(ExceptionWords(one), 600), columns);
  }
  if (const std::string none = NoExceptionWords(report); !none.empty()) {
    out += Wrapped(none, columns);
  }
  out += AuditHeading("SIGNED STATEMENTS");
  for (const AuditStatement& one : report.statements) {
    out += Wrapped(
        SafeText(fmt::format("{}{}: {}{}{}", StatementMark(one), one.file, StatementWords(one),
                             one.signed_by.empty() ? "" : ", signed by ", one.signed_by),
                 800),
        columns);
  }
  if (report.statements.empty()) out += "none that was given\n";
  out += AuditEntryLines(report, columns, color);
  for (const std::string& note : report.notes) {
    out += "\n" + Wrapped("Note: " + SafeText(note, 600), columns);
  }
  if (!report.next.empty()) out += "\n" + Wrapped("Next: " + SafeText(report.next, 600), columns);
  return out;
}

}  // namespace rharness
