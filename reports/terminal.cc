// The report as a summary table for a terminal: worst first, counts and the next step last.
#include <fmt/format.h>

#include <algorithm>

#include "reports/families.h"
#include "reports/model.h"
#include "reports/outputs.h"
#include "reports/sensitivity_parts.h"
#include "reports/summary.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr int kVerdictColumns = 16;  // "≠ not comparable"
constexpr int kTimeColumns = 11;     // "59 min 59 s"
constexpr int kLeastColumns = 20;
constexpr int kRerunColumns = 6;
constexpr int kLeastNameColumns = 12;
constexpr int kGap = 2;
constexpr std::size_t kMostPassing = 30;  // beyond: counted, not listed
constexpr std::size_t kMostOthers = 200;
constexpr std::size_t kMostTold = 6;

struct Layout {
  int columns = 80;
  int name = 28;      // width of the run column
  bool table = true;  // false: too narrow, one line an item
};

Layout LayoutOf(const Summary& summary, int columns) {
  Layout layout;
  layout.columns = std::max(columns, kLeastColumns);
  int longest = 3;
  for (const ReportRun* run : summary.order) {
    longest = std::max(longest, DisplayWidth(SafeText(run->run_id, 200)));
  }
  const int rest = layout.columns - kVerdictColumns - kTimeColumns - kRerunColumns - 3 * kGap;
  layout.table = rest >= kLeastNameColumns;
  layout.name = layout.table ? std::min(longest, rest) : layout.columns - kGap;
  return layout;
}

// One line a run.
void Row(const ReportRun& run, const Layout& layout, bool color, std::string* out) {
  const std::string badge = Painted(Padded(ElideEnd(VerdictBadge(run.verdict), layout.columns),
                                           layout.table ? kVerdictColumns : 0),
                                    ColourOf(run.verdict), color);
  const std::string name = ElideMiddle(SafeText(run.run_id, 200), layout.name);
  if (layout.table) {
    *out += fmt::format("{}  {}  {}  {}\n", badge, Padded(name, layout.name),
                        RightAligned(std::to_string(run.reruns.size()), kRerunColumns),
                        RightAligned(RerunTime(run), kTimeColumns));
  } else {
    *out += fmt::format("{}\n  {}\n", badge, name);
  }
}

// After the last listed run with this headline, if there is something to explain.
void Headline(const ReportRun& run, const ReportRun* next, const Summary& summary,
              const Layout& layout, std::string* out) {
  if (Reproduced(run.verdict) || run.headline.empty()) return;
  const bool goes_on =
      next != nullptr && next->verdict == run.verdict && next->headline == run.headline;
  if (goes_on) return;
  const std::size_t runs = RunsWithHeadline(summary.told, run.headline);
  const int indent = layout.table ? kVerdictColumns + kGap : kGap;
  *out += Wrapped((runs > 1 ? Counted(runs, "run") + ": " : "") + SafeText(run.headline, 400),
                  layout.columns, indent);
  if (run.verdict != Verdict::kFailed) return;
  const ReportRun& first = **std::ranges::find(summary.order, run.headline, &ReportRun::headline);
  *out += Wrapped((runs > 1 ? SafeText(first.run_id, 120) + ": " : "") + ErrorOf(first),
                  layout.columns, indent);
}

void Heading(const Layout& layout, std::string* out) {
  if (!layout.table) return;
  *out += fmt::format("{}  {}  {}  {}\n", Padded("VERDICT", kVerdictColumns),
                      Padded("RUN", layout.name), RightAligned("RERUNS", kRerunColumns),
                      RightAligned("TIME", kTimeColumns));
}

void Rows(const Summary& summary, const Layout& layout, bool color, std::string* out) {
  if (!summary.order.empty()) Heading(layout, out);
  std::size_t others = 0;
  std::size_t passing = 0;
  for (std::size_t i = 0; i < summary.order.size(); ++i) {
    const ReportRun* run = summary.order[i];
    const std::size_t most = Reproduced(run->verdict) ? kMostPassing : kMostOthers;
    std::size_t& listed = Reproduced(run->verdict) ? passing : others;
    if (++listed > most) continue;
    Row(*run, layout, color, out);
    const bool last = listed == most || i + 1 == summary.order.size();
    Headline(*run, last ? nullptr : summary.order[i + 1], summary, layout, out);
  }
  if (others > kMostOthers) {
    *out += ElideEnd(fmt::format("… and {} that did not reproduce",
                                 Counted(others - kMostOthers, "more run")),
                     layout.columns) +
            "\n";
  }
  if (passing > kMostPassing) {
    *out += ElideEnd(fmt::format("… and {} that reproduced",
                                 Counted(passing - kMostPassing, "more run")),
                     layout.columns) +
            "\n";
  }
  if (!summary.order.empty()) *out += "\n";
}

// Common statements of several runs, without headlines, which follow their rows.
void Told(const Summary& summary, std::size_t most, const Layout& layout, std::string* out) {
  std::size_t told = 0;
  for (const ToldOnce& one : summary.told) {
    if (one.kind == ToldKind::kHeadline || ++told > most) continue;
    *out += Wrapped(ToldWords(one), layout.columns);
  }
  if (told > most) {
    *out += Wrapped(fmt::format("… and {} that several runs share; see the page",
                                Counted(told - most, "more thing")),
                    layout.columns);
  }
  if (told > 0) *out += "\n";
}

std::string FamilyLine(const Report& report) {
  if (report.families.size() < 2) return "";  // the answer names a single one
  std::string line = "Families: ";
  std::string_view comma;
  for (const FamilyComparison& family : report.families) {
    line += fmt::format("{}{} {} ({})", comma, SafeText(family.name, 160),
                        VerdictLabel(family.verdict), FamilyRuns(family));
    comma = ", ";
  }
  return line + ".";
}

std::string OutputLine(const Report& report) {
  const std::vector<std::string> lines = OutputLines(report, false);
  if (lines.empty()) return "";
  return "Output " + lines.front() +
         (lines.size() == 1 ? "." : fmt::format("; {}.", Counted(lines.size() - 1, "more output")));
}

// A fully reproduced drill: counts, families, changes, a line or two each.
std::string GreenTerminal(const Report& report, const Summary& summary, int columns, bool color) {
  constexpr std::size_t kLines = 9;  // the tenth has the page's path
  constexpr std::size_t kLinesOfRemark = 2;
  std::vector<std::string> remarks = {FamilyLine(report), ChangesInShort(report),
                                      OutputLine(report), TerminalSensitivity(report, 400)};
  for (const std::string& note : report.notes) remarks.push_back("Note: " + SafeText(note, 500));
  std::erase(remarks, "");
  std::vector<std::string> lines = SplitLines(CountsLine(report.counts, "run", columns, color));
  for (const std::string& line : WrappedTo(summary.answer, columns, kLinesOfRemark)) {
    lines.push_back(Painted(line, color ? "\x1b[1m" : "", color));
  }
  std::size_t said = 0;
  for (; said < remarks.size(); ++said) {
    const std::vector<std::string> next = WrappedTo(remarks[said], columns, kLinesOfRemark);
    const std::size_t after = said + 1 < remarks.size() ? 1 : 0;  // room for the count of the rest
    if (lines.size() + next.size() + after > kLines) break;
    lines.insert(lines.end(), next.begin(), next.end());
  }
  if (said < remarks.size()) {
    lines.push_back(ElideEnd(
        Counted(remarks.size() - said, "more remark") + ": see the page, or use -v.", columns));
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace

std::string WriteTerminal(const Report& report, int columns, bool color, bool verbose) {
  const Summary summary = Summarize(report);
  const Layout layout = LayoutOf(summary, columns);
  if (report.exit_code == 0 && !verbose) {
    return GreenTerminal(report, summary, layout.columns, color);
  }
  std::string out;
  Rows(summary, layout, color, &out);
  out += TerminalFamilies(report, layout.columns, color);
  Told(summary, verbose ? summary.told.size() : kMostTold, layout, &out);
  out += TerminalOutputs(report, layout.columns, verbose);
  out += TerminalSensitivity(report, layout.columns);
  for (const std::string& note : report.notes) {
    out += Wrapped("Note: " + SafeText(note, 500), layout.columns);
  }
  out += CountsLine(report.counts, "run", layout.columns, color) + "\n";
  out += Painted(Wrapped(summary.answer, layout.columns), color ? "\x1b[1m" : "", color);
  out += Wrapped("Next: " + summary.next_step, layout.columns);
  return out;
}

}  // namespace rharness
