// A comparison on one screen: the verdict first, then its evidence; for a set the worst pairs.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/comparison_report.h"
#include "reports/comparison_summary.h"
#include "reports/terminal_parts.h"
#include "reports/terminal_sections.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr int kLeastPairColumns = 20;
constexpr int kTitleColumns = 9;         // "findings" and a space
constexpr int kLeastTitleColumns = 40;   // of the screen; below it sections have no titles
constexpr int kPairVerdictColumns = 16;  // "≠ not comparable"
constexpr int kMostNameColumns = 32;
constexpr std::size_t kHeadlineLines = 2;
constexpr std::size_t kFewPairs = 10;  // that are listed even when they agree
constexpr char kBold[] = "\x1b[1m";

struct Screen {
  int columns = 80;
  int rows = 24;
  bool color = false;
  std::vector<std::string> lines;
};

void AddSection(const TerminalSection& section, Screen* screen) {
  const bool titled = screen->columns >= kLeastTitleColumns;
  const std::string empty(static_cast<std::size_t>(titled ? kTitleColumns : 0), ' ');
  std::string title =
      titled ? Painted(Padded(section.title, kTitleColumns), kBold, screen->color) : empty;
  const auto add = [&](const std::string& text) {
    screen->lines.push_back(title + text);
    title = empty;
  };
  for (std::size_t i = 0; i < section.shown; ++i) {
    for (const TerminalLine& line : section.items[i]) {
      if (line.badge.empty()) {
        add(line.text);
        continue;
      }
      const bool painted = screen->color && line.colour.has_value();
      add(Painted(line.badge, painted ? ColourOf(*line.colour) : "", painted) + " " + line.text);
    }
  }
  if (section.shown < section.all) {
    const std::string words = section.shown == 0 ? "… " + Counted(section.all, section.noun)
                                                 : "… and " + Counted(section.all - section.shown,
                                                                      "more " + section.noun);
    add(ElideEnd(words, screen->columns - DisplayWidth(empty)));
  }
}

void AddVerdict(const ComparisonSet& set, const ComparisonSummary& summary, Screen* screen) {
  const Comparison& only = *summary.order.front();
  const std::string badge = ElideEnd(VerdictBadge(only.verdict), screen->columns);
  const std::string title =
      set.title.empty()
          ? fmt::format("{} against {}", SafeText(only.a.path, 200), SafeText(only.b.path, 200))
          : SafeText(set.title, 400);
  const int room = screen->columns - DisplayWidth(badge) - 2;
  screen->lines.push_back(Painted(badge, ColourOf(only.verdict), screen->color) +
                          (room > 4 ? "  " + ElideMiddle(title, room) : ""));
  for (std::string& line : WrappedTo(summary.answer, screen->columns, kHeadlineLines)) {
    screen->lines.push_back(std::move(line));
  }
}

void WriteSingle(const ComparisonSet& set, const ComparisonSummary& summary, Screen* screen) {
  AddVerdict(set, summary, screen);
  const int titles = screen->columns >= kLeastTitleColumns ? kTitleColumns : 0;
  std::vector<TerminalSection> sections =
      SectionsOf(*summary.order.front(), set.notes, screen->columns - titles);
  const std::size_t dropped =
      FitSections(&sections, screen->rows - static_cast<int>(screen->lines.size()));
  for (const TerminalSection& section : sections) AddSection(section, screen);
  if (dropped > 0) {
    screen->lines.push_back(ElideEnd("… and " + Counted(dropped, "more section"), screen->columns));
  }
}

// "… and 83 more, all equivalent"
std::string RestWords(const ComparisonSummary& summary, std::size_t shown) {
  std::map<Verdict, std::size_t> counts;
  for (std::size_t i = shown; i < summary.order.size(); ++i) ++counts[summary.order[i]->verdict];
  const std::string count = FormatCount(summary.order.size() - shown);
  if (counts.size() == 1) {
    return fmt::format("… and {} more, all {}", count, VerdictLabel(counts.begin()->first));
  }
  std::vector<std::string> parts;
  for (const Verdict verdict : kVerdicts) {
    if (counts.contains(verdict)) {
      parts.push_back(fmt::format("{} {}", FormatCount(counts[verdict]), VerdictLabel(verdict)));
    }
  }
  return fmt::format("… and {} more: {}", count, fmt::join(parts, ", "));
}

void AddRow(const Comparison& comparison, const std::string& name, int name_columns,
            Screen* screen) {
  const std::string badge = Painted(Padded(VerdictBadge(comparison.verdict), kPairVerdictColumns),
                                    ColourOf(comparison.verdict), screen->color);
  const int room = screen->columns - kPairVerdictColumns - name_columns - 4;
  screen->lines.push_back(room < 8
                              ? badge + "  " + name
                              : fmt::format("{}  {}  {}", badge, Padded(name, name_columns),
                                            ElideEnd(SafeText(comparison.headline, 400), room)));
}

int NameColumns(const ComparisonSet& set, const ComparisonSummary& summary, std::size_t rows,
                int columns) {
  int longest = 4;
  for (std::size_t i = 0; i < std::min(rows, summary.order.size()); ++i) {
    const auto place = static_cast<std::size_t>(summary.order[i] - set.comparisons.data()) + 1;
    longest = std::max(longest, DisplayWidth(PairName(*summary.order[i], place)));
  }
  return std::min({longest, kMostNameColumns, std::max(columns - kPairVerdictColumns - 2, 1)});
}

void WritePairs(const ComparisonSet& set, const ComparisonSummary& summary, Screen* screen) {
  const std::size_t before = screen->lines.size();
  for (std::string& line : WrappedTo(summary.answer, screen->columns, 1)) {
    screen->lines.push_back(Painted(line, kBold, screen->color));
  }
  for (std::string& line :
       SplitLines(CountsLine(set.counts, "pair", screen->columns, screen->color))) {
    screen->lines.push_back(std::move(line));
  }
  std::vector<std::string> end = WrappedTo("Next: " + summary.next_step, screen->columns, 2);
  if (!set.notes.empty()) {
    const std::string more =
        set.notes.size() > 1 ? fmt::format(" (and {} more)", set.notes.size() - 1) : std::string();
    const int room = screen->columns - DisplayWidth(more);
    end.insert(end.begin(), ElideEnd("Note: " + SafeText(set.notes.front(), 400), room) + more);
  }
  const int room = screen->rows - static_cast<int>(screen->lines.size() - before + end.size());
  const auto most = static_cast<std::size_t>(std::max(room, 0));
  const std::size_t pairs = summary.order.size();
  const std::size_t wanted = pairs <= kFewPairs ? pairs : static_cast<std::size_t>(summary.open);
  // One line is for the count of the others.
  const std::size_t fitting = most == 0 ? 0 : most - (wanted < pairs || pairs > most ? 1 : 0);
  const std::size_t shown = std::min(wanted, fitting);
  const int name_columns = NameColumns(set, summary, shown, screen->columns);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto place = static_cast<std::size_t>(summary.order[i] - set.comparisons.data()) + 1;
    names.push_back(PairName(*summary.order[i], place));
  }
  names = ElideApart(names, name_columns);
  for (std::size_t i = 0; i < shown; ++i) {
    AddRow(*summary.order[i], names[i], name_columns, screen);
  }
  if (shown < pairs) {
    screen->lines.push_back(ElideEnd(RestWords(summary, shown), screen->columns));
  }
  for (std::string& line : end) screen->lines.push_back(std::move(line));
}

}  // namespace

std::string WriteTerminal(const ComparisonSet& set, int columns, int rows, bool color) {
  const ComparisonSummary summary = Summarize(set);
  Screen screen{std::max(columns, kLeastPairColumns), std::max(rows, 1), color, {}};
  IsSingle(set) ? WriteSingle(set, summary, &screen) : WritePairs(set, summary, &screen);
  std::string out;
  const std::size_t shown = std::min(screen.lines.size(), static_cast<std::size_t>(screen.rows));
  for (std::size_t i = 0; i < shown; ++i) out += screen.lines[i] + "\n";
  return out;
}

}  // namespace rharness
