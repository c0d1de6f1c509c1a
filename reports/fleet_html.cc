// A fleet as a page: classes of identical arithmetic, and what sets each odd node apart.
#include <fmt/format.h>

#include <algorithm>

#include "reports/fingerprint_grid.h"
#include "reports/fingerprint_report.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostClasses = 300;
constexpr std::size_t kMostOdd = 200;
constexpr std::size_t kNamedNodes = 60;
constexpr std::size_t kMostProbes = 40;
constexpr std::size_t kMostNodeFacts = 40;  // of a node
constexpr std::size_t kMostFleetRows = 1000;
constexpr std::size_t kMostValues = 4;

std::string NodeNames(const std::vector<std::string>& names) {
  std::string out;
  const std::size_t shown = std::min(names.size(), kNamedNodes);
  for (std::size_t i = 0; i < shown; ++i) {
    out += (i > 0 ? ", " : "") + HtmlText(names[i], 120);
  }
  if (names.size() > shown) out += fmt::format(" and {} more", names.size() - shown);
  return out;
}

std::string ClassRow(const FleetClass& one) {
  const std::string badge = one.majority ? "<span class=\"b\">majority</span>" : "";
  return fmt::format(
      "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Class\"><code>{}</code> {}</td>"
      "<td class=\"n\" data-l=\"Nodes\">{}</td><td data-l=\"Which\">{}</td></tr>\n",
      one.majority ? "identical" : "inconclusive", HtmlText(one.hardware_class, 200),
      HtmlText(one.arithmetic.substr(0, 12), 40), badge, one.nodes.size(), NodeNames(one.nodes));
}

std::string Classes(const Fleet& fleet) {
  if (fleet.classes.empty()) return "";
  std::string rows;
  const std::size_t shown = std::min(fleet.classes.size(), kMostClasses);
  for (std::size_t i = 0; i < shown; ++i) rows += ClassRow(fleet.classes[i]);
  return fmt::format(
      "<h2 id=\"classes\">Classes of identical arithmetic</h2>\n<div class=\"wide\" tabindex=\"0\" "
      "role=\"region\" aria-labelledby=\"classes\"><table class=\"stack\"><thead><tr>{}</tr>"
      "</thead><tbody>\n{}</tbody></table></div>\n{}",
      HtmlHeads({"Hardware", "Class", Numbers("Nodes"), "Which"}), rows,
      HtmlLeftOut(fleet.classes.size(), shown, "the output of --json"));
}

std::string Values(const std::vector<std::optional<std::string>>& values) {
  std::string out;
  for (std::size_t i = 0; i < std::min(values.size(), kMostValues); ++i) {
    out += (i > 0 ? " or " : "") + HtmlText(values[i].value_or("(absent)"), 200);
  }
  return out + (values.size() > kMostValues ? " or another" : "");
}

// The node's name stands in the first row of its facts.
std::string FactRow(const OddNode& odd, const FleetFact* fact, bool first) {
  const std::string name = first ? HtmlText(odd.node, 120) : "";
  const std::string suspect =
      first ? fmt::format("<span class=\"b\">{}</span>", SuspectName(odd.suspect)) : "";
  const std::string cells =
      fact == nullptr
          ? "<td colspan=\"3\" class=\"soft\">no fact of its stack that no node of the majority "
            "has</td>"
          : fmt::format(
                "<td data-l=\"Fact\"><code>{}</code></td><td data-l=\"Here\">{}</td>"
                "<td data-l=\"In the majority\">{}</td>",
                HtmlName(fact->key), HtmlText(fact->here.value_or("(absent)"), 200),
                Values(fact->majority));
  return fmt::format(
      "<tr class=\"drifted\"><th scope=\"row\">{}</th><td data-l=\"Suspect\">{}</td>{}</tr>\n",
      name, suspect, cells);
}

std::string FactTable(const Fleet& fleet) {
  std::string rows;
  std::size_t all = 0, shown = 0;
  for (const OddNode& odd : fleet.odd) {
    const std::size_t facts = std::max<std::size_t>(odd.facts.size(), 1);
    all += facts;
    for (std::size_t i = 0; i < std::min(facts, kMostNodeFacts) && shown < kMostFleetRows;
         ++i, ++shown) {
      rows += FactRow(odd, odd.facts.empty() ? nullptr : &odd.facts[i], i == 0);
    }
  }
  return fmt::format(
      "<h2 id=\"odd\">What sets odd nodes apart</h2>\n<div class=\"wide\" tabindex=\"0\" "
      "role=\"region\" aria-labelledby=\"odd\"><table class=\"stack\"><thead><tr>{}</tr></thead>"
      "<tbody>\n{}</tbody></table></div>\n{}",
      HtmlHeads({"Node", "Suspect", "Fact of its stack", "Here", "In the majority"}), rows,
      HtmlLeftOut(all, shown, "the output of --json"));
}

std::string OddHtml(const OddNode& odd) {
  std::string items;
  const auto& probes = odd.difference.probes;
  for (std::size_t i = 0; i < std::min(probes.size(), kMostProbes); ++i) {
    items += fmt::format("<li><b>{}</b>: {}</li>\n", ChangeWords(probes[i].change),
                         HtmlText(probes[i].sentence, 1000));
  }
  if (probes.size() > kMostProbes) {
    items += fmt::format("<li>and {} more probes</li>\n", probes.size() - kMostProbes);
  }
  return fmt::format(
      "<li class=\"drifted\"><p class=\"statement\">{} <span class=\"b\">suspect: {}</span></p>"
      "<p>{}</p><p class=\"soft\">{} · {}</p><p>Shown by:</p><ul>{}</ul></li>\n",
      HtmlText(odd.node, 120), SuspectName(odd.suspect), HtmlText(odd.sentence, 600),
      HtmlText(odd.hardware_class, 200), HtmlText(odd.difference.summary, 300), items);
}

std::string Odd(const Fleet& fleet) {
  if (fleet.odd.empty()) return "";
  std::string items;
  const std::size_t shown = std::min(fleet.odd.size(), kMostOdd);
  for (std::size_t i = 0; i < shown; ++i) items += OddHtml(fleet.odd[i]);
  return FactTable(fleet) +
         fmt::format("<h2>Which probes show it</h2>\n<ul class=\"causes\">\n{}</ul>\n{}", items,
                     HtmlLeftOut(fleet.odd.size(), shown, "the output of --json"));
}

}  // namespace

std::string WriteHtml(const Fleet& fleet, std::string_view version) {
  const std::string_view next =
      fleet.exit_code == 0 ? "nothing to do: a run may be placed on any node of a class."
      : fleet.exit_code == 1
          ? "keep the odd nodes out of runs that must repeat, and run the probes "
            "on them once more."
          : "run the probes on two nodes or more; nothing is known so far.";
  std::vector<std::string> notes = fleet.notes;
  notes.insert(notes.end(), fleet.unusable.begin(), fleet.unusable.end());
  std::string out = HtmlHead(fleet.summary);
  out += HtmlTop({.page_class = fleet.exit_code == 0   ? "identical"
                                : fleet.exit_code == 1 ? "drifted"
                                                       : "inconclusive",
                  .eyebrow_html = fmt::format(
                      "Fleet of {} · {}", Counted(static_cast<std::uint64_t>(fleet.nodes), "node"),
                      Counted(static_cast<std::uint64_t>(fleet.fingerprints), "fingerprint")),
                  .answer = fleet.summary,
                  .next_html = std::string(next),
                  .skip_id = fleet.classes.empty() ? "end" : "classes",
                  .skip_words = "Skip to the classes"});
  out += HtmlNotes(notes);
  out += Classes(fleet);
  out += Odd(fleet);
  out += "<div id=\"end\"></div>\n";
  return out + HtmlEnd(version, "the output of --json", false);
}

}  // namespace rharness
