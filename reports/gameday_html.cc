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

// A bar from 0 to 100 %: the interval, and the rate in it.
std::string RateBar(const SensitivityRate& rate) {
  if (rate.trials == 0) return "";
  constexpr double kWidth = 160;
  const double share = static_cast<double>(rate.found) / rate.trials;
  return fmt::format(
      "<svg width=\"{0:.0f}\" height=\"14\" viewBox=\"0 0 {0:.0f} 14\" role=\"img\" "
      "aria-label=\"{1}\"><rect x=\"0\" y=\"6\" width=\"{0:.0f}\" height=\"2\" "
      "fill=\"currentColor\" "
      "opacity=\"0.2\"/><rect x=\"{2:.1f}\" y=\"4\" width=\"{3:.1f}\" height=\"6\" "
      "fill=\"currentColor\" opacity=\"0.35\"/><rect x=\"{4:.1f}\" y=\"1\" width=\"3\" "
      "height=\"12\" fill=\"currentColor\"/></svg>",
      kWidth, HtmlText(RateWords(rate), 100), kWidth * rate.low,
      std::max(1.0, kWidth * (rate.high - rate.low)), std::min(kWidth - 3, kWidth * share));
}

// The colour: found or missed where that is told, else open.
std::string_view RateKind(const SensitivityRate& rate, bool is_fault) {
  if (!rate.cannot.empty() || rate.trials == 0) return "infra";
  const double share = static_cast<double>(rate.found) / rate.trials;
  if (!is_fault) return rate.found == 0 ? "identical" : "drifted";
  if (!rate.enough) return "inconclusive";
  return share > 0.5 ? "identical" : "drifted";
}

std::string RateRows(const std::vector<SensitivityRate>& rates, bool is_fault, bool planned) {
  std::string rows;
  for (const SensitivityRate& rate : rates) {
    std::string told = rate.cannot.empty() ? RateWords(rate) : rate.cannot;
    if (planned && rate.cannot.empty()) told = rate.example;
    if (is_fault && !planned && rate.cannot.empty() && !rate.enough) {
      told += rate.more > 0
                  ? fmt::format("; {} needed",
                                Counted(static_cast<std::uint64_t>(rate.more), "more run"))
                  : "; too few trials";
    }
    if (rate.equal > 0) told += fmt::format("; {} equal bit for bit", rate.equal);
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Rate\">{}</td><td "
        "data-l=\"Told\"><span class=\"b\">{}</span></td><td class=\"n\" data-l=\"Undecided\">{}"
        "</td><td data-l=\"For example\">{}</td></tr>\n",
        RateKind(rate, is_fault), HtmlText(rate.words, 200), planned ? "" : RateBar(rate),
        HtmlText(told, 400), rate.undecided, planned ? "" : HtmlText(rate.example, 300));
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
                   HtmlHeads({"Planted", "Rate", "Found", "Undecided", "For example"}),
                   RateRows(family.faults, true, planned), "stack");
  if (!planned) {
    out += HtmlTable("Called, and nothing was planted",
                     HtmlHeads({"Trial", "Rate", "Called", "Undecided", "For example"}),
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
