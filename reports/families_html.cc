// The table of families on the drill's page, above its runs; see families.h.
#include <fmt/format.h>

#include "reports/comparison_sections.h"
#include "reports/document_html.h"
#include "reports/families.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/html_parts.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostPictures = 20;  // of families; beyond them numbers have to do

std::string MetricRows(const FamilyComparison& family) {
  std::string rows;
  for (const MetricDecision& metric : family.metrics) {
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                        HtmlCode(metric.name, 200), HtmlText(ShiftOf(metric), 300),
                        HtmlText(MarginOf(metric), 100), HtmlText(SpreadOf(metric), 100),
                        metric.primary ? "decides" : "advises");
  }
  return rows;
}

// What all of its runs have in common.
std::string FamilyCauses(const FamilyComparison& family) {
  if (family.causes.empty()) return "";
  std::string items;
  for (const Cause& cause : family.causes) {
    items += fmt::format("<li><b>{}</b>: {} {} <span class=\"soft\">{}</span></li>\n",
                         StrengthName(cause.strength), HtmlText(cause.statement, 400),
                         HtmlText(EvidenceOf(cause), 400), HtmlText(cause.confirm, 400));
  }
  return fmt::format("<p>In all runs that moved with it:</p>\n<ol>\n{}</ol>\n", items);
}

std::string Pictures(const FamilyComparison& family, std::string_view id) {
  DocumentSection section{.title = "", .subjects = true};
  for (const MetricDecision& metric : family.metrics) {
    section.rows.push_back(MetricRowOf(metric, family.verdict == Verdict::kIdentical,
                                       fmt::format("{}-m{}", id, section.rows.size() + 1)));
  }
  const Document document;
  return SectionsHtml({section}, {document, "report.json", 4}, kPageBytes);
}

}  // namespace

std::string HtmlFamilies(const Report& report) {
  if (report.families.empty()) return "";
  std::string out =
      "<h2 id=\"families\">Families</h2>\n<p class=\"soft\">Runs that differ in their seeds alone, "
      "judged together: each rerun beside its own record, and the mean of these differences "
      "beside the margin.</p>\n";
  std::size_t shown = 0;
  for (const FamilyComparison* family : FamiliesByWorst(report)) {
    if (++shown > kMostFamilyRows) continue;
    const std::string id = fmt::format("family-{}", shown);
    out += fmt::format(
        "<section class=\"{}\" id=\"{}\"><h3>{} {}, {}</h3>\n<p>{}</p>\n{}{}{}</section>\n",
        VerdictName(family->verdict), id, HtmlBadge(family->verdict), HtmlText(family->name, 200),
        FamilyRuns(*family), HtmlText(family->headline, 800), FamilyCauses(*family),
        HtmlTable("Metrics",
                  HtmlHeads({"Metric", "Mean shift", "Margin", "Spread of differences", "Role"}),
                  MetricRows(*family)),
        shown > kMostPictures
            ? ""
            : fmt::format("<details><summary>Recorded values and reruns</summary>{}</details>",
                          Pictures(*family, id)));
  }
  return out + HtmlLeftOut(report.families.size(), std::min(shown, kMostFamilyRows), "report.json");
}

}  // namespace rharness
