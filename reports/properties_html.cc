// Properties as a page: what was claimed, what became of it, and where the legs lie.
#include <fmt/format.h>

#include <algorithm>

#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/properties_report.h"
#include "reports/properties_words.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostPropertyRows = 2000;
constexpr std::size_t kMostReasonsShown = 20;
constexpr std::string_view kPropertiesRecord = "properties.json";

std::string WhyHtml(const PropertyResult& result) {
  std::string out;
  if (result.newly_lost) {
    out +=
        fmt::format("<p><strong>Lost since: {}.</strong></p>", HtmlText(BeforeWords(result), 300));
  }
  out += fmt::format("<p>{}</p>", HtmlText(result.headline, 1000));
  const std::size_t shown = std::min(result.reasons.size(), kMostReasonsShown);
  if (shown > 1) {
    out += "<ul>";
    for (std::size_t i = 0; i < shown; ++i) {
      out += fmt::format("<li>{}</li>", HtmlText(result.reasons[i].message, 800));
    }
    out += "</ul>" + HtmlLeftOut(result.reasons.size(), shown, kPropertiesRecord);
  }
  for (const std::string& note : result.notes) {
    out += fmt::format("<p class=\"soft\">{}</p>", HtmlText(note, 600));
  }
  if (!result.newly_lost && !result.last_state.empty()) {
    out += fmt::format("<p class=\"soft\">The drill before: {}.</p>",
                       HtmlText(BeforeWords(result), 300));
  }
  return out;
}

std::string RowHtml(const PropertyResult& result) {
  std::string legs;
  for (const std::string& leg : result.legs) {
    legs += (legs.empty() ? "" : "<br>") + HtmlText(leg, 300);
  }
  return fmt::format(
      "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"State\"><span "
      "class=\"b\">{}</span></td><td data-l=\"Claim\">{}</td><td data-l=\"Why\">{}</td><td "
      "data-l=\"Legs\">{}</td></tr>\n",
      VerdictName(ToneOf(result)), HtmlText(result.name, 120), StateWord(result.state),
      HtmlText(result.claim, 600), WhyHtml(result), legs);
}

}  // namespace

std::string WriteHtml(const PropertiesReport& report) {
  std::string out = HtmlHead(report.headline);
  out += HtmlTop({.page_class = report.exit_code == 0   ? "identical"
                                : report.exit_code == 1 ? "drifted"
                                                        : "inconclusive",
                  .eyebrow_html = fmt::format("Properties · {}", FormatMinute(report.made)),
                  .answer = report.headline,
                  .next_html = HtmlText(report.next, 600),
                  .skip_id = "properties",
                  .skip_words = "Skip to the properties"});
  out += HtmlNotes(report.notes);
  out += "<div id=\"properties\">\n";
  const std::size_t shown = std::min(report.results.size(), kMostPropertyRows);
  for (std::size_t i = 0; i < shown;) {
    const std::string& run = report.results[i].run_id;
    std::string rows;
    for (; i < shown && report.results[i].run_id == run; ++i) rows += RowHtml(report.results[i]);
    out += HtmlTable(SafeText(run, 200), HtmlHeads({"Property", "State", "Claim", "Why", "Legs"}),
                     rows, "stack");
  }
  out += HtmlLeftOut(report.results.size(), shown, kPropertiesRecord) + "</div>\n";
  std::string facts = HtmlFact("Drill", HtmlText(report.drill_id, 200));
  facts += HtmlFact("Legs", std::to_string(report.legs));
  facts += HtmlFact("Error rate",
                    "0.05 a property, of runs that differ from their own repeats; else none");
  if (!report.host.empty()) facts += HtmlFact("Host", HtmlText(report.host, 400));
  out += "<h2>In short</h2>\n<dl class=\"facts\">" + facts + "</dl>\n";
  return out + HtmlEnd(report.version, kPropertiesRecord, false);
}

}  // namespace rharness
