// What a row of the page expands to; see html_parts.h.
#include <fmt/format.h>

#include <algorithm>

#include "reports/comparison_sections.h"
#include "reports/document_html.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/html_parts.h"
#include "reports/names.h"
#include "reports/summary.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostRunRows = 50;  // rows of one table of one run
constexpr std::string_view kReportRecord = "report.json";

std::string Exact(const ReportRun& run) {
  if (run.exact.empty()) return "";
  std::string rows;
  const std::size_t shown = std::min(run.exact.size(), kMostRunRows);
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
         HtmlLeftOut(run.exact.size(), shown, kReportRecord);
}

std::string Link(const std::string& path, std::string_view words) {
  const std::string href = RelativeHref(path);
  if (href.empty()) return HtmlCode(path);
  return fmt::format("<a href=\"{}\">{}</a>", href, words);
}

// The files of a rerun: its evidence and its output, as links if possible.
std::string Links(const ReportRerun& rerun) {
  std::string links = Link(rerun.evidence_path, "evidence");
  if (!rerun.stdout_path.empty()) links += " · " + Link(rerun.stdout_path, "stdout");
  if (!rerun.stderr_path.empty()) links += " · " + Link(rerun.stderr_path, "stderr");
  return links;
}

std::string Reruns(const ReportRun& run) {
  const std::string recorded =
      fmt::format("<p class=\"soft\">The recorded run took {}, on {}.</p>",
                  FormatDuration(Seconds(run.recorded_seconds)), FormatMinute(run.recorded));
  if (run.reruns.empty()) return "<h3>Reruns</h3><p>There was none.</p>" + recorded;
  std::string rows;
  std::string logs;
  const std::size_t shown = std::min(run.reruns.size(), kMostRunRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const ReportRerun& rerun = run.reruns[i];
    rows += fmt::format(
        "<tr><td class=\"n\">{}</td><td>{}</td><td>{}{}{}{}{}</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
        rerun.index, NameIn(kRerunStateNames, rerun.state), HtmlText(rerun.outcome, 300),
        rerun.node.empty() ? "" : " on ", HtmlText(rerun.node, 80),
        rerun.reason.empty() ? "" : "<br>", HtmlText(rerun.reason),
        FormatDuration(Seconds(rerun.wall_seconds)), FormatDuration(Seconds(rerun.cpu_seconds)),
        rerun.peak_memory_bytes == 0 ? "" : FormatBytes(rerun.peak_memory_bytes), Links(rerun));
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
                   "<th scope=\"col\">What it left</th>",
                   rows) +
         HtmlLeftOut(run.reruns.size(), shown, kReportRecord) + logs + recorded;
}

}  // namespace

std::string HtmlRunDetails(const ReportRun& run, std::string_view id, bool in_full) {
  std::string out;
  if (run.more_reruns > 0) {
    out += fmt::format("<p>{} would decide.</p>",
                       Counted(static_cast<std::uint64_t>(run.more_reruns), "further rerun"));
  }
  if (run.more_runs > 0) {
    out += fmt::format("<p>{} of other seeds beside it would decide.</p>",
                       Counted(static_cast<std::uint64_t>(run.more_runs), "more run"));
  }
  if (!run.comparison_path.empty()) {
    out += fmt::format("<p>{}</p>", Link(run.comparison_path, "This run on a page of its own"));
  }
  Document document;
  document.counted = "run";
  out += SectionsHtml(SectionsOf(run, std::string(id), in_full), {document, "report.json", 3},
                      kPageBytes);
  if (run.checkpoints.empty() && run.curves.empty()) out += Exact(run);
  return out + Reruns(run);
}

}  // namespace rharness
