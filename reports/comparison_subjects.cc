// Weights, curves and metrics of a comparison, each with its pictures and numbers; see
// comparison_sections.h.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/comparison_sections.h"
#include "reports/comparison_summary.h"
#include "reports/heat_strip.h"
#include "reports/names.h"
#include "reports/svg_plots.h"

namespace rharness {
namespace {

constexpr std::size_t kMostNames = 20;  // of tensors on one side only
constexpr std::size_t kMostPictured = 6;
constexpr std::size_t kStripCells = 48;  // of a terminal's line and of Markdown
constexpr DocumentLimits kMostSubjects = {.page = 50, .screen = 40, .markdown = 20};
constexpr DocumentLimits kMostWeights = {.page = 16, .screen = 40, .markdown = 20};
constexpr DocumentLimits kMostMetrics = {.page = 24, .screen = 40, .markdown = 20};
using As = DocumentCell::As;

// A fact only where there is something to say.
void AddFact(std::string name, std::string value, DocumentFacts* facts) {
  if (!value.empty()) facts->emplace_back(std::move(name), std::move(value));
}

std::string NamesOf(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostNames);
  return fmt::format(
      "{}{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      shown == names.size() ? "" : fmt::format(" and {} more", FormatCount(names.size() - shown)));
}

DocumentFacts NumbersOf(const CheckpointComparison& checkpoint) {
  const CheckpointDifference& difference = checkpoint.difference;
  const CheckpointTotals totals = TotalsOf(difference);
  DocumentFacts facts = {{"Compared", CheckpointWords(checkpoint)}};
  AddFact("First difference", FirstTensor(difference), &facts);
  if (totals.measured) {
    AddFact(
        "Values that differ",
        fmt::format("{} of {}", FormatCount(totals.differing), FormatCount(difference.elements)),
        &facts);
    AddFact("Largest distance",
            fmt::format("{} absolute, {} relative, {} ULP", FormatNumber(totals.max_abs, 4),
                        FormatNumber(totals.max_rel, 4), FormatCount(totals.max_ulp)),
            &facts);
  }
  if (totals.non_finite_changes > 0) {
    AddFact("Became or ceased to be finite", FormatCount(totals.non_finite_changes), &facts);
  }
  AddFact("Only in A", NamesOf(difference.only_a), &facts);
  AddFact("Only in B", NamesOf(difference.only_b), &facts);
  AddFact("Other shape or type", NamesOf(difference.shape_or_dtype), &facts);
  if (checkpoint.digest_a == checkpoint.digest_b) {
    AddFact("Digest of both", checkpoint.digest_a, &facts);
  } else {
    AddFact("Digest of A", checkpoint.digest_a, &facts);
    AddFact("Digest of B", checkpoint.digest_b, &facts);
  }
  AddFact("Metadata that differ", NamesOf(checkpoint.metadata), &facts);
  return facts;
}

DocumentRow TensorRowOf(const TensorDifference& tensor) {
  DocumentRow row{
      .tone = Verdict::kInfra,
      .cells = {{tensor.name, As::kCode},
                fmt::format("{} [{}]", DTypeName(tensor.dtype), fmt::join(tensor.shape, ", "))},
      .sentence = fmt::format("{}: {}", tensor.name, TensorWords(tensor))};
  if (tensor.elements == 0) {
    row.cells.emplace_back("known by digest alone");
    return row;
  }
  row.cells.emplace_back(
      fmt::format("{} of {}", FormatCount(tensor.differing), FormatCount(tensor.elements)));
  for (const std::string& number :
       {FormatCount(tensor.first_index), FormatNumber(tensor.max_abs, 4),
        FormatNumber(tensor.max_rel, 4), FormatCount(tensor.max_ulp),
        FormatCount(tensor.non_finite_changes)}) {
    row.cells.emplace_back(number);
  }
  return row;
}

// The tensors that moved furthest would need sorting; by name those of one layer stay together.
DocumentSection TensorsOf(const CheckpointDifference& difference) {
  const std::size_t all = difference.differing.size();
  DocumentSection section{.title = all == 1
                                       ? "The tensor that differs"
                                       : fmt::format("The {} that differ", Counted(all, "tensor")),
                          .columns = {{"Tensor"},
                                      {"Type"},
                                      {"Differ", true},
                                      {"First at", true},
                                      {"Max abs", true},
                                      {"Max rel", true},
                                      {"Max ULP", true},
                                      {"Not finite", true}},
                          .most = kMostSubjects,
                          .folded = true};
  for (const TensorDifference& tensor : difference.differing) {
    section.rows.push_back(TensorRowOf(tensor));
  }
  return section;
}

std::vector<DocumentSection> InsideOf(const CheckpointComparison& checkpoint,
                                      const std::string& id) {
  DocumentSection numbers{.title = "", .facts = NumbersOf(checkpoint)};
  const CheckpointDifference& difference = checkpoint.difference;
  if (!difference.bit_equal) {
    numbers.pictures = {
        {SvgHistogram(TotalsOf(difference).histogram, id + "h"),
         "How far differing values lie apart, in steps between representable values."},
        {SvgHeatStrip(difference.groups, id + "s"),
         "Layers from first to last; the higher a cell, the further apart."}};
  }
  std::vector<DocumentSection> sections = {std::move(numbers)};
  if (!difference.differing.empty()) sections.push_back(TensorsOf(difference));
  return sections;
}

// Where it differs first and how far, a line each, for what shows no picture.
std::vector<std::string> LinesOf(const CheckpointComparison& checkpoint) {
  const CheckpointDifference& difference = checkpoint.difference;
  if (difference.differing.empty()) return {};
  std::vector<std::string> lines = {"first " + FirstTensor(difference)};
  const CheckpointTotals totals = TotalsOf(difference);
  if (!totals.measured) return lines;
  lines.push_back(fmt::format("{} {}, max abs {}, max {} ULP", Counted(totals.differing, "value"),
                              totals.differing == 1 ? "differs" : "differ",
                              FormatNumber(totals.max_abs, 3), FormatCount(totals.max_ulp)));
  if (const int last = LastBin(totals.histogram); last >= 0) {
    lines.push_back(fmt::format("ULP    1 {} 2^{}", UlpSparkline(totals.histogram), last));
  }
  const HeatStrip strip = BuildHeatStrip(difference.groups, kStripCells);
  if (!strip.cells.empty()) {
    lines.push_back(fmt::format(
        "layers {}{}", HeatSparkline(strip),
        strip.high > 0.0 ? fmt::format(" to {}, relative norm", FormatNumber(strip.high, 2)) : ""));
  }
  return lines;
}

std::string StepOf(const std::optional<std::int64_t>& step) {
  return step ? std::to_string(*step) : "–";
}

DocumentFacts NumbersOf(const CurveComparison& curve, const SideWords& words) {
  DocumentFacts facts = {{"Result", CurveWords(curve)}};
  AddFact("Rule", curve.rule, &facts);
  AddFact("Basis", curve.basis.empty() ? "none" : curve.basis, &facts);
  AddFact("Steps",
          fmt::format("{} aligned, {} differ; {} only in “{}”, {} only in “{}”",
                      FormatCount(curve.steps.size()), FormatCount(curve.differing),
                      FormatCount(curve.only_a), words.a, FormatCount(curve.only_b), words.b),
          &facts);
  AddFact("Largest distance",
          fmt::format("{} absolute; {} relative, at step {}", FormatNumber(curve.max_abs, 4),
                      FormatNumber(curve.max_rel, 4), curve.max_step),
          &facts);
  if (!curve.band.empty()) {
    AddFact("Largest share of a limit",
            FormatNumber(curve.statistic, 4) +
                (curve.false_alarm > 0 ? fmt::format(", limit 1 (false alarms: {} of further runs)",
                                                     FormatNumber(curve.false_alarm, 3))
                                       : ", limit 1"),
            &facts);
  }
  if (curve.first_non_finite) {
    AddFact("Stops being finite", fmt::format("from step {}", *curve.first_non_finite), &facts);
  }
  return facts;
}

std::vector<DocumentPicture> PicturesOf(const CurveComparison& curve, const SideWords& words,
                                        const std::string& id) {
  return {{SvgCurves(curve, id + "c"),
           fmt::format("{} is the broad line, {} the thin dashed one{}.", words.a, words.b,
                       curve.differing == 0 ? "; they are the same" : "")},
          {SvgDivergence(curve, id + "d"),
           fmt::format("Distance between the two, |b − a|, on a log axis.{}",
                       curve.band.empty() ? " Nothing shows how far two such runs may differ."
                                          : " The shaded area is the limit of a single value.")}};
}

// "interval 0.054 to 0.068, n = 6, k = 4, power 0.91"
std::string SamplesOf(const MetricDecision& metric) {
  const std::string sizes =
      fmt::format("n = {}, k = {}", metric.history.size(), metric.reruns.size());
  if (metric.standard_error <= 0) return sizes + ", not tested";
  return fmt::format("interval {} to {}, {}, power {}", FormatNumber(metric.ci_low, 4),
                     FormatNumber(metric.ci_high, 4), sizes, FormatNumber(metric.power, 4));
}

// Whether its course is informative: not for an uninformative curve, nor for time and memory.
bool WorthAPicture(const CurveComparison& curve) {
  return curve.state != CurveState::kIdentical && curve.state != CurveState::kVacuous &&
         curve.kind != CurveKind::kResource && !curve.steps.empty();
}

}  // namespace

DocumentSection WeightsOf(const Comparison& comparison, const std::string& id) {
  DocumentSection section{
      .title = "Weights", .margin = "weights", .most = kMostWeights, .subjects = true};
  for (std::size_t i = 0; i < comparison.checkpoints.size(); ++i) {
    const CheckpointComparison& checkpoint = comparison.checkpoints[i];
    const SubjectState state = StateOf(checkpoint, comparison);
    const bool decides = checkpoint.weights || (checkpoint.is_file && checkpoint.matters);
    section.rows.push_back(
        {.tone = state.colour,
         .cells = {{checkpoint.subject, As::kCode},
                   StateBadge(state),
                   decides ? "" : "explains, does not decide"},
         .details = LinesOf(checkpoint),
         .explains = !state.decides,
         .sign = state.sign,
         .sentence = fmt::format("{}: {}", checkpoint.subject, CheckpointWords(checkpoint)),
         .inside = [&checkpoint, name = fmt::format("{}-w{}", id, i + 1)](bool) {
           return InsideOf(checkpoint, name);
         }});
  }
  return section;
}

DocumentSection CurvesOf(const Comparison& comparison) {
  DocumentSection section{.title = "Curves",
                          .columns = {{"Curve"},
                                      {"Kind"},
                                      {"Result"},
                                      {"Steps", true},
                                      {"First difference", true},
                                      {"First beyond", true},
                                      {"Max rel", true}},
                          .margin = "curves",
                          .most = kMostSubjects};
  std::size_t deciding = 0;
  for (const CurveComparison* curve : OrderedCurves(comparison)) {
    const SubjectState state = StateOf(*curve);
    section.rows.push_back({.tone = state.colour,
                            .cells = {{curve->name, As::kCode},
                                      fmt::format("{}{}", NameIn(kCurveKindNames, curve->kind),
                                                  state.decides ? "" : " (advises)"),
                                      StateBadge(state),
                                      FormatCount(curve->steps.size()),
                                      StepOf(curve->first_difference),
                                      StepOf(curve->first_beyond),
                                      // A curve on one side only has no number.
                                      curve->steps.empty() ? "–" : FormatNumber(curve->max_rel, 3)},
                            .explains = !state.decides,
                            .sign = state.sign,
                            .sentence = fmt::format("{}: {}", curve->name, CurveWords(*curve))});
    if (state.decides) ++deciding;
  }
  section.most.screen = std::min(section.most.screen, deciding);  // a screen counts the others
  return section;
}

DocumentSection PicturedCurvesOf(const Comparison& comparison, const std::string& id) {
  DocumentSection section{.title = "", .most = {.page = kMostPictured}, .subjects = true};
  const SideWords words = WordsOf(comparison);
  const std::vector<const CurveComparison*> order = OrderedCurves(comparison);
  // Curves that differ; if none does, the first one, so that there is a picture.
  const bool none =
      std::ranges::none_of(order, [](const CurveComparison* one) { return WorthAPicture(*one); });
  for (const CurveComparison* curve : order) {
    if (none ? curve != order.front() : !WorthAPicture(*curve)) continue;
    const SubjectState state = StateOf(*curve);
    section.rows.push_back(
        {.tone = state.colour,
         .cells = {{curve->name, As::kCode}, StateBadge(state)},
         .inside = [curve, words, name = fmt::format("{}-c{}", id, section.rows.size() + 1)](bool) {
           return std::vector<DocumentSection>{{.title = "",
                                                .facts = NumbersOf(*curve, words),
                                                .pictures = PicturesOf(*curve, words, name)}};
         }});
  }
  return section;
}

DocumentSection MetricsOf(const Comparison& comparison, const std::string& id) {
  DocumentSection section{
      .title = "Metrics", .margin = "metrics", .most = kMostMetrics, .subjects = true};
  for (const MetricDecision* metric : OrderedMetrics(comparison)) {
    const SubjectState state = StateOf(*metric, comparison);
    DocumentRow row = MetricRowOf(*metric, comparison.verdict == Verdict::kIdentical,
                                  fmt::format("{}-m{}", id, section.rows.size() + 1));
    row.explains = !state.decides;
    row.sign = state.sign;
    const std::string samples =
        metric->variance_basis == kSequencesBasis ? "" : "; " + SamplesOf(*metric);
    row.sentence =
        fmt::format("{} {}: {}{}", metric->name, state.label, MetricWords(*metric), samples);
    section.rows.push_back(std::move(row));
  }
  return section;
}

}  // namespace rharness
