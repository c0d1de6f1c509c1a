// Findings, causes, layers and notes of a comparison; see comparison_sections.h.
#include "reports/comparison_sections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "reports/comparison_summary.h"
#include "reports/names.h"

namespace rharness {
namespace {

constexpr DocumentLimits kMostParts = {.page = 50, .screen = 40, .markdown = 20};
constexpr DocumentLimits kMostCauses = {.page = 12, .screen = 3, .markdown = 20};
using As = DocumentCell::As;

DocumentSection SidesOf(const Comparison& comparison) {
  const auto side = [](const ComparedSide& one) {
    return fmt::format("{} {}{}{}", SideKindName(one.kind), one.path,
                       one.detail.empty() ? "" : ": ", one.detail);
  };
  return {.title = "The two sides",
          .facts = {{"A", side(comparison.a)}, {"B", side(comparison.b)}},
          .off_screen = true};
}

DocumentSection FindingsOf(const Comparison& comparison) {
  DocumentSection section{
      .title = comparison.is_rerun ? "Why" : "What was found",
      .columns = {{"Finding"}, {"Role"}, {"What"}, {"Observed"}, {"Limit or record"}, {"Rule"}},
      .margin = "findings",
      .most = kMostParts};
  for (const Finding& finding : comparison.findings) {
    DocumentRow row{
        .tone = comparison.verdict,
        .cells = CellsOf(SpacedName(finding.code),
                         DocumentCell(finding.decisive ? "reason" : "", As::kBadge),
                         finding.message, finding.observed, finding.limit, finding.rule)};
    row.sign = finding.decisive ? VerdictSign(comparison.verdict) : std::string_view("·");
    // Below the headline its own words would say nothing new.
    Finding told = finding;
    if (told.message == comparison.headline && !told.rule.empty()) {
      told.message = "rule: " + std::exchange(told.rule, "");
    }
    row.sentence = FindingWords(told);
    section.rows.push_back(std::move(row));
  }
  return section;
}

DocumentSection CausesOf(const Comparison& comparison) {
  DocumentSection section{.title = "Causes, the most suspicious first",
                          .columns = {{"Cause"},
                                      {"How sure"},
                                      {"Layer"},
                                      {.name = "Evidence", .details = true},
                                      {"To confirm"}},
                          .margin = "causes",
                          .most = kMostCauses};
  for (const Cause& cause : comparison.causes) {
    DocumentCell strength(std::string(StrengthName(cause.strength)), As::kBadge);
    strength.tone = cause.strength == Strength::kShown ? Verdict::kDrifted : Verdict::kInconclusive;
    section.rows.push_back(
        {.tone = *strength.tone,
         .cells = {cause.statement,
                   strength,
                   fmt::format("{}, {}", LayerName(cause.layer), SpacedName(cause.code)),
                   "",
                   {cause.confirm, As::kStep}},
         .details = cause.evidence,
         .sentence = fmt::format("{}, {}: {}", StrengthName(cause.strength), LayerName(cause.layer),
                                 cause.statement)});
  }
  return section;
}

// A side that has the fact shows what of it the other side lacks.
DocumentCell FactCell(const std::optional<std::string>& value,
                      const std::optional<std::string>& other) {
  if (!value) return "absent";
  DocumentCell cell(*value, As::kCode);
  cell.other = other;
  return cell;
}

std::string LayersInWords(const Comparison& comparison) {
  const bool unknown = std::ranges::all_of(comparison.layers, [](const LayerComparison& layer) {
    return layer.state == LayerState::kUnknown;
  });
  if (unknown) return "No facts of the five layers were at hand.";
  std::vector<std::string> words;
  for (const LayerComparison& layer : comparison.layers) words.push_back(LayerSentence(layer));
  return fmt::format("Facts by layer: {}.", fmt::join(words, "; "));
}

DocumentSection LayersOf(const Comparison& comparison) {
  const SideWords words = WordsOf(comparison);
  DocumentSection section{.title = "Five layers",
                          .words = LayersInWords(comparison),
                          .columns = {{"Fact"}, {"Layer"}, {"Kind"}, {words.a}, {words.b}},
                          .margin = "layers",
                          .most = kMostParts};
  for (const LayerComparison* layer : DifferingLayers(comparison)) {
    const SubjectState state = StateOf(*layer);
    for (const FactDifference& one : layer->differences) {
      section.rows.push_back(
          {.tone = state.colour,
           .cells = {{one.key, As::kCode},
                     {std::string(LayerName(layer->layer)), As::kBadge},
                     std::string(NameIn(kFactWeightNames, one.weight)),
                     FactCell(one.recorded, one.observed),
                     FactCell(one.observed, one.recorded)},
           .sign = state.sign,
           .sentence = fmt::format("{} {}: {} → {}", LayerName(layer->layer), one.key,
                                   FactWords(one.recorded), FactWords(one.observed))});
    }
  }
  if (!section.rows.empty()) {
    section.title = comparison.is_rerun ? "What changed since the recording"
                                        : "What differs between the two sides";
  }
  for (const LayerComparison& layer : comparison.layers) {
    for (const std::string& part : layer.not_known) {
      section.rows.push_back(
          {.tone = Verdict::kInfra,
           .cells = {part, {std::string(LayerName(layer.layer)), As::kBadge}, "not known"},
           .sign = "?",
           .sentence = fmt::format("{} not known: {}", LayerName(layer.layer), part)});
    }
  }
  return section;
}

DocumentSection NotesOf(const Comparison& comparison) {
  return {.title = "Notes", .items = comparison.notes, .margin = "notes"};
}

}  // namespace

SideWords WordsOf(const Comparison& comparison) {
  return comparison.is_rerun ? SideWords{"Recorded (A)", "Now (B)"} : SideWords{"A", "B"};
}

DocumentCell StateBadge(const SubjectState& state) {
  DocumentCell cell(fmt::format("{} {}", state.sign, state.label), As::kBadge);
  cell.tone = state.colour;
  return cell;
}

std::vector<DocumentSection> SectionsOf(const Comparison& comparison, const std::string& id,
                                        bool in_full) {
  std::vector<DocumentSection> sections;
  if (!comparison.is_rerun) sections.push_back(SidesOf(comparison));
  sections.push_back(FindingsOf(comparison));
  sections.push_back(CausesOf(comparison));
  sections.push_back(LayersOf(comparison));
  if (in_full) {
    sections.push_back(WeightsOf(comparison, id));
    sections.push_back(CurvesOf(comparison));
    sections.push_back(PicturedCurvesOf(comparison, id));
    sections.push_back(MetricsOf(comparison, id));
    sections.push_back(TokensOf(comparison, id));
  } else {
    sections.push_back(
        {.title = "",
         .words = fmt::format("Weights, curves and metrics of this {} are left out to keep this "
                              "page small; they are in {}.",
                              comparison.is_rerun ? "run" : "pair",
                              comparison.is_rerun ? "report.json" : "comparison.json")});
  }
  sections.push_back(NotesOf(comparison));
  std::erase_if(sections, IsEmpty);
  return sections;
}

}  // namespace rharness
