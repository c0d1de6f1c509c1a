// A fleet on one screen: each odd node with the facts that set it apart and the probes that show
// it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compare/verdict.h"
#include "reports/fingerprint_grid.h"
#include "reports/fingerprint_report.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr int kLeastFleetColumns = 20;
constexpr std::size_t kMostFactLines = 4;
constexpr std::size_t kMostProbeWords = 6;

std::string FleetLine(std::string_view text, int columns) {
  return ElideEnd(SafeText(text), std::max(columns, kLeastFleetColumns));
}

std::string MajorityWords(const std::vector<std::optional<std::string>>& values) {
  std::vector<std::string> words;
  for (const auto& value : values) words.push_back(FactWords(value));
  return fmt::format("{}", fmt::join(words, " or "));
}

std::string ProbesLine(const OddNode& odd) {
  const auto& probes = odd.difference.probes;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(probes.size(), kMostProbeWords); ++i) {
    words.push_back(fmt::format("{} ({})", probes[i].probe, ChangeWords(probes[i].change)));
  }
  const std::size_t more = probes.size() - words.size();
  return fmt::format("    shown by {}{}", fmt::join(words, ", "),
                     more > 0 ? " and " + Counted(more, "more probe") : "");
}

void AddOdd(const OddNode& odd, int columns, std::vector<std::string>* lines) {
  lines->push_back(FleetLine(fmt::format("≠ {} | {}", odd.node, odd.sentence), columns));
  for (std::size_t i = 0; i < std::min(odd.facts.size(), kMostFactLines); ++i) {
    const FleetFact& fact = odd.facts[i];
    lines->push_back(FleetLine(fmt::format("    {}: {} here, {} in the majority", fact.key,
                                           FactWords(fact.here), MajorityWords(fact.majority)),
                               columns));
  }
  if (odd.facts.size() > kMostFactLines) {
    lines->push_back(FleetLine(
        fmt::format("    … and {}", Counted(odd.facts.size() - kMostFactLines, "more fact")),
        columns));
  }
  if (!odd.difference.probes.empty()) lines->push_back(FleetLine(ProbesLine(odd), columns));
}

std::string ClassLine(const FleetClass& one, int columns) {
  return FleetLine(fmt::format("{} {} | {} | {}: {}", one.majority ? "*" : " ", one.hardware_class,
                               one.arithmetic.substr(0, 12), Counted(one.nodes.size(), "node"),
                               fmt::join(one.nodes, ", ")),
                   columns);
}

}  // namespace

std::string WriteTerminal(const Fleet& fleet, int columns, int rows, bool color) {
  const Verdict verdict = fleet.exit_code == 0   ? Verdict::kIdentical
                          : fleet.exit_code == 1 ? Verdict::kDrifted
                                                 : Verdict::kNotComparable;
  const std::vector<std::string> head = {
      Painted(FleetLine(fleet.summary, columns), ColourOf(verdict), color)};
  std::vector<std::string> items;
  for (const OddNode& odd : fleet.odd) AddOdd(odd, columns, &items);
  for (const std::string& note : fleet.notes) items.push_back(FleetLine("! " + note, columns));
  for (const std::string& one : fleet.unusable) items.push_back(FleetLine("? " + one, columns));
  for (const FleetClass& one : fleet.classes) items.push_back(ClassLine(one, columns));
  return FitLines(head, items, {}, "line", rows);
}

}  // namespace rharness
