// What a row of the page expands to; see html_parts.h.
#include <fmt/format.h>

#include <algorithm>

#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/html_parts.h"
#include "reports/names.h"
#include "reports/summary.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostListed = 50;  // rows of one table of one run
constexpr std::size_t kMostMetrics = 24;
constexpr std::string_view kRecord = "report.json";

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
        HtmlCode(exact.subject), equal ? "identical" : "drifted", equal ? "✓" : "✗",
        NameIn(kExactStateNames, exact.state), HtmlCode(exact.first_difference),
        exact.tensor ? TensorWords(*exact.tensor) : HtmlText(exact.detail));
  }
  return HtmlTable("Compared bit for bit",
                   HtmlHeads({"Subject", "Result", "First difference", "Detail"}), rows) +
         HtmlLeftOut(run.exact.size(), shown, kRecord);
}

std::string Metrics(const ReportRun& run, std::string_view id) {
  if (run.metrics.empty()) return "";
  std::string out = "<h3>Metrics</h3>";
  const std::size_t shown = std::min(run.metrics.size(), kMostMetrics);
  for (std::size_t i = 0; i < shown; ++i) {
    out += HtmlMetric(run.metrics[i], run.verdict == Verdict::kIdentical,
                      fmt::format("{}-m{}", id, i + 1));
  }
  return out + HtmlLeftOut(run.metrics.size(), shown, kRecord);
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
                          LayerName(layer.layer), HtmlCode(difference.key),
                          NameIn(kFactWeightNames, difference.weight),
                          HtmlFactValue(difference.recorded), HtmlFactValue(difference.observed));
    }
  }
  const std::string sentence =
      fmt::format("<p class=\"soft\">Facts by layer: {}.</p>", fmt::join(words, "; "));
  if (rows.empty()) return "<h3>What changed since the recording</h3>" + sentence;
  return HtmlTable("What changed since the recording",
                   HtmlHeads({"Layer", "Fact", "Weight", "Recorded", "Now"}), rows) +
         HtmlLeftOut(all, kMostListed, kRecord) + sentence;
}

std::string Evidence(const std::string& path) {
  const std::string href = RelativeHref(path);
  if (href.empty()) return HtmlCode(path);
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
  return HtmlTable("Reruns",
                   "<th scope=\"col\" class=\"n\">#</th><th scope=\"col\">State</th>"
                   "<th scope=\"col\">Outcome</th><th scope=\"col\" class=\"n\">Wall</th>"
                   "<th scope=\"col\" class=\"n\">CPU</th><th scope=\"col\" class=\"n\">Memory</th>"
                   "<th scope=\"col\">Evidence</th>",
                   rows) +
         HtmlLeftOut(run.reruns.size(), shown, kRecord) + logs + recorded;
}

std::string Compared(const ReportRun& run) {
  if (run.compared.empty() || !run.exact.empty()) return "";  // the table says the same
  std::string items;
  const std::size_t shown = std::min(run.compared.size(), kMostListed);
  for (std::size_t i = 0; i < shown; ++i) {
    items += fmt::format("<li>{}</li>", HtmlText(run.compared[i], 600));
  }
  return fmt::format("<h3>What was compared</h3><ul>{}</ul>", items) +
         HtmlLeftOut(run.compared.size(), shown, kRecord);
}

}  // namespace

std::string HtmlRunDetails(const ReportRun& run, std::string_view id) {
  std::string out = HtmlFindings("Why", run.reasons, kMostListed, kRecord);
  if (run.more_reruns > 0) {
    out += fmt::format("<p>{} would decide.</p>",
                       Counted(static_cast<std::uint64_t>(run.more_reruns), "further rerun"));
  }
  return out + Compared(run) + Metrics(run, id) + Exact(run) + Layers(run) + Reruns(run);
}

}  // namespace rharness
