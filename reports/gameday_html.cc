// A game day as a page: what would have been found, what is called without a reason.
#include <fmt/format.h>

#include <algorithm>

#include "reports/gameday_report.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostGamedaySections = 200;
constexpr std::string_view kGamedayRecord = "gameday.json";

// The colour: found or missed where that is told, else open.
std::string_view RateKind(const SensitivityRate& rate, bool is_fault) {
  if (!rate.cannot.empty() || rate.trials == 0) return "infra";
  const double share = static_cast<double>(rate.found) / rate.trials;
  if (!is_fault) return rate.found == 0 ? "identical" : "drifted";
  if (!rate.enough) return "inconclusive";
  return share > 0.5 ? "identical" : "drifted";
}

// What stands beside a rate: why there is none, what it lacks, what it is about.
std::string Beside(const SensitivityRate& rate, bool is_fault, bool planned) {
  if (!rate.cannot.empty()) return HtmlText(rate.cannot, 400);
  if (planned) return HtmlText(rate.example, 200);
  std::string lacks;
  if (is_fault && !rate.enough) {
    lacks = rate.more > 0 ? fmt::format("{} needed. ",
                                        Counted(static_cast<std::uint64_t>(rate.more), "more run"))
                          : "Too few trials. ";
  }
  if (rate.equal > 0) lacks += fmt::format("{} equal bit for bit. ", rate.equal);
  if (rate.not_made > 0) lacks += fmt::format("{} not made. ", rate.not_made);
  return lacks + HtmlText(rate.example, 300);
}

std::string RateRows(const std::vector<SensitivityRate>& rates, bool is_fault, bool planned) {
  std::string rows;
  for (const SensitivityRate& rate : rates) {
    const bool told = rate.cannot.empty() && !planned;
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Rate\">{}</td><td class=\"n\" "
        "data-l=\"Undecided\">{}</td><td data-l=\"Told\">{}</td></tr>\n",
        RateKind(rate, is_fault), HtmlText(rate.words, 200),
        told ? fmt::format("<span class=\"b\">{}</span>", RateWords(rate)) : "",
        told ? std::to_string(rate.undecided) : "", Beside(rate, is_fault, planned));
  }
  return rows;
}

std::string FamilySection(const SensitivityFamily& family, bool planned) {
  std::string out = fmt::format(
      "<section><h2>{}</h2>\n<p class=\"soft\">{}{}{}</p>\n", HtmlText(family.name, 200),
      Counted(static_cast<std::uint64_t>(family.runs), "run"),
      family.declared.empty() ? "" : ", declared " + HtmlText(family.declared, 40),
      ", " + WayWords(family));
  out += HtmlTable("Would it have been found?",
                   HtmlHeads({"Planted", "Found", Numbers("Undecided"), "Told"}),
                   RateRows(family.faults, true, planned), "stack");
  if (!planned) {
    out += HtmlTable("Called, and nothing was planted",
                     HtmlHeads({"Trial", "Called", Numbers("Undecided"), "Told"}),
                     RateRows(family.unchanged, false, false), "stack");
  }
  return out + "</section>\n";
}

}  // namespace

std::string WriteHtml(const GamedayReport& report) {
  const Sensitivity& sensitivity = report.sensitivity;
  std::string out = HtmlHead(report.headline);
  out += HtmlTop({.page_class = report.exit_code == 0 ? "identical" : "inconclusive",
                  .eyebrow_html = fmt::format("Game day · {}", FormatMinute(sensitivity.made)),
                  .answer = report.headline,
                  .next_html = HtmlText(report.next, 600),
                  .skip_id = "rates",
                  .skip_words = "Skip to the rates"});
  out += HtmlNotes(report.notes);
  out += "<div id=\"rates\">\n";
  const auto& families = sensitivity.families;
  const std::size_t shown = std::min(families.size(), kMostGamedaySections);
  if (families.empty()) out += "<p>There are no trials; the notes say why.</p>\n";
  for (std::size_t i = 0; i < shown; ++i) out += FamilySection(families[i], report.planned);
  out += HtmlLeftOut(families.size(), shown, kGamedayRecord) + "</div>\n";
  std::string facts;
  facts += HtmlFact("Game day", HtmlText(sensitivity.gameday_id, 200));
  facts += HtmlFact("Reruns", std::to_string(report.reruns));
  facts +=
      HtmlFact("Intervals", fmt::format("Clopper-Pearson, {:.0f} %; told where no wider than "
                                        "{:.0f} points",
                                        100 * sensitivity.confidence, 100 * sensitivity.width));
  if (!sensitivity.host.empty()) facts += HtmlFact("Host", HtmlText(sensitivity.host, 400));
  out += "<h2>In short</h2>\n<dl class=\"facts\">" + facts + "</dl>\n";
  return out + HtmlEnd(sensitivity.version, kGamedayRecord, false);
}

}  // namespace rharness
