// The page of one run: its whole life.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/site.h"
#include "reports/site_parts.h"
#include "reports/site_run_parts.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostSiteReasons = 8;
constexpr std::size_t kMostLayerFacts = 120;
constexpr std::size_t kMostListed = 200;

std::string RunAnswer(const SiteRun& page) {
  const std::string run = "Run " + SafeText(page.run.run_id, 120) + ". ";
  if (!page.run.last) return run + "No drill has judged it.";
  return fmt::format("{}Last verdict: {}{}.", run, VerdictLabel(*page.run.last),
                     page.run.judged ? ", " + FormatMinute(*page.run.judged) : "");
}

// For a drill's verdict: the reasons, and further measures.
std::string Because(const SiteRunVerdict& one) {
  std::string out = SentenceList(ReasonWords(one.said.reasons), kMostSiteReasons);
  if (!one.measured.empty()) {
    out += "<p class=\"soft\">" + HtmlText(fmt::format("{}", fmt::join(one.measured, "; ")), 600) +
           "</p>";
  }
  return out;
}

std::string VerdictTable(const SiteRun& page) {
  if (page.verdicts.empty()) return "";
  const bool with_layers = std::ranges::any_of(
      page.verdicts, [](const SiteRunVerdict& one) { return one.layers.has_value(); });
  std::string rows;
  for (const SiteRunVerdict& one : page.verdicts) {
    const StoredVerdict& said = one.said;
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td data-l=\"Verdict\">{}</td><td data-l=\"Drill\">{}{}</td>",
        FormatMinute(said.decided), BadgeOf(said.verdict), HtmlText(said.drill_id, 120),
        one.signatures == 0 ? "" : " <a class=\"flag\" href=\"#signed\">signed</a>");
    if (with_layers) {
      rows += fmt::format("<td data-l=\"Layers\">{}</td>",
                          one.layers ? HtmlMarks(LayerMarks(*one.layers)) : "");
    }
    rows += fmt::format("<td data-l=\"Reruns\">{}</td><td data-l=\"Because\">{}</td></tr>\n",
                        one.outcomes.empty() ? std::to_string(said.reruns)
                                             : SentenceList(one.outcomes, kMostSiteReasons),
                        Because(one));
  }
  std::vector<HtmlColumn> heads = {"Decided", "Verdict", "Drill"};
  if (with_layers) heads.emplace_back("Layers");
  heads.emplace_back("Reruns");
  heads.emplace_back("Because");
  return HtmlTable("Drills, the newest first", HtmlHeads(heads), rows, "stack") +
         fmt::format(
             "<p class=\"soft\">{}Tensors, curves and ranked causes are in the report that "
             "the drill wrote beside its evidence; the history does not keep them.</p>\n",
             with_layers ? "Layers: = as recorded, ≠ not so, ? not known. " : "") +
         SitePagerLinks(page.pager);
}

std::string FactRow(const Fact& fact) {
  const std::string key = HtmlText(fact.key, 200);
  if (fact.kind == FactKind::kNotKnown) {
    return fmt::format("<tr><th scope=\"row\">{}</th><td class=\"soft\">not recorded{}</td></tr>\n",
                       key, fact.value ? ": " + HtmlText(*fact.value, 200) : "");
  }
  return fmt::format(
      "<tr><th scope=\"row\">{}{}</th><td data-l=\"Value\">{}</td></tr>\n", key,
      fact.weight == FactWeight::kIdentity ? " <span class=\"flag\">must be met</span>" : "",
      HtmlFactValue(fact.value));
}

std::string LayerSection(Layer layer, const std::vector<Fact>& facts) {
  std::string rows;
  const std::size_t shown = std::min(facts.size(), kMostLayerFacts);
  for (std::size_t i = 0; i < shown; ++i) rows += FactRow(facts[i]);
  if (rows.empty()) rows = "<tr><td class=\"soft\">Nothing is recorded.</td></tr>\n";
  return fmt::format(
      "<details{}><summary>{}: {}</summary><div class=\"wide\"><table class=\"stack "
      "layer\"><tbody>{}</tbody></table></div>{}</details>\n",
      layer == Layer::kEnvironment ? "" : " open", LayerName(layer), Counted(facts.size(), "fact"),
      rows, HtmlLeftOut(facts.size(), shown, "its manifest"));
}

std::string MetricTable(const std::vector<SiteMetric>& metrics) {
  if (metrics.empty()) return "";
  std::string rows;
  for (std::size_t i = 0; i < std::min(metrics.size(), kMostListed); ++i) {
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\" data-l=\"Recorded\">{}</td>"
        "<td data-l=\"Asked\">{}</td></tr>\n",
        HtmlText(metrics[i].name, 200), HtmlText(metrics[i].value, 60),
        HtmlText(metrics[i].asked, 300));
  }
  return HtmlTable("Metrics", HtmlHeads({"Metric", Numbers("Recorded"), "How it is judged"}), rows,
                   "stack") +
         HtmlLeftOut(metrics.size(), kMostListed, "its manifest");
}

std::string PairTable(std::string_view title, std::string_view left, std::string_view right,
                      const std::vector<std::pair<std::string, std::string>>& pairs) {
  if (pairs.empty()) return "";
  std::string rows;
  for (std::size_t i = 0; i < std::min(pairs.size(), kMostListed); ++i) {
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td data-l=\"{}\">{}</td></tr>\n",
                        HtmlText(pairs[i].first, 300), right, HtmlText(pairs[i].second, 400));
  }
  return HtmlTable(title, HtmlHeads({left, right}), rows, "stack") +
         HtmlLeftOut(pairs.size(), kMostListed, "its manifest");
}

}  // namespace

std::string WriteSite(const SiteRun& page, const SiteFrame& frame) {
  const SiteRunRow& run = page.run;
  std::string out =
      SiteTop({.title = run.run_id,
               .here = "",
               .page_class = run.last ? VerdictName(*run.last) : "infra",
               .eyebrow_html = fmt::format("{} · family {} · run {}{}", SiteLink("/", "Fleet"),
                                           FamilyLink(run.family), HtmlText(run.run_id, 200),
                                           run.retired ? " · retired" : ""),
               .answer = RunAnswer(page),
               .words_html = ""},
              frame);
  out += HtmlNotes(page.notes);
  std::string about;
  for (const auto& [name, value] : page.about) {
    about += HtmlFact(HtmlText(name, 60),
                      name == kCommandFact ? HtmlWords(value, 600) : HtmlText(value, 600));
  }
  out +=
      fmt::format("<h2 class=\"sr\">About the run</h2><dl class=\"facts about\">{}</dl>\n", about);
  if (!page.record_notes.empty()) {
    out += fmt::format("<details><summary>{} when it was recorded</summary>{}</details>\n",
                       Counted(page.record_notes.size(), "remark"),
                       SentenceList(page.record_notes, kMostListed));
  }
  out += SiteStripPlot(page) + VerdictTable(page) + SiteLayersNow(page) + SiteChanges(page) +
         SiteSignatures(page) + SiteAnswers(page);
  const bool recorded = std::any_of(page.layers.begin(), page.layers.end(),
                                    [](const auto& facts) { return !facts.empty(); });
  if (recorded) out += "<h2 id=\"record\">The run as recorded, layer by layer</h2>\n";
  for (const Layer layer : kLayers) {
    if (recorded) out += LayerSection(layer, page.layers[static_cast<std::size_t>(layer)]);
  }
  out += MetricTable(page.metrics);
  out += PairTable("What it left", "Artifact", "SHA-256", page.artifacts);
  out += PairTable("Properties, as last said", "Property", "State", page.properties);
  return out + SiteEnd(frame);
}

}  // namespace rharness
