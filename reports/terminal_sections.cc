// The sections of one comparison on a terminal; see terminal_sections.h.
#include "reports/terminal_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/comparison_summary.h"
#include "reports/heat_strip.h"
#include "reports/terminal_parts.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostCauses = 3;
constexpr std::size_t kMostItems = 40;  // of any section, before it is fitted
constexpr int kStrengthColumns = 8;     // "possible"
constexpr int kLayerColumns = 11;       // "environment"
constexpr std::size_t kStripCells = 48;

using TerminalLines = std::vector<TerminalLine>;

TerminalLine Plain(const std::string& text, int room) {
  return {"", std::nullopt, ElideEnd(text, room)};
}

TerminalLine Signed(const SubjectState& state, const std::string& text, int room) {
  return {std::string(state.sign), state.colour, ElideEnd(text, room - 2)};
}

// "TEXT SUFFIX": the text gives way when both do not fit.
std::string WithSuffix(const std::string& text, const std::string& suffix, int room) {
  return ElideEnd(ElideEnd(text, std::max(room - DisplayWidth(suffix), 1)) + suffix, room);
}

TerminalSection Findings(const Comparison& comparison, int room) {
  TerminalSection section{"findings", "finding", {}, comparison.findings.size()};
  section.keep = 2;
  for (const Finding& finding : comparison.findings) {
    if (section.items.size() == kMostItems) break;
    // If the headline says it already, the rule is shown here instead.
    const std::string& words = finding.message != comparison.headline || finding.rule.empty()
                                   ? finding.message
                                   : "rule: " + finding.rule;
    std::string text = SafeText(words.empty() ? finding.code : words, 600);
    if (!finding.observed.empty() && !finding.limit.empty()) {
      text += fmt::format(" ({}; {} {})", SafeText(finding.observed, 200), LimitWord(finding),
                          SafeText(finding.limit, 200));
    }
    const SubjectState state{comparison.verdict, finding.decisive ? VerdictSign(comparison.verdict)
                                                                  : std::string_view("·")};
    TerminalLine line = Signed(state, text, room);
    if (!finding.decisive) line.colour.reset();
    section.items.push_back({std::move(line)});
  }
  return section;
}

TerminalSection Causes(const Comparison& comparison, int room) {
  TerminalSection section{"causes", "cause", {}, comparison.causes.size()};
  section.keep = 4;
  const int indent = kStrengthColumns + 1;
  for (const Cause& cause : comparison.causes) {
    if (section.items.size() == kMostCauses) break;
    TerminalLines lines;
    const std::string strength =
        ElideEnd(std::string(StrengthName(cause.strength)), kStrengthColumns);
    lines.push_back(Plain(
        fmt::format("{} {}", Padded(strength, kStrengthColumns), SafeText(cause.statement, 600)),
        room));
    if (!cause.confirm.empty()) {
      lines.push_back(
          Plain(fmt::format("{}→ {}", std::string(static_cast<std::size_t>(indent), ' '),
                            SafeText(cause.confirm, 600)),
                room));
    }
    section.items.push_back(std::move(lines));
  }
  return section;
}

TerminalSection Layers(const Comparison& comparison, int room) {
  TerminalSection section{"layers", "layer", {}, 0};
  for (const LayerComparison* layer : DifferingLayers(comparison)) {
    const FactDifference& first = layer->differences.front();
    const std::string text = fmt::format(
        "{} {}: {} → {}", Padded(std::string(LayerName(layer->layer)), kLayerColumns),
        SafeText(first.key, 120), FactWords(first.recorded, 120), FactWords(first.observed, 120));
    const std::size_t more = layer->differences.size() - 1;
    section.items.push_back(
        {Signed(StateOf(*layer),
                WithSuffix(text, more == 0 ? "" : fmt::format(" (and {} more)", FormatCount(more)),
                           room - 2),
                room)});
  }
  for (const LayerComparison& layer : comparison.layers) {
    if (layer.not_known.empty()) continue;
    const std::string parts = fmt::format("{}", fmt::join(layer.not_known, ", "));
    section.items.push_back({Signed(
        {Verdict::kInfra, "?"},
        fmt::format("{} not known: {}", Padded(std::string(LayerName(layer.layer)), kLayerColumns),
                    SafeText(parts, 400)),
        room)});
  }
  section.all = section.items.size();
  return section;
}

TerminalLines WeightLines(const CheckpointComparison& checkpoint, const Comparison& comparison,
                          int room) {
  const CheckpointDifference& difference = checkpoint.difference;
  TerminalLines lines = {Signed(
      StateOf(checkpoint, comparison),
      fmt::format("{}: {}", SafeText(checkpoint.subject, 200), CheckpointWords(checkpoint)), room)};
  if (difference.differing.empty()) return lines;
  const CheckpointTotals totals = TotalsOf(difference);
  if (!totals.measured) {
    lines.push_back(Plain("  first " + FirstTensor(difference), room));
    return lines;
  }
  lines.push_back(Plain("  first " + ElideMiddle(FirstTensor(difference), room - 8), room));
  lines.push_back(
      Plain(fmt::format("  {} {}, max abs {}, max {} ULP", Counted(totals.differing, "value"),
                        totals.differing == 1 ? "differs" : "differ",
                        FormatNumber(totals.max_abs, 3), FormatCount(totals.max_ulp)),
            room));
  if (const int last = LastBin(totals.histogram); last >= 0) {
    lines.push_back(
        Plain(fmt::format("  ULP    1 {} 2^{}", UlpSparkline(totals.histogram), last), room));
  }
  const auto cells = static_cast<std::size_t>(std::max(room - 10, 1));
  const HeatStrip strip = BuildHeatStrip(difference.groups, std::min(cells, kStripCells));
  if (!strip.cells.empty()) {
    std::string scale;
    if (strip.high > 0.0) {
      scale = fmt::format(" to {}, relative norm", FormatNumber(strip.high, 2));
    }
    lines.push_back(Plain(fmt::format("  layers {}{}", HeatSparkline(strip), scale), room));
  }
  return lines;
}

TerminalSection Weights(const Comparison& comparison, int room) {
  TerminalSection section{"weights", "checkpoint", {}, comparison.checkpoints.size()};
  section.keep = 3;
  for (const CheckpointComparison& checkpoint : comparison.checkpoints) {
    if (section.items.size() == kMostItems) break;
    section.items.push_back(WeightLines(checkpoint, comparison, room));
  }
  return section;
}

TerminalSection Curves(const Comparison& comparison, int room) {
  TerminalSection section{"curves", "deciding curve", {}, 0};
  section.keep = 2;
  std::size_t advising = 0;
  std::size_t apart = 0;
  for (const CurveComparison* curve : OrderedCurves(comparison)) {
    const SubjectState state = StateOf(*curve);
    if (!state.decides) {
      ++advising;
      if (!Reproduced(state.colour)) ++apart;
      continue;
    }
    ++section.all;
    if (section.items.size() == kMostItems) continue;
    section.items.push_back({Signed(
        state, fmt::format("{}: {}", SafeText(curve->name, 120), CurveWords(*curve)), room)});
  }
  if (advising == 0) return section;
  TerminalLine line =
      Plain(fmt::format("· {} without a say in the verdict; not equal or within a band: {}",
                        Counted(advising, "further curve"), FormatCount(apart)),
            room);
  if (section.items.empty()) {
    section.all = 1;
    section.items.push_back({std::move(line)});
  } else {
    section.items.back().push_back(std::move(line));
  }
  return section;
}

TerminalSection Metrics(const Comparison& comparison, int room) {
  TerminalSection section{"metrics", "metric", {}, comparison.metrics.size()};
  for (const MetricDecision* metric : OrderedMetrics(comparison)) {
    if (section.items.size() == kMostItems) break;
    const SubjectState state = StateOf(*metric, comparison);
    section.items.push_back({Signed(
        state,
        fmt::format("{} {}: {}", SafeText(metric->name, 120), state.label, MetricWords(*metric)),
        room)});
  }
  return section;
}

TerminalSection Notes(const std::vector<std::string>& notes, int room) {
  TerminalSection section{"notes", "note", {}, notes.size()};
  for (const std::string& note : notes) {
    if (section.items.size() == kMostItems) break;
    section.items.push_back({Plain(SafeText(note, 600), room)});
  }
  return section;
}

// One item less; of the last one, one line less while it has several.
void Shorten(TerminalSection* section) {
  if (section->shown == 1 && section->items.front().size() > 1) {
    section->items.front().pop_back();
  } else {
    --section->shown;
  }
}

TerminalSection Next(const Comparison& comparison, int room) {
  TerminalSection section{"next", "step", {}, 0};
  if (Reproduced(comparison.verdict) || !comparison.causes.empty()) return section;
  section.items.push_back({Plain(NextStep(comparison), room)});
  section.all = 1;
  return section;
}

}  // namespace

std::vector<TerminalSection> SectionsOf(const Comparison& comparison,
                                        const std::vector<std::string>& more_notes, int room) {
  std::vector<std::string> notes = comparison.notes;
  notes.insert(notes.end(), more_notes.begin(), more_notes.end());
  std::vector<TerminalSection> sections = {Findings(comparison, room), Causes(comparison, room),
                                           Layers(comparison, room),   Weights(comparison, room),
                                           Curves(comparison, room),   Metrics(comparison, room),
                                           Next(comparison, room),     Notes(notes, room)};
  std::erase_if(sections, [](const TerminalSection& section) { return section.all == 0; });
  for (TerminalSection& section : sections) section.shown = section.items.size();
  return sections;
}

int LinesOf(const TerminalSection& section) {
  std::size_t lines = section.shown < section.all ? 1 : 0;
  for (std::size_t i = 0; i < section.shown; ++i) lines += section.items[i].size();
  return static_cast<int>(lines);
}

std::size_t FitSections(std::vector<TerminalSection>* sections, int rows) {
  const auto total = [&] {
    int lines = 0;
    for (const TerminalSection& section : *sections) lines += LinesOf(section);
    return lines;
  };
  while (total() > rows) {
    TerminalSection* longest = nullptr;
    for (TerminalSection& section : *sections) {
      if (LinesOf(section) <= 1 || section.shown == 0) continue;
      if (longest == nullptr ||
          LinesOf(section) - section.keep >= LinesOf(*longest) - longest->keep) {
        longest = &section;
      }
    }
    if (longest == nullptr) break;
    Shorten(longest);
  }
  std::size_t dropped = 0;
  while (!sections->empty() && total() + (dropped > 0 ? 1 : 0) > rows) {
    sections->pop_back();
    ++dropped;
  }
  return dropped;
}

}  // namespace rharness
