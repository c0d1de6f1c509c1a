// A comparison, or a set of pairs, as a document.
//
// In a set all pairs have a row; what is inside them is shown in full, in brief or not at all as a
// page's size allows, the worst pairs first.
#include <fmt/format.h>

#include <algorithm>

#include "reports/comparison_report.h"
#include "reports/comparison_sections.h"
#include "reports/comparison_summary.h"

namespace rharness {
namespace {

constexpr std::size_t kFewPairs = 10;  // that a screen lists even when they agree
constexpr std::size_t kAllPairs = 100'000;
using As = DocumentCell::As;

Verdict ToneOf(const ComparisonSet& set) {
  if (IsSingle(set)) return set.comparisons.front().verdict;
  const auto has = [&](Verdict verdict) {
    return std::ranges::find(set.comparisons, verdict, &Comparison::verdict) !=
           set.comparisons.end();
  };
  if (has(Verdict::kDrifted)) return Verdict::kDrifted;
  if (has(Verdict::kFailed) || has(Verdict::kInfra)) return Verdict::kFailed;
  return set.exit_code == 0 ? Verdict::kIdentical : Verdict::kInconclusive;
}

DocumentSection SharedCausesOf(const ComparisonSummary& summary) {
  DocumentSection section{
      .title = "Causes that pairs share",
      .words = "Only pairs that are neither identical nor equivalent count.",
      .columns = {{"Cause"}, {"Pairs", true}, {"Layer"}, {"Strength"}, {"For example"}},
      .off_screen = true};
  for (const SharedCause& cause : summary.causes) {
    section.rows.push_back(
        {.cells = {SpacedName(cause.code), fmt::format("{} of {}", cause.pairs, summary.open),
                   std::string(LayerName(cause.layer)), std::string(StrengthName(cause.strength)),
                   cause.statement}});
  }
  return section;
}

// Five question marks would be less helpful than none.
DocumentCell MarksOf(const Comparison& comparison) {
  const bool unknown = std::ranges::all_of(comparison.layers, [](const LayerComparison& layer) {
    return layer.state == LayerState::kUnknown;
  });
  return unknown ? DocumentCell("no facts")
                 : DocumentCell(LayerMarks(comparison.layers), As::kMarks);
}

DocumentRow RowOf(const Comparison& comparison, std::size_t place) {
  return {.tone = comparison.verdict,
          .cells = {PairName(comparison, place),
                    {VerdictBadge(comparison.verdict), As::kBadge},
                    std::string(SideKindName(comparison.a.kind)),
                    ComparedInShort(comparison),
                    MarksOf(comparison),
                    FirstStep(comparison),
                    LargestUlp(comparison),
                    comparison.headline},
          .details = {comparison.headline},
          .case_class = "pairs",
          .inside = [&comparison, id = fmt::format("pair-{}", place)](bool in_full) {
            return SectionsOf(comparison, id, in_full);
          }};
}

DocumentSection PairsOf(const ComparisonSet& set, const ComparisonSummary& summary) {
  DocumentSection section{
      .title = "Pairs",
      .columns = {{"Pair"},
                  {"Verdict"},
                  {.name = "Kind", .in_depth = true},
                  {.name = "Compared", .in_depth = true},
                  {.name = "Layers", .in_depth = true},
                  {.name = "First step", .numbers = true, .in_depth = true},
                  {.name = "Max ULP", .numbers = true, .in_depth = true},
                  {.name = "Why", .off_page = true}},
      .filter = "Find a pair",
      .caption =
          fmt::format("{}, the worst first. Layers: data, code, env(ironment), hw (hardware), "
                      "rng (randomness); = the same, ≠ differs, ? not known. First step: "
                      "where a deciding curve first differs.",
                      Counted(set.comparisons.size(), "pair")),
      .most = {.page = kAllPairs, .markdown = kAllPairs},
      .cases = true};
  if (set.comparisons.empty()) section.words = "There were none.";
  for (const Comparison* comparison : summary.order) {
    const auto place = static_cast<std::size_t>(comparison - set.comparisons.data()) + 1;
    section.rows.push_back(RowOf(*comparison, place));
  }
  section.most.screen = section.rows.size() <= kFewPairs ? section.rows.size()
                                                         : static_cast<std::size_t>(summary.open);
  return section;
}

// A case of JUnit for a layer: it explains, or its facts have to be the same.
DocumentRow CaseOf(const LayerComparison& layer) {
  const SubjectState state = StateOf(layer);
  DocumentRow row{.tone = state.colour,
                  .cells = {fmt::format("layer {}", LayerName(layer.layer))},
                  .explains = !state.decides,
                  .sign = state.sign,
                  .sentence = LayerSentence(layer)};
  // Nothing is known of it, which is no pass.
  if (layer.state == LayerState::kUnknown) {
    row.tone = Verdict::kInconclusive;
    row.explains = false;
    row.sentence = "nothing was recorded, or nothing was seen";
  }
  for (const FactDifference& one : layer.differences) {
    row.details.push_back(
        fmt::format("{}: {} → {}", one.key, FactWords(one.recorded), FactWords(one.observed)));
  }
  row.message = row.sentence;
  return row;
}

// The verdict, every layer, checkpoint, deciding curve and metric. Layers not known on either side
// (two plain checkpoints) are no case.
std::vector<DocumentSection> CasesOf(const Comparison& comparison) {
  DocumentSection cases{
      .title = "",
      .rows = {{.tone = comparison.verdict,
                .cells = {"verdict"},
                .details = {comparison.headline},
                .case_class = "comparison",
                .inside = [&comparison](bool) { return SectionsOf(comparison, "", true); }}}};
  const auto add = [&](std::string_view suite, std::string_view before,
                       std::vector<DocumentRow> rows) {
    for (DocumentRow& row : rows) {
      row.case_class = suite;
      row.cells.front().text = std::string(before) + row.cells.front().text;
      row.message = row.sentence;
      cases.rows.push_back(std::move(row));
    }
  };
  const bool facts = std::ranges::any_of(comparison.layers, [](const LayerComparison& layer) {
    return layer.state != LayerState::kUnknown;
  });
  std::vector<DocumentRow> layers;
  for (const LayerComparison& layer : comparison.layers) {
    if (facts) layers.push_back(CaseOf(layer));
  }
  add("layers", "", std::move(layers));
  add("weights", "", WeightsOf(comparison, "").rows);
  DocumentSection curves = CurvesOf(comparison);
  const std::vector<const CurveComparison*> order = OrderedCurves(comparison);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!order[i]->rule.empty()) curves.rows[i].details = {"rule: " + order[i]->rule};
  }
  std::erase_if(curves.rows, [](const DocumentRow& row) { return row.explains; });
  add("curves", "curve ", std::move(curves.rows));
  add("metrics", "metric ", MetricsOf(comparison, "").rows);
  return {std::move(cases)};
}

}  // namespace

Document DocumentOf(const ComparisonSet& set) {
  const ComparisonSummary summary = Summarize(set);
  const bool single = IsSingle(set);
  Document document{.name = "compare",
                    .about = set.title,
                    .version = set.version,
                    .made = set.made,
                    .tone = ToneOf(set),
                    .headline = summary.answer,
                    .next = summary.next_step,
                    .notes = set.notes,
                    .counted = "pair",
                    .exit_code = set.exit_code};
  document.record = "comparison.json";
  document.unanswered = "the comparison reached a verdict";
  DocumentSection facts{.title = "The comparison",
                        .facts = {{"Made", FormatMinute(set.made)},
                                  {"rharness", set.version},
                                  {"Exit code", std::to_string(set.exit_code)}},
                        .off_screen = true};
  if (single) {
    const Comparison& only = set.comparisons.front();
    document.verdict = only.verdict;
    document.sections = SectionsOf(only, "c", true);
    document.cases = CasesOf(only);
    facts.facts.emplace_back("Bits were expected to be equal", only.expect_bitwise ? "yes" : "no");
  } else {
    document.counts = set.counts;
    if (!summary.causes.empty()) document.sections.push_back(SharedCausesOf(summary));
    document.sections.push_back(PairsOf(set, summary));
  }
  document.sections.push_back(std::move(facts));
  return document;
}

}  // namespace rharness
