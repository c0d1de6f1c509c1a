// The curves of a comparison on the page; see comparison_html_parts.h.
#include <fmt/format.h>

#include <algorithm>

#include "reports/comparison_html_parts.h"
#include "reports/comparison_summary.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/names.h"
#include "reports/svg_plots.h"

namespace rharness {
namespace {

constexpr std::size_t kMostCurveRows = 50;
constexpr std::size_t kMostPictured = 6;

std::string StepOf(const std::optional<std::int64_t>& step) {
  return step ? std::to_string(*step) : "–";
}

// A curve on one side only has no number.
std::string Measured(const CurveComparison& curve, const std::string& number) {
  return curve.steps.empty() ? "–" : number;
}

std::string TableRow(const CurveComparison& curve) {
  const SubjectState state = StateOf(curve);
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td>{}{}</td><td>{}</td><td class=\"n\">{}</td><td "
      "class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
      HtmlCode(curve.name, 200), NameIn(kCurveKindNames, curve.kind),
      state.decides ? "" : " <span class=\"soft\">(advises)</span>", HtmlStateBadge(state),
      FormatCount(curve.steps.size()), StepOf(curve.first_difference), StepOf(curve.first_beyond),
      Measured(curve, FormatNumber(curve.max_rel, 3)));
}

std::string CurveRow(std::string_view name, std::string_view value_html) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>", name, value_html);
}

std::string Numbers(const CurveComparison& curve, const SideWords& words) {
  std::string out = "<dl class=\"numbers\">";
  out += CurveRow("Result", HtmlText(CurveWords(curve)));
  if (!curve.rule.empty()) out += CurveRow("Rule", HtmlText(curve.rule, 600));
  out += CurveRow("Basis", curve.basis.empty() ? "none" : HtmlText(curve.basis, 60));
  out += CurveRow(
      "Steps", fmt::format("{} aligned, {} differ; {} only in “{}”, {} only in “{}”",
                           FormatCount(curve.steps.size()), FormatCount(curve.differing),
                           FormatCount(curve.only_a), words.a, FormatCount(curve.only_b), words.b));
  out += CurveRow("Largest distance", fmt::format("{} absolute; {} relative, at step {}",
                                                  FormatNumber(curve.max_abs, 4),
                                                  FormatNumber(curve.max_rel, 4), curve.max_step));
  if (!curve.band.empty()) {
    out += CurveRow(
        "Largest share of a limit",
        FormatNumber(curve.statistic, 4) +
            (curve.false_alarm > 0 ? fmt::format(", limit 1 (false alarms: {} of further runs)",
                                                 FormatNumber(curve.false_alarm, 3))
                                   : ", limit 1"));
  }
  if (curve.first_non_finite) {
    out += CurveRow("Stops being finite", fmt::format("from step {}", *curve.first_non_finite));
  }
  return out + "</dl>";
}

std::string Pictured(const CurveComparison& curve, const SideWords& words, const std::string& id) {
  const std::string both = SvgCurves(curve, id + "c");
  const std::string apart = SvgDivergence(curve, id + "d");
  std::string plots;
  if (!both.empty()) {
    plots += fmt::format(
        "<figure>{}<figcaption>{} is the broad line, {} the thin dashed one{}.</figcaption>"
        "</figure>",
        both, words.a, words.b, curve.differing == 0 ? "; they are the same" : "");
  }
  if (!apart.empty()) {
    plots += fmt::format(
        "<figure>{}<figcaption>Distance between the two, |b − a|, on a log "
        "axis.{}</figcaption></figure>",
        apart,
        curve.band.empty() ? " Nothing shows how far two such runs may differ."
                           : " The shaded area is the limit of a single value.");
  }
  return fmt::format("<div class=\"subject {}\"><h4>{} {}</h4>{}{}</div>",
                     VerdictName(StateOf(curve).colour), HtmlCode(curve.name, 200),
                     HtmlStateBadge(StateOf(curve)),
                     plots.empty() ? "" : fmt::format("<div class=\"plots\">{}</div>", plots),
                     Numbers(curve, words));
}

// Whether its course is informative: not for an uninformative curve, nor for time and memory.
bool WorthAPicture(const CurveComparison& curve) {
  return curve.state != CurveState::kIdentical && curve.state != CurveState::kVacuous &&
         curve.kind != CurveKind::kResource && !curve.steps.empty();
}

// Curves that differ; if none does, the first one, so that there is a picture.
std::vector<const CurveComparison*> ToPicture(const std::vector<const CurveComparison*>& order) {
  std::vector<const CurveComparison*> chosen;
  for (const CurveComparison* curve : order) {
    if (WorthAPicture(*curve)) chosen.push_back(curve);
  }
  if (chosen.empty() && !order.empty()) chosen.push_back(order.front());
  return chosen;
}

}  // namespace

std::string HtmlCurves(const Comparison& comparison, std::string_view id) {
  if (comparison.curves.empty()) return "";
  const std::vector<const CurveComparison*> order = OrderedCurves(comparison);
  std::string rows;
  for (std::size_t i = 0; i < std::min(order.size(), kMostCurveRows); ++i)
    rows += TableRow(*order[i]);
  std::string out = HtmlTable(
      "Curves",
      HtmlHeads({"Curve", "Kind", "Result"}) +
          "<th scope=\"col\" class=\"n\">Steps</th><th scope=\"col\" class=\"n\">First "
          "difference</th><th scope=\"col\" class=\"n\">First beyond</th><th scope=\"col\" "
          "class=\"n\">Max rel</th>",
      rows);
  out += HtmlLeftOut(order.size(), kMostCurveRows, WordsOf(comparison).record);
  const std::vector<const CurveComparison*> pictured = ToPicture(order);
  for (std::size_t i = 0; i < std::min(pictured.size(), kMostPictured); ++i) {
    out += Pictured(*pictured[i], WordsOf(comparison), fmt::format("{}-c{}", id, i + 1));
  }
  if (pictured.size() > kMostPictured) {
    out += fmt::format("<p class=\"soft\">{} that differ have no picture here.</p>",
                       Counted(pictured.size() - kMostPictured, "more curve"));
  }
  return out;
}

}  // namespace rharness
