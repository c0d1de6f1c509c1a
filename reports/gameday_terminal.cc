// A game day on a terminal: a table a configuration.
#include <fmt/format.h>

#include <algorithm>

#include "reports/gameday_report.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostGamedayTables = 30;
constexpr std::size_t kMostGamedayNotes = 12;
constexpr int kFaultColumns = 46;

std::string RateRow(const SensitivityRate& rate, bool planned, int columns) {
  const int wide = std::min(kFaultColumns, std::max(20, columns / 2));
  const std::string words = Padded(ElideEnd(SafeText(rate.words, 200), wide), wide);
  const auto rest = [&](const std::string& text) {
    return fmt::format("  {}  {}\n", words,
                       ElideEnd(SafeText(text, 400), std::max(20, columns - wide - 4)));
  };
  if (!rate.cannot.empty()) return rest("not planted: " + rate.cannot);
  if (planned) return rest(rate.example);
  std::string told = RateWords(rate);
  if (rate.undecided > 0) told += fmt::format(", {} undecided", rate.undecided);
  if (rate.not_made > 0) told += fmt::format(", {} not made", rate.not_made);
  if (!rate.enough) {
    told += rate.more > 0 ? fmt::format(" - {} more needed",
                                        Counted(static_cast<std::uint64_t>(rate.more), "run"))
                          : " - too few";
  }
  return rest(told);
}

std::string UnchangedRow(const SensitivityRate& rate, int columns) {
  SensitivityRate shown = rate;
  if (!shown.cannot.empty()) shown.cannot.clear();
  const int wide = std::min(kFaultColumns, std::max(20, columns / 2));
  std::string told = rate.cannot;
  if (told.empty()) {
    told = rate.trials == 0 ? "none" : RateWords(rate);
    if (rate.equal > 0) told += fmt::format(", {} equal bit for bit", rate.equal);
    if (rate.undecided > 0) told += fmt::format(", {} undecided", rate.undecided);
  }
  return fmt::format("  {}  {}\n", Padded(ElideEnd(SafeText(rate.words, 200), wide), wide),
                     ElideEnd(SafeText(told, 400), std::max(20, columns - wide - 4)));
}

std::string FamilyTable(const SensitivityFamily& family, bool planned, int columns) {
  std::string out = fmt::format("\n{}: {}", SafeText(family.name, 100),
                                Counted(static_cast<std::uint64_t>(family.runs), "run"));
  if (!family.declared.empty()) out += fmt::format(", {}", SafeText(family.declared, 40));
  if (family.together > 1) out += fmt::format(", {} drilled together", family.together);
  out += planned ? "\n" : "\n found, with the interval at 95 %\n";
  for (const SensitivityRate& rate : family.faults) out += RateRow(rate, planned, columns);
  if (planned) return out;
  out += " called, and nothing was planted\n";
  for (const SensitivityRate& rate : family.unchanged) out += UnchangedRow(rate, columns);
  return out;
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
