// Where two runs part, on one screen of a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/onset_report.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostOnsetLines = 14;
constexpr std::size_t kAround = 6;  // records before and after the origin

std::string OnsetLine(const std::string& text, int columns) {
  return Wrapped(SafeText(text, 1000), columns, 2);
}

std::string OnsetList(std::string_view title, const std::vector<std::string>& texts, int columns) {
  if (texts.empty()) return "";
  std::string out = fmt::format("\n{}\n", title);
  const std::size_t shown = std::min(texts.size(), kMostOnsetLines);
  for (std::size_t i = 0; i < shown; ++i) out += OnsetLine(texts[i], columns);
  if (texts.size() > shown) out += fmt::format("  and {} more\n", texts.size() - shown);
  return out;
}

std::string_view MarkOf(RecordState state) {
  switch (state) {
    case RecordState::kEqual:
      return "=";
    case RecordState::kOrigin:
      return "*";
    case RecordState::kHandedOn:
      return "~";
    case RecordState::kOnlyA:
      return "A";
    case RecordState::kOnlyB:
      return "B";
    case RecordState::kUnknown:
      return "?";
  }
  return "?";
}

std::string Strip(const Onset& onset, int columns) {
  if (onset.strip.empty() || !onset.origin) return "";
  const auto origin = std::ranges::find_if(onset.strip, [&](const OnsetRecord& record) {
    return record.a.order == onset.origin->a.order && record.a.kind == onset.origin->a.kind &&
           record.a.name == onset.origin->a.name;
  });
  const auto at = static_cast<std::size_t>(origin - onset.strip.begin());
  const std::size_t first = at > kAround ? at - kAround : 0;
  const std::size_t last = std::min(onset.strip.size(), at + kAround + 1);
  std::string out =
      fmt::format("\nStep {} in network order: = equal, * where it begins, ~ handed on\n",
                  onset.origin->a.step);
  if (first > 0) out += fmt::format("    {} before\n", first);
  for (std::size_t i = first; i < last; ++i) {
    const OnsetRecord& record = onset.strip[i];
    const std::string name =
        ElideMiddle(SafeText(NameOfRecord(record.a), 200), std::max(20, columns - 40));
    const bool known = !std::isnan(record.distance) && record.state != RecordState::kEqual;
    out += fmt::format("  {} {:<15} {}{}\n", MarkOf(record.state), TraceKindName(record.a.kind),
                       name, known ? "  " + FormatNumber(record.distance, 2) : "");
  }
  if (last < onset.strip.size()) out += fmt::format("    {} after\n", onset.strip.size() - last);
  return out;
}

std::string Growth(const Onset& onset) {
  if (!onset.origin || onset.steps.empty()) return "";
  std::string out = "\nHow far apart, relative, by step: parameters, outputs, loss\n";
  std::size_t shown = 0;
  for (const OnsetStep& step : onset.steps) {
    if (step.step < onset.origin->a.step || ++shown > kMostOnsetLines) continue;
    out +=
        fmt::format("  {:>8}  {:>8}  {:>8}  {:>8}\n", step.step, FormatNumber(step.parameters, 2),
                    FormatNumber(step.outputs, 2), FormatNumber(step.loss, 2));
  }
  if (shown > kMostOnsetLines) out += fmt::format("  and {} more\n", shown - kMostOnsetLines);
  return out;
}

std::vector<std::string> CheckpointLines(const OnsetReport& report) {
  std::vector<std::string> lines;
  for (const OnsetCheckpoint& one : report.checkpoints) {
    lines.push_back(fmt::format("{}: {}", one.name, one.state));
  }
  return lines;
}

std::vector<std::string> TensorLines(const OnsetReport& report) {
  std::vector<std::string> lines;
  for (const OnsetTensor& one : report.tensors) {
    lines.push_back(one.elements == 0
                        ? fmt::format("{}: another digest", one.name)
                        : fmt::format("{}: {} of {} differ, by {} ULP and {} of its norm at most",
                                      one.name, one.differing, one.elements, one.max_ulp,
                                      FormatNumber(one.relative, 2)));
  }
  return lines;
}

}  // namespace

std::string WriteTerminal(const OnsetReport& report, int columns, bool color) {
  const Verdict tone = report.exit_code == 0 ? Verdict::kDrifted : Verdict::kInconclusive;
  std::string out =
      Painted(Wrapped(SafeText(report.headline, 1000), columns), ColourOf(tone), color);
  if (!report.next.empty()) out += Wrapped("Next: " + SafeText(report.next, 1000), columns);
  out += OnsetList("Shown by", report.reasons, columns);
  if (report.traced) out += Strip(report.traces, columns) + Growth(report.traces);
  out += OnsetList("Checkpoints", CheckpointLines(report), columns);
  out += OnsetList("Tensors of the first that differs, " + SafeText(report.tensor_order),
                   TensorLines(report), columns);
  std::vector<std::string> curves;
  for (const CurveComparison& curve : report.curves) curves.push_back(curve.message);
  out += OnsetList("Curves", curves, columns);
  out += OnsetList("Notes", report.notes, columns);
  return out;
}

}  // namespace rharness
