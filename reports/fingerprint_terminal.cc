// A difference of fingerprints on one screen.
#include <fmt/format.h>

#include <algorithm>

#include "harness/verdict/verdict.h"
#include "reports/fingerprint_grid.h"
#include "reports/fingerprint_report.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr int kLeastProbeColumns = 20;
constexpr std::size_t kMostStackLines = 4;

std::string ProbeLine(std::string_view text, int columns) {
  return ElideEnd(SafeText(text), std::max(columns, kLeastProbeColumns));
}

std::string Badge(std::string_view text, int exit_code, bool color) {
  const Verdict verdict = exit_code == 0   ? Verdict::kIdentical
                          : exit_code == 1 ? Verdict::kDrifted
                                           : Verdict::kNotComparable;
  return Painted(text, ColourOf(verdict), color);
}

std::string FactLine(const FactDifference& fact, int columns) {
  return ProbeLine(fmt::format("  {}: {} → {}", fact.key, fact.recorded.value_or("(absent)"),
                               fact.observed.value_or("(absent)")),
                   columns);
}

}  // namespace

std::string FitLines(const std::vector<std::string>& head, const std::vector<std::string>& items,
                     const std::vector<std::string>& tail, std::string_view noun, int rows) {
  std::string out;
  for (const std::string& line : head) out += line + "\n";
  const auto room =
      static_cast<std::size_t>(std::max(1, rows - static_cast<int>(head.size() + tail.size())));
  const std::size_t shown = items.size() <= room ? items.size() : room - 1;
  for (std::size_t i = 0; i < shown; ++i) out += items[i] + "\n";
  if (shown < items.size()) {
    out += fmt::format("… and {}\n", Counted(items.size() - shown, fmt::format("more {}", noun)));
  }
  for (const std::string& line : tail) out += line + "\n";
  return out;
}

std::string WriteTerminal(const FingerprintDifference& difference, int columns, int rows,
                          bool color) {
  const std::vector<std::string> head = {
      Badge(ProbeLine(difference.summary, columns), ExitCodeOf(difference), color)};
  std::vector<std::string> items;
  for (const ProbeDifference& probe : difference.probes) {
    items.push_back(
        ProbeLine(fmt::format("≠ {} | {}", ChangeWords(probe.change), probe.sentence), columns));
  }
  std::vector<std::string> tail;
  if (!difference.stack.empty()) {
    tail.push_back(
        ProbeLine(fmt::format("the stack: {} {}", Counted(difference.stack.size(), "fact"),
                              difference.stack.size() == 1 ? "differs" : "differ"),
                  columns));
    for (std::size_t i = 0; i < std::min(difference.stack.size(), kMostStackLines); ++i) {
      tail.push_back(FactLine(difference.stack[i], columns));
    }
    if (difference.stack.size() > kMostStackLines) {
      tail.push_back(fmt::format("  … and {} more", difference.stack.size() - kMostStackLines));
    }
  }
  return FitLines(head, items, tail, "probe", rows);
}

}  // namespace rharness
