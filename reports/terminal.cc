// The report as a summary table for a terminal: worst first, counts and the next step last.
#include <fmt/format.h>

#include <algorithm>

#include "reports/model.h"
#include "reports/summary.h"
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

std::string_view ColourOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kIdentical:
    case Verdict::kEquivalent:
      return "\x1b[32m";
    case Verdict::kDrifted:
      return "\x1b[1;31m";
    case Verdict::kFailed:
    case Verdict::kInfra:
      return "\x1b[35m";
    case Verdict::kInconclusive:
    case Verdict::kNotComparable:
      return "\x1b[33m";
  }
  Abort("unknown Verdict");
}

std::string Painted(std::string_view text, std::string_view colour, bool color) {
  return color ? fmt::format("{}{}\x1b[0m", colour, text) : std::string(text);
}

std::string Padded(std::string text, int columns) {
  const int missing = columns - DisplayWidth(text);
  if (missing > 0) text.append(static_cast<std::size_t>(missing), ' ');
  return text;
}

std::string Badge(Verdict verdict) {
  return fmt::format("{} {}", VerdictSign(verdict), VerdictLabel(verdict));
}

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

// Breaks at spaces; every line starts with `indent` spaces; a word longer than a line is cut.
std::string Wrapped(const std::string& text, int columns, int indent = 0) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  const int room = std::max(columns - indent, 1);
  std::string out = margin;
  int used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = ElideMiddle(text.substr(at, end - at), room);
    const int width = DisplayWidth(word);
    if (used > 0 && used + 1 + width > room) {
      out += "\n" + margin;
      used = 0;
    }
    if (used > 0) {
      out += " ";
      ++used;
    }
    out += word;
    used += width;
    at = end + 1;
  }
  return out + "\n";
}

std::string RightAligned(const std::string& text, int columns) {
  const int missing = std::max(columns - DisplayWidth(text), 0);
  return std::string(static_cast<std::size_t>(missing), ' ') + text;
}

// One line a run, and the headline below it where there is something to explain.
void Row(const ReportRun& run, const Layout& layout, bool color, std::string* out) {
  const std::string badge = Painted(
      Padded(ElideEnd(Badge(run.verdict), layout.columns), layout.table ? kVerdictColumns : 0),
      ColourOf(run.verdict), color);
  const std::string name = ElideMiddle(SafeText(run.run_id, 200), layout.name);
  if (layout.table) {
    *out += fmt::format("{}  {}  {}  {}\n", badge, Padded(name, layout.name),
                        RightAligned(std::to_string(run.reruns.size()), kRerunColumns),
                        RightAligned(RerunTime(run), kTimeColumns));
  } else {
    *out += fmt::format("{}\n  {}\n", badge, name);
  }
  if (Reproduced(run.verdict) || run.headline.empty()) return;
  const int indent = layout.table ? kVerdictColumns + kGap : kGap;
  *out += Wrapped(SafeText(run.headline, 400), layout.columns, indent);
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
  for (const ReportRun* run : summary.order) {
    std::size_t& listed = Reproduced(run->verdict) ? passing : others;
    if (++listed <= (Reproduced(run->verdict) ? kMostPassing : kMostOthers)) {
      Row(*run, layout, color, out);
    }
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

// "3 drifted, 9 identical" within the columns; colours take none.
std::string Counts(const Report& report, int columns, bool color) {
  std::string line;
  int used = 0;
  for (const Verdict verdict : kVerdicts) {
    const auto count = report.counts.find(std::string(VerdictName(verdict)));
    if (count == report.counts.end() || count->second == 0) continue;
    const std::string part =
        ElideEnd(fmt::format("{} {}", count->second, VerdictLabel(verdict)), columns - 1);
    const int width = DisplayWidth(part);
    if (used > 0) {
      const bool breaks = used + 3 + width > columns;
      line += breaks ? ",\n" : ", ";
      used = breaks ? 0 : used + 2;
    }
    line += Painted(part, ColourOf(verdict), color);
    used += width;
  }
  return line.empty() ? "0 runs" : line;
}

}  // namespace

std::string WriteTerminal(const Report& report, int columns, bool color) {
  const Summary summary = Summarize(report);
  const Layout layout = LayoutOf(summary, columns);
  std::string out;
  Rows(summary, layout, color, &out);
  for (const std::string& note : report.notes) {
    out += Wrapped("Note: " + SafeText(note, 500), layout.columns);
  }
  out += Counts(report, layout.columns, color) + "\n";
  out += Painted(Wrapped(summary.answer, layout.columns), color ? "\x1b[1m" : "", color);
  out += Wrapped("Next: " + summary.next_step, layout.columns);
  return out;
}

}  // namespace rharness
