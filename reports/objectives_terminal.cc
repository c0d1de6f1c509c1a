// Objectives on a terminal: one row per family, and missed ones in sentences.
#include <fmt/format.h>

#include <algorithm>

#include "reports/objectives_words.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostObjectiveRows = 60;
constexpr std::size_t kMostMissedLines = 20;
constexpr std::size_t kMostBesideLines = 10;
constexpr int kLeastObjectiveColumns = 40;

struct ObjectiveColumn {
  std::string_view head;
  int columns;
};
constexpr ObjectiveColumn kObjectiveColumns[] = {{"state", 10},  {"reproducible (95 %)", 22},
                                                 {"budget", 10}, {"judged", 10},
                                                 {"open", 4},    {"waits", 6},
                                                 {"flaky", 8}};

// Width of the names: their own, within the room left by the other columns.
int NameColumns(const ObjectivesReport& report, int columns) {
  constexpr int kLeastName = 12;
  constexpr int kOthers = 77;
  std::size_t longest = kLeastName;
  for (const FamilyObjectives& family : report.families) {
    longest = std::max(longest, std::min<std::size_t>(SafeText(family.family, 200).size(), 60));
  }
  return std::min(static_cast<int>(longest), std::max(kLeastName, columns - kOthers));
}

std::string ObjectiveCells(const std::vector<std::string>& cells, int columns, bool color,
                           Verdict colour) {
  int left = columns;
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const int wide = kObjectiveColumns[i].columns;
    if (left < wide) break;
    const std::string cell = Padded(ElideEnd(cells[i], wide), wide);
    line += (i == 0 ? Painted(cell, ColourOf(colour), color) : cell) + " ";
    left -= wide + 1;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string ObjectiveRow(const FamilyObjectives& family, int name, int columns, bool color) {
  const std::string state = family.checks.empty() ? "-" : ObjectiveBadge(family.state());
  const std::int64_t judged = family.good + family.bad + family.open;
  return Padded(ElideEnd(SafeText(family.family, 200), name), name) + " " +
         ObjectiveCells(
             {state, RateWords(family), BudgetWords(family), ShareWords(judged, family.runs),
              std::to_string(family.open), DaysWords(family.oldest_days),
              ShareWords(family.flipped, family.checked_twice)},
             columns - name - 1, color, VerdictOf(family.state())) +
         "\n";
}

std::string ObjectiveHead(int name, int columns) {
  std::vector<std::string> heads;
  for (const ObjectiveColumn& one : kObjectiveColumns) heads.emplace_back(one.head);
  return Padded("family", name) + " " +
         ObjectiveCells(heads, columns - name - 1, false, Verdict::kInconclusive) + "\n";
}

// Missed and unknown objectives, a sentence each.
std::string CheckLines(const ObjectivesReport& report, int columns) {
  std::string out;
  std::size_t told = 0;
  for (const FamilyObjectives& family : report.families) {
    for (const ObjectiveCheck& check : family.checks) {
      if (check.state == ObjectiveState::kMet || told++ >= kMostMissedLines) continue;
      const std::string owner =
          family.owner.empty() ? "" : fmt::format(" [{}]", SafeText(family.owner, 100));
      out += Wrapped(fmt::format("{}: {}{}{}", SafeText(family.family, 200),
                                 check.state == ObjectiveState::kUnknown ? "not known: " : "",
                                 SafeText(check.words, 600), owner),
                     columns);
    }
  }
  if (told > kMostMissedLines) out += fmt::format("and {} more\n", told - kMostMissedLines);
  return out.empty() ? out : "\n" + out;
}

// What else was counted, a sentence a family.
std::string BesideLines(const ObjectivesReport& report, int columns) {
  std::string out;
  std::size_t told = 0;
  for (const FamilyObjectives& family : report.families) {
    std::string words;
    const auto add = [&](const std::string& more) { words += (words.empty() ? "" : "; ") + more; };
    if (family.flakes.all > 0) add("flaky with nothing changed " + ShareWords(family.flakes));
    if (family.attested.part > 0) add("signed " + ShareWords(family.attested));
    if (family.ratio_sd) add("a rerun takes " + RuntimeWords(family));
    if (words.empty() || told++ >= kMostBesideLines) continue;
    out += Wrapped(fmt::format("{}: {}", SafeText(family.family, 200), words), columns);
  }
  return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string WriteTerminal(const ObjectivesReport& report, int columns, bool color) {
  columns = std::max(columns, kLeastObjectiveColumns);
  std::string out = Wrapped(SafeText(report.headline, 1000), columns);
  const int name = NameColumns(report, columns);
  if (!report.families.empty()) out += "\n" + ObjectiveHead(name, columns);
  for (std::size_t i = 0; i < std::min(report.families.size(), kMostObjectiveRows); ++i) {
    out += ObjectiveRow(report.families[i], name, columns, color);
  }
  if (report.families.size() > kMostObjectiveRows) {
    out += fmt::format("and {}\n",
                       Counted(report.families.size() - kMostObjectiveRows, "more family"));
  }
  out += CheckLines(report, columns);
  out += BesideLines(report, columns);
  for (const std::string& note : report.notes) {
    out += "\n" + Wrapped("Note: " + SafeText(note, 600), columns);
  }
  if (!report.next.empty()) out += "\n" + Wrapped("Next: " + SafeText(report.next, 600), columns);
  return out;
}

}  // namespace rharness
