// Properties on a terminal: a line a property, and why.
#include <fmt/format.h>

#include <algorithm>

#include "reports/properties_report.h"
#include "reports/properties_words.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostPropertyLines = 200;
constexpr std::size_t kMostPropertyReasons = 4;
constexpr int kStateColumns = 10;

std::string PlannedLines(const PropertyResult& result, int columns) {
  std::string out;
  for (const std::string& leg : result.legs) out += Wrapped(SafeText(leg, 300), columns, 14);
  return out;
}

std::string ResultLines(const PropertyResult& result, bool planned, int columns, bool color) {
  const std::string state = planned ? "" : StateWord(result.state);
  const std::string name = SafeText(result.name, 120);
  const int rest = std::max(20, columns - kStateColumns - DisplayWidth(name) - 6);
  std::string out = fmt::format(
      "  {}  {}  {}\n", Painted(Padded(state, kStateColumns), ColourOf(ToneOf(result)), color),
      name, ElideEnd(SafeText(result.claim, 400), rest));
  if (planned) return out + PlannedLines(result, columns);
  if (result.newly_lost) out += Wrapped("lost since: " + BeforeWords(result), columns, 14);
  if (result.state == PropertyState::kHeld) return out;
  if (result.reasons.empty()) return out + Wrapped(SafeText(result.headline, 800), columns, 14);
  const std::size_t shown = std::min(result.reasons.size(), kMostPropertyReasons);
  for (std::size_t i = 0; i < shown; ++i) {
    out += Wrapped(SafeText(result.reasons[i].message, 600), columns, 14);
  }
  if (result.reasons.size() > shown) {
    out += fmt::format("              and {} more, in properties.json\n",
                       result.reasons.size() - shown);
  }
  return out;
}

}  // namespace

std::string WriteTerminal(const PropertiesReport& report, int columns, bool color) {
  const Verdict tone = report.exit_code == 0   ? Verdict::kIdentical
                       : report.exit_code == 1 ? Verdict::kDrifted
                                               : Verdict::kInconclusive;
  std::string out =
      Painted(Wrapped(SafeText(report.headline, 1000), columns), ColourOf(tone), color);
  if (!report.next.empty()) out += Wrapped("Next: " + SafeText(report.next, 1000), columns);
  std::string run;
  for (std::size_t i = 0; i < std::min(report.results.size(), kMostPropertyLines); ++i) {
    const PropertyResult& result = report.results[i];
    if (run != result.run_id) out += fmt::format("\n{}\n", SafeText(result.run_id, 200));
    run = result.run_id;
    out += ResultLines(result, report.planned, columns, color);
  }
  if (report.results.size() > kMostPropertyLines) {
    out += fmt::format("\nand {} more properties\n", report.results.size() - kMostPropertyLines);
  }
  out += fmt::format("\n{}: {} s of run time as recorded\n",
                     Counted(static_cast<std::uint64_t>(report.legs), "leg"),
                     FormatNumber(report.run_seconds, 3));
  for (const std::string& note : report.notes) {
    out += Wrapped("Note: " + SafeText(note, 600), columns);
  }
  return out;
}

}  // namespace rharness
