// One comparison on the page without weights and curves; see comparison_html_parts.h.
#include "reports/comparison_html_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reports/comparison_summary.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/html_parts.h"
#include "reports/names.h"

namespace rharness {
namespace {

constexpr std::size_t kMostTableRows = 50;  // rows of one table
constexpr std::size_t kMostPageCauses = 12;
constexpr std::size_t kMostEvidence = 8;  // of one cause
constexpr std::size_t kMostMetrics = 24;
constexpr std::size_t kMostValueBytes = 400;

std::string Side(std::string_view name, const ComparedSide& side) {
  return fmt::format(
      "<div class=\"side\"><p><b>{}</b> <span class=\"soft\">{}</span></p><p>{}</p><p "
      "class=\"soft\">{}</p></div>",
      name, HtmlText(side.kind, 60), HtmlCode(side.path, 400), HtmlText(side.detail, 400));
}

std::string Evidence(const Cause& cause, std::string_view record) {
  std::string items;
  const std::size_t shown = std::min(cause.evidence.size(), kMostEvidence);
  for (std::size_t i = 0; i < shown; ++i) {
    items += fmt::format("<li>{}</li>", HtmlText(cause.evidence[i], 600));
  }
  if (items.empty()) return "";
  return fmt::format("<ul>{}</ul>", items) + HtmlLeftOut(cause.evidence.size(), shown, record);
}

std::string Confirm(const Cause& cause) {
  if (cause.confirm.empty()) return "";
  if (!IsCommand(cause.confirm)) {
    return fmt::format("<p class=\"confirm\"><b>To confirm:</b> {}</p>", HtmlText(cause.confirm));
  }
  return fmt::format("<p class=\"confirm\"><b>To confirm:</b></p><pre class=\"cmd\">{}</pre>",
                     HtmlText(cause.confirm));
}

std::string CauseList(const Comparison& comparison) {
  if (comparison.causes.empty()) return "";
  std::string cards;
  const std::size_t shown = std::min(comparison.causes.size(), kMostPageCauses);
  for (std::size_t i = 0; i < shown; ++i) {
    const Cause& cause = comparison.causes[i];
    cards += fmt::format(
        "<li><p class=\"kind\"><span class=\"strength {}\">{}</span> <span class=\"soft\">{} · "
        "{}</span></p><p class=\"statement\">{}</p>{}{}</li>",
        cause.strength == Strength::kShown ? "shown" : "guess", StrengthName(cause.strength),
        LayerName(cause.layer), HtmlCodeWords(cause.code), HtmlText(cause.statement),
        Evidence(cause, WordsOf(comparison).record), Confirm(cause));
  }
  return fmt::format("<h3>Causes, the most suspicious first</h3><ol class=\"causes\">{}</ol>",
                     cards) +
         HtmlLeftOut(comparison.causes.size(), shown, WordsOf(comparison).record);
}

// Whether a cut before `at` would part a word, a number or a character.
bool Parts(std::string_view text, std::size_t at) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) > 0x7f;
  };
  return at > 0 && at < text.size() && is_word(text[at - 1]) && is_word(text[at]);
}

// Bytes that both start with, cut back to whole words.
std::size_t CommonStart(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t n = 0;
  while (n < most && a[n] == b[n]) ++n;
  while (Parts(a, n) || Parts(b, n)) --n;
  return n;
}

// Bytes that both end with, beyond `start`, cut back to whole words.
std::size_t CommonEnd(std::string_view a, std::string_view b, std::size_t start) {
  const std::size_t most = std::min(a.size(), b.size()) - start;
  std::size_t n = 0;
  while (n < most && a[a.size() - 1 - n] == b[b.size() - 1 - n]) ++n;
  while (n > 0 && (Parts(a, a.size() - n) || Parts(b, b.size() - n))) --n;
  return n;
}

// A value with the part that the other side lacks marked.
std::string Marked(const std::optional<std::string>& value,
                   const std::optional<std::string>& other) {
  if (!value) return "<span class=\"soft\">absent</span>";
  const std::string text = SafeText(*value, kMostValueBytes);
  if (!other) return HtmlCode(text, 2 * kMostValueBytes);
  const std::string beside = SafeText(*other, kMostValueBytes);
  const std::size_t start = CommonStart(text, beside);
  const std::size_t end = CommonEnd(text, beside, start);
  const auto escaped = [](std::string_view part) { return HtmlText(part, 2 * kMostValueBytes); };
  const std::string middle =
      escaped(std::string_view(text).substr(start, text.size() - start - end));
  return fmt::format("<code>{}{}{}</code>", escaped(text.substr(0, start)),
                     middle.empty() ? "" : fmt::format("<mark>{}</mark>", middle),
                     escaped(text.substr(text.size() - end)));
}

std::string LayerRows(const LayerComparison& layer, const SideWords& words, std::size_t* all) {
  std::string rows;
  for (const FactDifference& difference : layer.differences) {
    if (++*all > kMostTableRows) continue;
    rows += fmt::format(
        "<tr><th scope=\"row\">{}<br><span class=\"soft\">{}</span></th><td data-l=\"{}\">{}</td>"
        "<td data-l=\"{}\">{}</td></tr>",
        HtmlCode(difference.key, 300), NameIn(kFactWeightNames, difference.weight), words.a,
        Marked(difference.recorded, difference.observed), words.b,
        Marked(difference.observed, difference.recorded));
  }
  return rows;
}

std::string LayerSentence(const Comparison& comparison) {
  const bool unknown =
      std::all_of(comparison.layers.begin(), comparison.layers.end(),
                  [](const auto& layer) { return layer.state == LayerState::kUnknown; });
  if (unknown) return "<p class=\"soft\">No facts of the five layers were at hand.</p>";
  std::vector<std::string> words;
  for (const LayerComparison& layer : comparison.layers) words.push_back(LayerWords(layer));
  return fmt::format("<p class=\"soft\">Facts by layer: {}.</p>", fmt::join(words, "; "));
}

std::string LayerTable(const Comparison& comparison) {
  const std::string sentence = LayerSentence(comparison);
  const SideWords words = WordsOf(comparison);
  std::string bodies;
  std::size_t all = 0;
  for (const LayerComparison* layer : DifferingLayers(comparison)) {
    const std::string rows = LayerRows(*layer, words, &all);
    if (rows.empty()) continue;
    bodies += fmt::format(
        "<tbody class=\"{}\"><tr><th colspan=\"3\" scope=\"rowgroup\"><span class=\"b\">{}</span>"
        "</th></tr>{}</tbody>",
        VerdictName(StateOf(*layer).colour), LayerName(layer->layer), rows);
  }
  if (bodies.empty()) return "<h3>Five layers</h3>" + sentence;
  return fmt::format(
             "<h3>{}</h3><div class=\"wide\"><table class=\"ab\">"
             "<thead><tr><th scope=\"col\">Fact</th><th scope=\"col\">{}</th><th scope=\"col\">{}"
             "</th></tr></thead>{}</table></div>",
             comparison.is_rerun ? "What changed since the recording"
                                 : "What differs between the two sides",
             words.a, words.b, bodies) +
         HtmlLeftOut(all, kMostTableRows, WordsOf(comparison).record) + sentence;
}

std::string Metrics(const Comparison& comparison, std::string_view id) {
  if (comparison.metrics.empty()) return "";
  std::string out = "<h3>Metrics</h3>";
  const std::vector<const MetricDecision*> order = OrderedMetrics(comparison);
  const std::size_t shown = std::min(order.size(), kMostMetrics);
  for (std::size_t i = 0; i < shown; ++i) {
    out += HtmlMetric(*order[i], comparison.verdict == Verdict::kIdentical,
                      fmt::format("{}-m{}", id, i + 1));
  }
  return out + HtmlLeftOut(order.size(), shown, WordsOf(comparison).record);
}

std::string Notes(const Comparison& comparison) {
  std::string items;
  const std::size_t shown = std::min(comparison.notes.size(), kMostTableRows);
  for (std::size_t i = 0; i < shown; ++i) {
    items += fmt::format("<li>{}</li>", HtmlText(comparison.notes[i], 600));
  }
  if (items.empty()) return "";
  return fmt::format("<h3>Notes</h3><ul>{}</ul>", items) +
         HtmlLeftOut(comparison.notes.size(), shown, WordsOf(comparison).record);
}

}  // namespace

SideWords WordsOf(const Comparison& comparison) {
  return comparison.is_rerun ? SideWords{"Recorded (A)", "Now (B)", "report.json"}
                             : SideWords{"A", "B", kComparisonRecord};
}

std::string HtmlStateBadge(const SubjectState& state) {
  return fmt::format("<span class=\"{}\"><span class=\"b\">{} {}</span></span>",
                     VerdictName(state.colour), state.sign, state.label);
}

std::string HtmlComparison(const Comparison& comparison, std::string_view id, HtmlExtent extent) {
  const std::string_view record = WordsOf(comparison).record;
  std::string out;
  if (!comparison.is_rerun) {
    out = fmt::format("<div class=\"sides\">{}{}</div>", Side("A", comparison.a),
                      Side("B", comparison.b));
  }
  out += HtmlFindings(comparison.is_rerun ? "Why" : "What was found", comparison.findings,
                      kMostTableRows, record);
  out += CauseList(comparison);
  out += LayerTable(comparison);
  if (extent == HtmlExtent::kFull) {
    out += HtmlWeights(comparison, id);
    out += HtmlCurves(comparison, id);
    out += Metrics(comparison, id);
  } else {
    out += fmt::format(
        "<p class=\"soft\">Weights, curves and metrics of this {} are left out to keep this page "
        "small; they are in {}.</p>",
        comparison.is_rerun ? "run" : "pair", record);
  }
  return out + Notes(comparison);
}

}  // namespace rharness
