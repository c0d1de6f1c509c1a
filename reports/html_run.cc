// What a row of the page expands to; see html_parts.h.
#include <fmt/format.h>

#include <algorithm>

#include "reports/html_escape.h"
#include "reports/html_parts.h"
#include "reports/names.h"
#include "reports/summary.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostListed = 50;  // rows of one table of one run
constexpr std::size_t kMostMetrics = 24;

// A table that scrolls by itself on a narrow screen; head and rows are HTML.
std::string Table(std::string_view title, std::string_view head, const std::string& rows) {
  return fmt::format(
      "<h3>{0}</h3><div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>"
      "<thead><tr>{1}</tr></thead><tbody>{2}</tbody></table></div>",
      title, head, rows);
}

std::string Heads(const std::vector<std::string_view>& names) {
  std::string out;
  for (const std::string_view name : names) out += fmt::format("<th scope=\"col\">{}</th>", name);
  return out;
}

std::string LeftOut(std::size_t all, std::size_t shown) {
  if (all <= shown) return "";
  return fmt::format("<p class=\"soft\">{} more are in report.json.</p>", FormatCount(all - shown));
}

std::string Code(std::string_view text, std::size_t limit = 600) {
  return text.empty() ? "" : fmt::format("<code>{}</code>", HtmlText(text, limit));
}

std::string Reasons(const ReportRun& run) {
  if (run.reasons.empty()) return "";
  std::string rows;
  const std::size_t shown = std::min(run.reasons.size(), kMostListed);
  for (std::size_t i = 0; i < shown; ++i) {
    const Finding& finding = run.reasons[i];
    rows += fmt::format(
        "<tr><td><code>{}</code>{}<br>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
        HtmlText(finding.code, 100), finding.decisive ? " <span class=\"flag\">decided</span>" : "",
        HtmlText(finding.message), HtmlText(finding.observed, 600), HtmlText(finding.limit, 600),
        HtmlText(finding.rule, 600));
  }
  return Table("Why", Heads({"Finding", "Observed", "Limit", "Rule"}), rows) +
         LeftOut(run.reasons.size(), shown);
}

std::string TensorWords(const TensorDifference& tensor) {
  std::string shape =
      fmt::format("{} [{}]", DTypeName(tensor.dtype), fmt::join(tensor.shape, ", "));
  // Where only digests were at hand, nothing is known of the elements.
  if (tensor.elements == 0) return shape;
  return fmt::format(
      "{}: {} of {} elements differ, the first at {}; largest distance {} ({} ULP){}", shape,
      FormatCount(tensor.differing), FormatCount(tensor.elements), tensor.first_index,
      FormatNumber(tensor.max_abs), FormatCount(tensor.max_ulp),
      tensor.non_finite_changes == 0 ? ""
                                     : fmt::format("; {} became or ceased to be finite",
                                                   FormatCount(tensor.non_finite_changes)));
}

std::string Exact(const ReportRun& run) {
  if (run.exact.empty()) return "";
  std::string rows;
  const std::size_t shown = std::min(run.exact.size(), kMostListed);
  for (std::size_t i = 0; i < shown; ++i) {
    const ExactComparison& exact = run.exact[i];
    const bool equal = exact.state == ExactComparison::State::kEqual;
    rows += fmt::format(
        "<tr><td>{}</td><td><span class=\"{}\"><span class=\"b\">{} {}</span></span></td>"
        "<td>{}</td><td>{}</td></tr>",
        Code(exact.subject), equal ? "identical" : "drifted", equal ? "✓" : "✗",
        NameIn(kExactStateNames, exact.state), Code(exact.first_difference),
        exact.tensor ? TensorWords(*exact.tensor) : HtmlText(exact.detail));
  }
  return Table("Compared bit for bit", Heads({"Subject", "Result", "First difference", "Detail"}),
               rows) +
         LeftOut(run.exact.size(), shown);
}

std::string Metrics(const ReportRun& run, std::string_view id) {
  if (run.metrics.empty()) return "";
  std::string out = "<h3>Metrics</h3>";
  const std::size_t shown = std::min(run.metrics.size(), kMostMetrics);
  for (std::size_t i = 0; i < shown; ++i) {
    out += HtmlMetric(run.metrics[i], run.verdict == Verdict::kIdentical,
                      fmt::format("{}-m{}", id, i + 1));
  }
  return out + LeftOut(run.metrics.size(), shown);
}

std::string FactValue(const std::optional<std::string>& value) {
  return value ? Code(*value) : "<span class=\"soft\">absent</span>";
}

std::string LayerWords(const LayerComparison& layer) {
  std::string words = fmt::format("{}: {}", LayerName(layer.layer), LayerStateName(layer.state));
  if (layer.state == LayerState::kUnknown) return words;
  words += fmt::format(" ({} compared", layer.compared);
  if (layer.only_recorded > 0) words += fmt::format(", {} not seen again", layer.only_recorded);
  return words + ")";
}

std::string Layers(const ReportRun& run) {
  std::string rows;
  std::size_t all = 0;
  std::vector<std::string> words;
  for (const LayerComparison& layer : run.layers) {
    words.push_back(LayerWords(layer));
    for (const FactDifference& difference : layer.differences) {
      if (++all > kMostListed) continue;
      rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                          LayerName(layer.layer), Code(difference.key),
                          NameIn(kFactWeightNames, difference.weight),
                          FactValue(difference.recorded), FactValue(difference.observed));
    }
  }
  const std::string sentence =
      fmt::format("<p class=\"soft\">Facts by layer: {}.</p>", fmt::join(words, "; "));
  if (rows.empty()) return "<h3>What changed since the recording</h3>" + sentence;
  return Table("What changed since the recording",
               Heads({"Layer", "Fact", "Weight", "Recorded", "Now"}), rows) +
         LeftOut(all, kMostListed) + sentence;
}

std::string Evidence(const std::string& path) {
  const std::string href = RelativeHref(path);
  if (href.empty()) return Code(path);
  return fmt::format("<a href=\"{}\"><code>{}</code></a>", href, HtmlText(path, 300));
}

std::string Reruns(const ReportRun& run) {
  const std::string recorded =
      fmt::format("<p class=\"soft\">The recorded run took {}, on {}.</p>",
                  FormatDuration(Seconds(run.recorded_seconds)), FormatMinute(run.recorded));
  if (run.reruns.empty()) return "<h3>Reruns</h3><p>There was none.</p>" + recorded;
  std::string rows;
  std::string logs;
  const std::size_t shown = std::min(run.reruns.size(), kMostListed);
  for (std::size_t i = 0; i < shown; ++i) {
    const ReportRerun& rerun = run.reruns[i];
    rows += fmt::format(
        "<tr><td class=\"n\">{}</td><td>{}</td><td>{}{}{}</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
        rerun.index, HtmlText(rerun.state, 60), HtmlText(rerun.outcome, 300),
        rerun.reason.empty() ? "" : "<br>", HtmlText(rerun.reason),
        FormatDuration(Seconds(rerun.wall_seconds)), FormatDuration(Seconds(rerun.cpu_seconds)),
        rerun.peak_memory_bytes == 0 ? "" : FormatBytes(rerun.peak_memory_bytes),
        Evidence(rerun.evidence_path));
    if (rerun.stderr_tail.empty()) continue;
    logs += fmt::format(
        "<details><summary>Last lines of stderr of rerun {}</summary><pre tabindex=\"0\">{}</pre>"
        "</details>",
        rerun.index, HtmlText(Tail(rerun.stderr_tail, 8'000), 8'000, Lines::kKeep));
  }
  return Table("Reruns",
               "<th scope=\"col\" class=\"n\">#</th><th scope=\"col\">State</th>"
               "<th scope=\"col\">Outcome</th><th scope=\"col\" class=\"n\">Wall</th>"
               "<th scope=\"col\" class=\"n\">CPU</th><th scope=\"col\" class=\"n\">Memory</th>"
               "<th scope=\"col\">Evidence</th>",
               rows) +
         LeftOut(run.reruns.size(), shown) + logs + recorded;
}

std::string Compared(const ReportRun& run) {
  if (run.compared.empty() || !run.exact.empty()) return "";  // the table says the same
  std::string items;
  const std::size_t shown = std::min(run.compared.size(), kMostListed);
  for (std::size_t i = 0; i < shown; ++i) {
    items += fmt::format("<li>{}</li>", HtmlText(run.compared[i], 600));
  }
  return fmt::format("<h3>What was compared</h3><ul>{}</ul>", items) +
         LeftOut(run.compared.size(), shown);
}

}  // namespace

std::string HtmlBadge(Verdict verdict) {
  return fmt::format("<span class=\"b\">{} {}</span>", VerdictSign(verdict), VerdictLabel(verdict));
}

std::string HtmlRunDetails(const ReportRun& run, std::string_view id) {
  std::string out = Reasons(run);
  if (run.more_reruns > 0) {
    out += fmt::format("<p>{} would decide.</p>",
                       Counted(static_cast<std::uint64_t>(run.more_reruns), "further rerun"));
  }
  return out + Compared(run) + Metrics(run, id) + Exact(run) + Layers(run) + Reruns(run);
}

}  // namespace rharness
