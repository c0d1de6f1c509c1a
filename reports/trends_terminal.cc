// Trends on a terminal: rates, changes with coincidences, lifetimes of runs, dependencies.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/terminal_parts.h"
#include "reports/text.h"
#include "reports/trends_words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostFamilyLines = 30;
constexpr std::size_t kMostAxisLines = 8;  // of images, of drivers, of GPUs
constexpr std::size_t kMostOnlyLines = 10;
constexpr std::size_t kMostRunLines = 20;
constexpr int kLeastTrendColumns = 40;
constexpr int kTrendNameColumns = 34;
constexpr int kLeastTrendNameColumns = 17;
constexpr int kTrendOtherColumns = 63;

// What is left of a line beside the other columns.
int NameColumns(int columns) {
  return std::clamp(columns - kTrendOtherColumns, kLeastTrendNameColumns, kTrendNameColumns);
}

std::string TrendRow(const TrendSeries& series, WallTime at, int columns) {
  const int name = NameColumns(columns);
  const std::string value = series.by == "all" ? "all runs" : SafeText(series.value, 300);
  std::string line =
      Padded(series.by == "all" ? "" : series.by, 7) + Padded(ElideMiddle(value, name), name) + " ";
  line += Padded(TrendRateWords(series.counts), 24) + " ";
  line += Padded(OpenWords(series.counts), 10) + " ";
  line += Padded(LastWeekWords(series, at), 22);
  return ElideEnd(line.substr(0, line.find_last_not_of(' ') + 1), columns) + "\n";
}

std::string TrendTable(const TrendsReport& report, int columns) {
  std::string out;
  std::map<std::string, std::size_t> shown;
  for (const TrendSeries& series : report.series) {
    const std::size_t most = series.by == "family" ? kMostFamilyLines : kMostAxisLines;
    if (shown[series.by]++ < most) out += TrendRow(series, report.at, columns);
  }
  for (const auto& [by, count] : shown) {
    const std::size_t most = by == "family" ? kMostFamilyLines : kMostAxisLines;
    if (count > most) out += fmt::format("and {} more by {}\n", count - most, by);
  }
  return out;
}

std::string ChangeLines(const TrendsReport& report, int columns, bool color) {
  std::string out;
  for (const TrendSeries& series : report.series) {
    for (const TrendChange& change : series.changes) {
      const Verdict colour =
          change.after < change.before ? Verdict::kDrifted : Verdict::kEquivalent;
      out += Painted(
          Wrapped(fmt::format("{}: {}", SafeText(series.value, 200), change.words), columns),
          ColourOf(colour), color);
      for (const TrendCoincidence& one : change.coincidences) {
        out += Wrapped(CoincidenceWords(one), columns, 2);
      }
    }
  }
  return out.empty() ? out
                     : "\n" + Wrapped("Changes (what coincides is not yet a cause)", columns) + out;
}

std::string OnlyLines(const TrendsReport& report, int columns) {
  std::string out;
  for (std::size_t i = 0; i < std::min(report.only.size(), kMostOnlyLines); ++i) {
    out += Wrapped(OnlyWords(report.only[i]), columns, 2);
  }
  if (report.only.size() > kMostOnlyLines) {
    out += fmt::format("  and {} more\n", report.only.size() - kMostOnlyLines);
  }
  return out.empty() ? out : "\nShown to reproduce with one alone\n" + out;
}

std::string ChanceLines(const TrendsReport& report, int columns) {
  if (!report.last_chance) return "";
  const LastChance& chance = *report.last_chance;
  std::string out = "\n" + Wrapped(ChanceWords(chance), columns);
  for (std::size_t i = 0; i < std::min(chance.list.size(), kMostRunLines); ++i) {
    const LastChanceRun& run = chance.list[i];
    out += Wrapped(
        fmt::format("{} ({}): {}", SafeText(run.run_id, 150), SafeText(run.family, 150), run.words),
        columns, 2);
  }
  const std::int64_t all = chance.lost + chance.unproven;
  const auto shown = static_cast<std::int64_t>(std::min(chance.list.size(), kMostRunLines));
  if (all > shown) out += fmt::format("  and {} more\n", all - shown);
  return out;
}

}  // namespace

std::string WriteTerminal(const TrendsReport& report, int columns, bool color) {
  columns = std::max(columns, kLeastTrendColumns);
  std::string out = Wrapped(SafeText(report.headline, 1000), columns);
  if (report.verdicts > 0) {
    const std::string head = Padded("by", 7) + Padded("", NameColumns(columns)) +
                             " reproducible (95 %)      open       last week judged";
    out += "\n" + ElideEnd(head, columns) + "\n" + TrendTable(report, columns);
  }
  out += ChangeLines(report, columns, color);
  if (!report.survival.empty() &&
      report.survival.front().runs + report.survival.front().never_seen > 0) {
    out += "\n" + Wrapped(SurvivalWords(report.survival.front()), columns);
  }
  out += OnlyLines(report, columns) + ChanceLines(report, columns);
  for (const std::string& note : report.notes) {
    out += "\n" + Wrapped("Note: " + SafeText(note, 600), columns);
  }
  if (!report.next.empty()) out += "\n" + Wrapped("Next: " + SafeText(report.next, 600), columns);
  return out;
}

}  // namespace rharness
