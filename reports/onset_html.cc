// Where two runs part, as a page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/onset_report.h"
#include "reports/svg_plots.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostOnsetRows = 400;
constexpr std::size_t kMostOnsetCurves = 12;
constexpr std::string_view kOnsetRecord = "onset.json";

std::string OnsetItems(std::string_view title, const std::vector<std::string>& texts) {
  if (texts.empty()) return "";
  std::string items;
  const std::size_t shown = std::min<std::size_t>(texts.size(), 40);
  for (std::size_t i = 0; i < shown; ++i) {
    items += fmt::format("<li>{}</li>\n", HtmlText(texts[i], 1000));
  }
  return fmt::format("<h2>{}</h2>\n<ul>\n{}</ul>\n{}", title, items,
                     HtmlLeftOut(texts.size(), shown, kOnsetRecord));
}

std::string OnsetFigure(std::string_view title, std::string_view words, const std::string& svg,
                        std::string_view id) {
  if (svg.empty()) return "";
  return fmt::format("<h2 id=\"{}\">{}</h2>\n<p class=\"soft\">{}</p>\n<figure>{}</figure>\n", id,
                     title, words, svg);
}

std::string_view ClassOfState(RecordState state) {
  switch (state) {
    case RecordState::kEqual:
      return "identical";
    case RecordState::kOrigin:
    case RecordState::kOnlyA:
    case RecordState::kOnlyB:
      return "drifted";
    case RecordState::kHandedOn:
      return "inconclusive";
    case RecordState::kUnknown:
      return "infra";
  }
  return "infra";
}

std::string Apart(double distance) { return std::isnan(distance) ? "" : FormatNumber(distance, 3); }

// What differs of the step, and around where it begins what does not.
std::string RecordRows(const Onset& onset, std::size_t* all) {
  std::string rows;
  std::size_t shown = 0;
  for (const OnsetRecord& record : onset.strip) {
    if (record.state == RecordState::kEqual) continue;
    ++*all;
    if (++shown > kMostOnsetRows) continue;
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Kind\">{}</td><td "
        "data-l=\"State\"><span class=\"b\">{}</span></td><td class=\"n\" "
        "data-l=\"Apart\">{}</td><td data-l=\"Size\">{}</td><td class=\"n\" data-l=\"Norm "
        "A\">{}</td><td class=\"n\" data-l=\"Norm B\">{}</td></tr>\n",
        ClassOfState(record.state), HtmlText(NameOfRecord(record.a), 300),
        HtmlName(TraceKindName(record.a.kind)), HtmlName(RecordStateName(record.state)),
        Apart(record.distance), HtmlName(DifferenceSizeName(record.size)), Apart(record.a.norm),
        Apart(record.b.norm));
  }
  return rows;
}

std::string TraceParts(const OnsetReport& report) {
  const Onset& onset = report.traces;
  std::string out = OnsetFigure(
      "The step in network order",
      "A cell is a tensor, in the order in which the network makes and uses it. Filled ones "
      "differ; the tallest begin it, on equal inputs.",
      SvgOnsetStrip(onset, "strip"), "drawn");
  out += OnsetFigure("How far apart by step",
                     "Relative, on a log axis: parameters (solid), outputs of the network (broad), "
                     "loss (dashed).",
                     SvgOnsetGrowth(onset, "growth"), "growing");
  std::size_t all = 0;
  const std::string rows = RecordRows(onset, &all);
  if (!rows.empty()) {
    out += HtmlTable("What differs in this step",
                     HtmlHeads({"Tensor", "Kind", "State", Numbers("Apart"), "Size",
                                Numbers("Norm A"), Numbers("Norm B")}),
                     rows, "stack");
    out += HtmlLeftOut(all, std::min(all, kMostOnsetRows), kOnsetRecord);
  }
  return out;
}

std::string CheckpointParts(const OnsetReport& report) {
  std::string rows;
  for (std::size_t i = 0; i < std::min(report.checkpoints.size(), kMostOnsetRows); ++i) {
    const OnsetCheckpoint& one = report.checkpoints[i];
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"State\"><span "
        "class=\"b\">{}</span></td></tr>\n",
        one.state == "equal"     ? "identical"
        : one.state == "differs" ? "drifted"
                                 : "infra",
        HtmlText(one.name, 300), HtmlName(one.state));
  }
  std::string out;
  if (!rows.empty()) {
    out += HtmlTable("Checkpoints", HtmlHeads({"Checkpoint", "State"}), rows, "stack");
    out += HtmlLeftOut(report.checkpoints.size(),
                       std::min(report.checkpoints.size(), kMostOnsetRows), kOnsetRecord);
  }
  rows.clear();
  for (std::size_t i = 0; i < std::min(report.tensors.size(), kMostOnsetRows); ++i) {
    const OnsetTensor& one = report.tensors[i];
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\" data-l=\"Differing\">{}</td><td class=\"n\" "
        "data-l=\"Of\">{}</td><td class=\"n\" data-l=\"Most ULP\">{}</td><td class=\"n\" "
        "data-l=\"Relative\">{}</td></tr>\n",
        HtmlText(one.name, 300), FormatCount(one.differing), FormatCount(one.elements),
        FormatCount(one.max_ulp), Apart(one.relative));
  }
  if (rows.empty()) return out;
  out += fmt::format("<p class=\"soft\">{}</p>\n", HtmlText(report.tensor_order, 300));
  out += HtmlTable("Tensors of the first that differs",
                   HtmlHeads({"Tensor", Numbers("Differing"), Numbers("Of"), Numbers("Most ULP"),
                              Numbers("Relative")}),
                   rows, "stack");
  return out + HtmlLeftOut(report.tensors.size(), std::min(report.tensors.size(), kMostOnsetRows),
                           kOnsetRecord);
}

std::string CurveParts(const std::vector<CurveComparison>& curves, std::string_view id) {
  std::string out;
  for (std::size_t i = 0; i < std::min(curves.size(), kMostOnsetCurves); ++i) {
    const std::string name = fmt::format("{}-{}", id, i);
    out += fmt::format("<h3>{}</h3>\n<p>{}</p>\n", HtmlText(curves[i].name, 200),
                       HtmlText(curves[i].message, 1000));
    if (const std::string svg = SvgDivergence(curves[i], name); !svg.empty()) {
      out += fmt::format("<figure>{}</figure>\n", svg);
    }
  }
  return out.empty() ? out : "<h2>Curves</h2>\n" + out;
}

}  // namespace

std::string WriteHtml(const OnsetReport& report) {
  std::string out = HtmlHead(report.headline);
  const bool drawn = report.traced && !report.traces.strip.empty();
  out +=
      HtmlTop({.page_class = report.exit_code == 0 ? "drifted" : "inconclusive",
               .eyebrow_html = fmt::format("Where two runs part · {}", FormatMinute(report.made)),
               .answer = report.headline,
               .next_html = HtmlText(report.next, 600),
               .skip_id = drawn ? "drawn" : "end",
               .skip_words = "Skip to the step"});
  out += HtmlNotes(report.notes);
  out += "<h2>In short</h2>\n<dl class=\"facts\">" + HtmlFact("A", HtmlCode(report.a)) +
         HtmlFact("B", HtmlCode(report.b));
  if (report.traced && !report.traces.what.empty()) {
    out += HtmlFact("Kind", HtmlName(report.traces.what));
    out += HtmlFact("Layer", std::string(LayerName(report.traces.layer)));
    out += HtmlFact("Growth", HtmlName(report.traces.growth));
  }
  out += "</dl>\n" + OnsetItems("Shown by", report.reasons);
  if (report.traced) out += TraceParts(report) + CurveParts(report.traces.curves, "trace-curve");
  out += CheckpointParts(report);
  out += CurveParts(report.curves, "curve");
  return out + HtmlEnd(report.version, kOnsetRecord, false);
}

}  // namespace rharness
