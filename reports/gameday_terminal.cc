// A game day on a terminal: a table a configuration.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/gameday_report.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostGamedayTables = 30;
constexpr std::size_t kMostGamedayNotes = 12;
constexpr int kFaultColumns = 46;

// The words of a rate in a column, what it came to behind them.
std::string RateLine(const SensitivityRate& rate, const std::string& told, int columns) {
  const int wide = std::min(kFaultColumns, std::max(20, columns / 2));
  return fmt::format("  {}  {}\n", Padded(ElideEnd(SafeText(rate.words, 200), wide), wide),
                     ElideEnd(SafeText(told, 400), std::max(20, columns - wide - 4)));
}

std::string FaultRow(const SensitivityRate& rate, bool planned, int columns) {
  if (planned) return RateLine(rate, rate.example, columns);
  std::string told = RateWords(rate);
  if (!rate.enough && rate.more > 0) {
    told += fmt::format("; {} needed", Counted(static_cast<std::uint64_t>(rate.more), "more run"));
  } else if (!rate.enough) {
    told += "; too few";
  }
  if (rate.undecided > 0) told += fmt::format("; {} undecided", rate.undecided);
  if (rate.not_made > 0) told += fmt::format("; {} not made", rate.not_made);
  return RateLine(rate, told, columns);
}

std::string UnchangedRow(const SensitivityRate& rate, int columns) {
  std::string told = RateWords(rate);
  if (rate.equal > 0) told += fmt::format("; {} equal bit for bit", rate.equal);
  if (rate.undecided > 0) told += fmt::format("; {} undecided", rate.undecided);
  return RateLine(rate, told, columns);
}

// Those without trials, by their reasons.
std::string NotMade(const std::vector<SensitivityRate>& rates, int columns) {
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const SensitivityRate& rate : rates) {
    if (rate.cannot.empty()) continue;
    const auto same =
        std::ranges::find(reasons, rate.cannot, &std::pair<std::string, std::string>::first);
    if (same == reasons.end()) {
      reasons.emplace_back(rate.cannot, rate.words);
    } else {
      same->second += ", " + rate.words;
    }
  }
  std::string out;
  for (const auto& [reason, words] : reasons) {
    out += Wrapped(fmt::format("none of {}: {}", SafeText(words, 400), SafeText(reason, 400)),
                   columns, 2);
  }
  return out;
}

std::string FamilyTable(const SensitivityFamily& family, bool planned, int columns) {
  std::string out = fmt::format("\n{}: {}", SafeText(family.name, 100),
                                Counted(static_cast<std::uint64_t>(family.runs), "run"));
  if (!family.declared.empty()) out += fmt::format(", {}", SafeText(family.declared, 40));
  out += fmt::format(", {}\n", WayWords(family));
  if (!planned) out += " Found, with its interval at 95 %\n";
  for (const SensitivityRate& rate : family.faults) {
    if (rate.cannot.empty()) out += FaultRow(rate, planned, columns);
  }
  out += NotMade(family.faults, columns);
  if (planned) return out;
  out += " Called, and nothing was planted\n";
  for (const SensitivityRate& rate : family.unchanged) {
    if (rate.cannot.empty()) out += UnchangedRow(rate, columns);
  }
  return out + NotMade(family.unchanged, columns);
}

}  // namespace

std::string WriteTerminal(const GamedayReport& report, int columns, bool color) {
  const Verdict tone = report.exit_code == 0 ? Verdict::kIdentical : Verdict::kInconclusive;
  std::string out =
      Painted(Wrapped(SafeText(report.headline, 1000), columns), ColourOf(tone), color);
  if (!report.next.empty()) out += Wrapped("Next: " + SafeText(report.next, 1000), columns);
  const auto& families = report.sensitivity.families;
  for (std::size_t i = 0; i < std::min(families.size(), kMostGamedayTables); ++i) {
    out += FamilyTable(families[i], report.planned, columns);
  }
  if (families.size() > kMostGamedayTables) {
    out += fmt::format("\nand {} more configurations\n", families.size() - kMostGamedayTables);
  }
  out += fmt::format("\n{}: {} s of run time as recorded\n",
                     Counted(static_cast<std::uint64_t>(report.reruns), "rerun"),
                     FormatNumber(report.run_seconds, 3));
  for (std::size_t i = 0; i < std::min(report.notes.size(), kMostGamedayNotes); ++i) {
    out += Wrapped("Note: " + SafeText(report.notes[i], 500), columns);
  }
  if (report.notes.size() > kMostGamedayNotes) {
    out += fmt::format("and {} more notes\n", report.notes.size() - kMostGamedayNotes);
  }
  return out;
}

}  // namespace rharness
