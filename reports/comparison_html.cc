// A comparison, or a set of pairs, as one self-contained HTML page.
//
// Every string of a run passes HtmlText. In a set, all rows are present; their details appear in
// full, in brief or not at all as the page's size allows, the worst pairs first.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/comparison_html_parts.h"
#include "reports/comparison_report.h"
#include "reports/comparison_summary.h"
#include "reports/detail_budget.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"

namespace rharness {
namespace {

constexpr std::size_t kLargeSet = 500;  // pairs; above it reproduced ones have no details
constexpr std::size_t kPageFrameBytes = 60'000;

std::string_view PageClass(const ComparisonSet& set) {
  if (IsSingle(set)) return VerdictName(set.comparisons.front().verdict);
  if (CountOf(set.counts, Verdict::kDrifted) > 0) return "drifted";
  if (CountOf(set.counts, Verdict::kFailed) + CountOf(set.counts, Verdict::kInfra) > 0) {
    return "failed";
  }
  return set.exit_code == 0 ? "identical" : "inconclusive";
}

std::string Facts(const ComparisonSet& set) {
  std::string out = "<h2>The comparison</h2>\n<dl class=\"facts\">\n";
  out += HtmlFact("Made", FormatMinute(set.made));
  out += HtmlFact("rharness", HtmlText(set.version, 60));
  out += HtmlFact("Exit code", std::to_string(set.exit_code));
  if (IsSingle(set)) {
    out += HtmlFact("Bits were expected to be equal",
                    set.comparisons.front().expect_bitwise ? "yes" : "no");
  }
  return out + "</dl>\n";
}

// Five question marks would be less helpful than none.
std::string Layers(const Comparison& comparison) {
  const bool unknown =
      std::all_of(comparison.layers.begin(), comparison.layers.end(),
                  [](const auto& layer) { return layer.state == LayerState::kUnknown; });
  return unknown ? "<span class=\"soft\">no facts</span>" : HtmlLayerMarks(comparison.layers);
}

std::string PairRow(const Comparison& comparison, std::size_t place) {
  return fmt::format(
      "<tr><td>{}</td><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td>"
      "<td class=\"n\" data-l=\"first step\">{}</td><td class=\"n\" data-l=\"max "
      "ULP\">{}</td></tr>",
      HtmlBadge(comparison.verdict), HtmlText(PairName(comparison, place), 120),
      HtmlText(comparison.a.kind, 40), ComparedInShort(comparison), Layers(comparison),
      FirstStep(comparison), LargestUlp(comparison));
}

std::string PairDetailRow(const Comparison& comparison, const std::string& id, HtmlExtent extent) {
  const std::string headline =
      comparison.headline.empty() ? "Details" : HtmlText(comparison.headline, 600);
  return fmt::format(
      "<tr class=\"d\"><td colspan=\"7\"><details><summary>{}</summary><div class=\"more\">{}"
      "</div></details></td></tr>",
      headline, HtmlComparison(comparison, id, extent));
}

struct PairRows {
  std::string html;
  std::size_t without_details = 0;
};

PairRows BuildPairRows(const ComparisonSet& set, const ComparisonSummary& summary) {
  std::vector<std::string> rows;
  std::size_t used = kPageFrameBytes;
  const auto place = [&](const Comparison* comparison) {
    return static_cast<std::size_t>(comparison - set.comparisons.data()) + 1;
  };
  for (const Comparison* comparison : summary.order) {
    rows.push_back(PairRow(*comparison, place(comparison)));
    used += rows.back().size() + 80;
  }
  const bool large = rows.size() > kLargeSet;
  DetailBudget budget(used < kPageBytes ? kPageBytes - used : 0,
                      large ? static_cast<std::size_t>(summary.open) : rows.size());
  PairRows result;
  std::set<Verdict> seen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Comparison& comparison = *summary.order[i];
    const std::string id = fmt::format("pair-{}", place(&comparison));
    std::string details;
    if (!(large && Reproduced(comparison.verdict))) {
      details = budget.Take([&] { return PairDetailRow(comparison, id, HtmlExtent::kFull); },
                            [&] { return PairDetailRow(comparison, id, HtmlExtent::kBrief); });
    }
    if (details.empty()) ++result.without_details;
    const std::string anchor =
        seen.insert(comparison.verdict).second
            ? fmt::format("<tr id=\"first-{}\">", VerdictName(comparison.verdict))
            : "<tr>";
    result.html += fmt::format("<tbody id=\"{}\" class=\"{}\">{}{}{}</tbody>\n", id,
                               VerdictName(comparison.verdict), anchor, rows[i].substr(4), details);
  }
  return result;
}

std::string SharedCauses(const ComparisonSummary& summary) {
  if (summary.causes.empty()) return "";
  std::string rows;
  for (const SharedCause& cause : summary.causes) {
    rows += fmt::format(
        "<tr><td class=\"n\" data-l=\"Pairs\">{} of {}</td><td data-l=\"Layer\">{}</td><th "
        "scope=\"row\">{}</th><td data-l=\"Strength\">{}</td><td>{}"
        "</td></tr>",
        cause.pairs, summary.open, LayerName(cause.layer), HtmlCodeWords(cause.code),
        StrengthName(cause.strength), HtmlText(cause.statement));
  }
  return fmt::format(
      "<h2 id=\"causes\">Causes that pairs share</h2>\n<p class=\"soft\">Only pairs that are "
      "neither identical nor equivalent count.</p>\n<div class=\"wide\" tabindex=\"0\" "
      "role=\"region\" "
      "aria-labelledby=\"causes\"><table class=\"stack\"><thead><tr><th scope=\"col\" "
      "class=\"n\">Pairs</th>{}</tr>"
      "</thead><tbody>\n{}</tbody></table></div>\n",
      HtmlHeads({"Layer", "Cause", "Strength", "For example"}), rows);
}

std::string Pairs(const ComparisonSet& set, const ComparisonSummary& summary) {
  if (set.comparisons.empty()) return "<h2 id=\"parts\">Pairs</h2>\n<p>There were none.</p>\n";
  const PairRows rows = BuildPairRows(set, summary);
  std::string out = "<h2 id=\"parts\">Pairs</h2>\n";
  if (rows.without_details > 0) {
    out += fmt::format(
        "<p class=\"soft\">The details of {} are left out to keep this page small; they are in "
        "{}.</p>\n",
        Counted(rows.without_details, "pair"), kComparisonRecord);
  }
  out += HtmlFilter("Find a pair", set.counts);
  out += fmt::format(
      "<div class=\"wide\"><table class=\"runs\"><caption>{}, the worst first. Layers: data, code, "
      "env(ironment), hw (hardware), rng (randomness); = the same, ≠ differs, ? not known. First "
      "step: where a deciding curve first differs.</caption>\n<thead><tr><th scope=\"col\">Verdict"
      "</th><th scope=\"col\">Pair</th><th scope=\"col\">Kind</th><th scope=\"col\">Compared</th>"
      "<th scope=\"col\">Layers</th><th scope=\"col\" class=\"n\">First step</th><th "
      "scope=\"col\" class=\"n\">Max ULP</th></tr></thead>\n{}</table></div>\n",
      Counted(set.comparisons.size(), "pair"), rows.html);
  return out;
}

std::string Single(const Comparison& comparison) {
  return fmt::format(
      "<h2 id=\"parts\" class=\"sr\">What was compared</h2>\n<div class=\"whole {}\">"
      "{}</div>\n",
      VerdictName(comparison.verdict), HtmlComparison(comparison, "c", HtmlExtent::kFull));
}

}  // namespace

std::string WriteHtml(const ComparisonSet& set) {
  const ComparisonSummary summary = Summarize(set);
  const bool single = IsSingle(set);
  const std::string badge =
      single ? " · " + HtmlBadge(set.comparisons.front().verdict) : std::string();
  std::string out =
      HtmlHead(fmt::format("{} – {}", SafeText(summary.answer, 300), SafeText(set.title, 200)));
  out += HtmlTop({.page_class = PageClass(set),
                  .eyebrow_html = fmt::format("{} · {}{}", HtmlText(set.title, 300),
                                              FormatMinute(set.made), badge),
                  .answer = summary.answer,
                  .next_html = HtmlText(summary.next_step),
                  .skip_id = "parts",
                  .skip_words = single ? "Skip to what differs" : "Skip to the pairs"});
  if (!single) out += HtmlTiles(set.counts);
  out += HtmlNotes(set.notes);
  if (!single) out += SharedCauses(summary);
  out += single ? Single(set.comparisons.front()) : Pairs(set, summary);
  out += Facts(set);
  return out + HtmlEnd(set.version, kComparisonRecord, !set.comparisons.empty());
}

}  // namespace rharness
