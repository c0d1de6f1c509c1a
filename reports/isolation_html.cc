// A search as a page: the answer, the search drawn, what it rests on.
#include <fmt/format.h>

#include <algorithm>

#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/isolation_report.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostAxesDrawn = 400;
constexpr std::size_t kMostTrialsDrawn = 1000;
constexpr std::size_t kMostItems = 40;
constexpr std::string_view kRecord = "isolation.json";

std::string Items(std::string_view title, const std::vector<std::string>& texts) {
  if (texts.empty()) return "";
  std::string items;
  for (std::size_t i = 0; i < std::min(texts.size(), kMostItems); ++i) {
    items += fmt::format("<li>{}</li>\n", HtmlText(texts[i], 1000));
  }
  return fmt::format("<h2>{}</h2>\n<ul>\n{}</ul>\n{}", title, items,
                     HtmlLeftOut(texts.size(), std::min(texts.size(), kMostItems), kRecord));
}

std::string Facts(const IsolationReport& report) {
  std::string facts;
  facts += HtmlFact("Run", HtmlText(report.run_id, 200));
  facts += HtmlFact(
      "Reruns", fmt::format("{}{}", report.trials.size(),
                            report.budget > 0 ? fmt::format(" of at most {}", report.budget) : ""));
  if (const std::string sure = Sureness(report); !sure.empty()) {
    facts += HtmlFact("Confidence", sure);
  }
  if (!report.mitigation.empty()) facts += HtmlFact("Set back", HtmlCode(report.mitigation));
  if (!report.mitigation_cost.empty()) {
    facts += HtmlFact("What that costs", HtmlText(report.mitigation_cost, 300));
  }
  if (report.planned && report.cost.most > 0) {
    const int most = report.cost.most_of_two;
    const std::string two = most > 0 ? fmt::format(", up to {} for two", most) : "";
    facts += HtmlFact("Planned", fmt::format("{} reruns for one cause{}",
                                             FromTo(report.cost.fewest, report.cost.most), two));
  }
  return "<h2>In short</h2>\n<dl class=\"facts\">" + facts + "</dl>\n";
}

std::string Drawn(const IsolationReport& report) {
  const std::string drawing = SvgSearch(report, "search");
  if (drawing.empty()) return "";
  return "<h2 id=\"drawn\">The search</h2>\n<p class=\"soft\">A row is a rerun, a column a change. "
         "A "
         "filled cell was set as it drifted; its colour is the rerun's answer.</p>\n<figure>" +
         drawing + "</figure>\n";
}

std::string AxisRows(const IsolationReport& report) {
  std::string rows;
  for (std::size_t i = 0; i < std::min(report.axes.size(), kMostAxesDrawn); ++i) {
    const IsolationAxis& axis = report.axes[i];
    std::string_view kind = axis.cannot_be_set.empty() ? "identical" : "infra";
    std::string role = axis.cannot_be_set.empty() ? "no part of the cause" : axis.cannot_be_set;
    if (axis.cannot_be_set.empty() && report.end != "named") role = "";
    if (!axis.cause.empty()) {
      kind = "drifted";
      role = axis.set_back ? "cause; set back" : "cause";
    }
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Layer\">{}</td><td "
        "data-l=\"Recorded\">{}</td><td data-l=\"Drifted\">{}</td><td class=\"n\" "
        "data-l=\"Steps\">{}</td><td data-l=\"Role\">{}</td></tr>\n",
        kind, HtmlText(axis.name, 200), LayerName(axis.layer), HtmlCode(axis.recorded, 300),
        HtmlCode(axis.drifted, 300), axis.last, HtmlText(role, 300));
  }
  return rows;
}

std::string TrialRows(const IsolationReport& report) {
  std::string rows;
  for (std::size_t i = 0; i < std::min(report.trials.size(), kMostTrialsDrawn); ++i) {
    const IsolationTrial& trial = report.trials[i];
    const std::string_view kind = trial.answer == "reproduces" ? "drifted"
                                  : trial.answer == "does_not" ? "identical"
                                  : trial.answer == "other" || trial.answer == "partly" ? "failed"
                                                                                        : "infra";
    const std::string href = RelativeHref(trial.evidence + "/evidence.json");
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Asked\">{}</td><td "
        "data-l=\"Answer\"><span class=\"b\">{}</span></td><td data-l=\"Seen\">{}</td><td "
        "class=\"n\" "
        "data-l=\"Time\">{} s</td></tr>\n",
        kind,
        href.empty() ? std::to_string(trial.number)
                     : fmt::format("<a href=\"{}\">{}</a>", href, trial.number),
        HtmlName(trial.purpose), HtmlName(trial.answer), HtmlText(trial.seen, 400),
        FormatNumber(trial.seconds, 3));
  }
  return rows;
}

}  // namespace

std::string WriteHtml(const IsolationReport& report) {
  std::string out = HtmlHead(report.headline);
  out += HtmlTop({.page_class = report.exit_code == 0 ? "identical" : "inconclusive",
                  .eyebrow_html = fmt::format("Isolation of {} · {}", HtmlText(report.run_id, 200),
                                              FormatMinute(report.made)),
                  .answer = report.headline,
                  .next_html = HtmlText(report.next, 600),
                  .skip_id = report.trials.empty() ? "end" : "drawn",
                  .skip_words = "Skip to the search"});
  out += HtmlNotes(report.notes);
  out += Facts(report);
  out += Drawn(report);
  out += Items("The difference that is looked for", report.target);
  out += Items("Shown by", report.shown_by);
  out += Items("Met on the way, and no evidence", report.branches);
  out += Items("Still possible", report.possible);
  out += HtmlTable("What changed",
                   HtmlHeads({"Axis", "Layer", "Recorded", "Drifted", Numbers("Steps"), "Role"}),
                   AxisRows(report), "stack");
  out += HtmlLeftOut(report.axes.size(), std::min(report.axes.size(), kMostAxesDrawn), kRecord);
  if (!report.trials.empty()) {
    out += HtmlTable("Reruns", HtmlHeads({"Rerun", "Asked", "Answer", "Seen", Numbers("Time")}),
                     TrialRows(report), "stack");
    out += HtmlLeftOut(report.trials.size(), std::min(report.trials.size(), kMostTrialsDrawn),
                       kRecord);
  }
  return out + HtmlEnd(report.version, kRecord, false);
}

}  // namespace rharness
