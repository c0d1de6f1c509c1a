// A comparison as GitHub-flavoured Markdown for a step summary, which GitHub drops whole above 1
// MiB.
#include <fmt/format.h>

#include <algorithm>

#include "reports/comparison_report.h"
#include "reports/comparison_summary.h"
#include "reports/heat_strip.h"
#include "reports/markdown_parts.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kPairTableBytes = 400'000;  // budget of the table of pairs
constexpr std::size_t kMostRows = 20;             // of one table of one comparison
constexpr std::size_t kMarkdownStripCells = 60;

void Header(const ComparisonSet& set, const ComparisonSummary& summary, std::string* out) {
  *out += fmt::format("## {}\n\n", MarkdownText(set.title));
  if (IsSingle(set)) {
    *out += fmt::format("{} — ", VerdictBadge(set.comparisons.front().verdict));
  }
  *out += fmt::format("**{}**\n\nNext: {}\n\n", MarkdownText(summary.answer),
                      MarkdownText(summary.next_step));
  if (!IsSingle(set)) *out += MarkdownCounts(set.counts);
  *out += MarkdownList(set.notes, [](const std::string& note) { return MarkdownText(note); });
}

std::string LeftOut(std::size_t all, std::size_t shown) {
  if (all <= shown) return "\n";
  return fmt::format("\n_{} more are in comparison.json._\n\n", FormatCount(all - shown));
}

std::string CauseItems(const Comparison& comparison) {
  if (comparison.causes.empty()) return "";
  std::string out = "#### Causes\n\n";
  for (std::size_t i = 0; i < std::min(comparison.causes.size(), kMostRows); ++i) {
    const Cause& cause = comparison.causes[i];
    out += fmt::format("{}. **{}**, {}: {}\n", i + 1, StrengthName(cause.strength),
                       LayerName(cause.layer), MarkdownText(cause.statement));
    for (std::size_t e = 0; e < std::min<std::size_t>(cause.evidence.size(), 5); ++e) {
      out += fmt::format("   - {}\n", MarkdownText(cause.evidence[e], 400));
    }
    if (!cause.confirm.empty()) {
      out += fmt::format("   - confirm: {}\n", MarkdownCode(cause.confirm, 600));
    }
  }
  return out + LeftOut(comparison.causes.size(), kMostRows);
}

std::string Facts(const Comparison& comparison) {
  std::string rows;
  std::size_t all = 0;
  for (const LayerComparison* layer : DifferingLayers(comparison)) {
    for (const FactDifference& difference : layer->differences) {
      if (++all > kMostRows) continue;
      rows +=
          fmt::format("| {} | {} | {} | {} |\n", LayerName(layer->layer),
                      MarkdownCode(difference.key), MarkdownCode(FactWords(difference.recorded)),
                      MarkdownCode(FactWords(difference.observed)));
    }
  }
  std::string not_known;
  for (const LayerComparison& layer : comparison.layers) {
    for (const std::string& part : layer.not_known) {
      not_known += fmt::format("- {} not known: {}\n", LayerName(layer.layer), MarkdownText(part));
    }
  }
  if (!not_known.empty()) not_known += "\n";
  if (rows.empty()) return not_known.empty() ? "" : "#### Layers\n\n" + not_known;
  return "#### Layers\n\n| Layer | Fact | A | B |\n|---|---|---|---|\n" + rows +
         LeftOut(all, kMostRows) + not_known;
}

std::string CheckpointLine(const CheckpointComparison& checkpoint, const Comparison& comparison) {
  const SubjectState state = StateOf(checkpoint, comparison);
  std::string line = fmt::format("{} {}: {}", state.sign, MarkdownCode(checkpoint.subject),
                                 MarkdownText(CheckpointWords(checkpoint)));
  const CheckpointTotals totals = TotalsOf(checkpoint.difference);
  const std::string first = FirstTensor(checkpoint.difference);
  if (!first.empty()) line += fmt::format("; first {}", MarkdownCode(first));
  if (!totals.measured) return line;
  line +=
      fmt::format("; {} differ, largest distance {} ({} ULP)", Counted(totals.differing, "value"),
                  FormatNumber(totals.max_abs, 4), FormatCount(totals.max_ulp));
  if (LastBin(totals.histogram) >= 0) {
    line += fmt::format("; ULP <code>{}</code>", UlpSparkline(totals.histogram));
  }
  const HeatStrip strip = BuildHeatStrip(checkpoint.difference.groups, kMarkdownStripCells);
  if (!strip.cells.empty()) line += fmt::format("; layers <code>{}</code>", HeatSparkline(strip));
  return line;
}

std::string CurveLine(const CurveComparison& curve) {
  const SubjectState state = StateOf(curve);
  return fmt::format("{} {} {}: {}", state.sign, MarkdownCode(curve.name), state.label,
                     MarkdownText(CurveWords(curve), 600));
}

std::string Parts(const Comparison& comparison) {
  std::string out = MarkdownList(comparison.findings, MarkdownFinding);
  out += CauseItems(comparison);
  out += Facts(comparison);
  out += MarkdownList(comparison.checkpoints, [&](const CheckpointComparison& checkpoint) {
    return CheckpointLine(checkpoint, comparison);
  });
  out += MarkdownList(OrderedCurves(comparison),
                      [](const CurveComparison* curve) { return CurveLine(*curve); });
  out += MarkdownList(OrderedMetrics(comparison),
                      [](const MetricDecision* metric) { return MarkdownMetric(*metric); });
  return out +
         MarkdownList(comparison.notes, [](const std::string& note) { return MarkdownText(note); });
}

void SharedCauses(const ComparisonSummary& summary, std::string* out) {
  if (summary.causes.empty()) return;
  *out +=
      "### Causes that pairs share\n\n| Pairs | Layer | Cause | For example |\n|--:|---|---|---|\n";
  for (const SharedCause& cause : summary.causes) {
    *out += fmt::format("| {} of {} | {} | {} | {} |\n", cause.pairs, summary.open,
                        LayerName(cause.layer), MarkdownCode(cause.code),
                        MarkdownText(cause.statement));
  }
  *out += "\n";
}

std::string NameOf(const ComparisonSet& set, const Comparison* comparison) {
  const auto place = static_cast<std::size_t>(comparison - set.comparisons.data()) + 1;
  return MarkdownCode(PairName(*comparison, place), 160);
}

void Table(const ComparisonSet& set, const ComparisonSummary& summary, std::string* out) {
  *out += "### Pairs\n\n| Verdict | Pair | Compared | First step | Max ULP | Why |\n";
  *out += "|---|---|---|--:|--:|---|\n";
  const std::size_t start = out->size();
  std::size_t shown = 0;
  for (const Comparison* comparison : summary.order) {
    const std::string row =
        fmt::format("| {} | {} | {} | {} | {} | {} |\n", VerdictBadge(comparison->verdict),
                    NameOf(set, comparison), ComparedInShort(*comparison), FirstStep(*comparison),
                    LargestUlp(*comparison), MarkdownText(comparison->headline, 300));
    if (out->size() - start + row.size() > kPairTableBytes) break;
    *out += row;
    ++shown;
  }
  *out += "\n";
  if (shown < summary.order.size()) {
    *out +=
        fmt::format("_The table is cut: {} more, the least severe, are in comparison.json._\n\n",
                    Counted(summary.order.size() - shown, "pair"));
  }
}

void Details(const ComparisonSet& set, const ComparisonSummary& summary, std::string* out) {
  std::size_t left_out = 0;
  for (const Comparison* comparison : summary.order) {
    if (Reproduced(comparison->verdict)) continue;
    std::string details;
    if (left_out == 0) {
      details = fmt::format("<details><summary>{} {}: {}</summary>\n\n{}</details>\n\n",
                            VerdictBadge(comparison->verdict), NameOf(set, comparison),
                            MarkdownText(comparison->headline, 500), Parts(*comparison));
    }
    if (left_out > 0 || out->size() + details.size() > kMarkdownBytes) {
      ++left_out;
      continue;
    }
    *out += details;
  }
  if (left_out > 0) {
    *out += fmt::format("_The details are cut: those of {} more are in comparison.json._\n\n",
                        Counted(left_out, "pair"));
  }
}

}  // namespace

std::string WriteMarkdown(const ComparisonSet& set) {
  const ComparisonSummary summary = Summarize(set);
  std::string out;
  Header(set, summary, &out);
  if (IsSingle(set)) {
    out += Parts(set.comparisons.front());
  } else {
    SharedCauses(summary, &out);
    if (!set.comparisons.empty()) Table(set, summary, &out);
    Details(set, summary, &out);
  }
  out += fmt::format("<sub>{} · rharness {} · exit code {}</sub>\n", FormatMinute(set.made),
                     MarkdownText(set.version, 60), set.exit_code);
  return out;
}

}  // namespace rharness
