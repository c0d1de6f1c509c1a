// The report as GitHub-flavoured Markdown for a step summary, which GitHub drops whole above 1 MiB.
#include <fmt/format.h>

#include <algorithm>

#include "reports/markdown_parts.h"
#include "reports/model.h"
#include "reports/names.h"
#include "reports/summary.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kTableBytes = 400'000;  // budget of the table of runs

void Header(const Report& report, const Summary& summary, std::string* out) {
  *out +=
      fmt::format("## {}\n\n**{}**\n\n", MarkdownText(report.title), MarkdownText(summary.answer));
  *out += fmt::format("Next: {}\n\n", MarkdownText(summary.next_step));
  *out += MarkdownCounts(report.counts);
  for (const std::string& note : report.notes) *out += fmt::format("> {}\n\n", MarkdownText(note));
}

void Shared(const Summary& summary, std::string* out) {
  if (summary.shared.empty()) return;
  *out += "### What changed in the drifted runs\n\n";
  *out += "| Layer | Fact | Recorded | Now | Drifted runs | Reproduced runs |\n";
  *out += "|---|---|---|---|--:|--:|\n";
  for (const SharedDifference& shared : summary.shared) {
    *out += fmt::format("| {} | {} | {} | {} | {} of {} | {} of {} |\n", LayerName(shared.layer),
                        MarkdownCode(shared.key), MarkdownCode(shared.recorded),
                        MarkdownCode(shared.observed), shared.drifted, summary.drifted,
                        shared.reproduced, summary.reproduced);
  }
  *out += "\n";
}

void Table(const Summary& summary, std::string* out) {
  *out += "### Runs\n\n| Verdict | Run | Family | Compared | Reruns | Time | Why |\n";
  *out += "|---|---|---|---|--:|--:|---|\n";
  const std::size_t start = out->size();
  std::size_t shown = 0;
  for (const ReportRun* run : summary.order) {
    const std::string row = fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} |\n", VerdictBadge(run->verdict),
        MarkdownCode(run->run_id, 160), MarkdownText(run->family, 100), ComparedInShort(*run),
        run->reruns.size(), RerunTime(*run), MarkdownText(run->headline, 300));
    if (out->size() - start + row.size() > kTableBytes) break;
    *out += row;
    ++shown;
  }
  *out += "\n";
  if (shown < summary.order.size()) {
    *out += fmt::format("_The table is cut: {} more, the least severe, are in report.json._\n\n",
                        Counted(summary.order.size() - shown, "run"));
  }
}

std::string Details(const ReportRun& run) {
  std::string out =
      fmt::format("<details><summary>{} {}: {}</summary>\n\n", VerdictBadge(run.verdict),
                  MarkdownCode(run.run_id, 160), MarkdownText(run.headline, 500));
  out += MarkdownList(run.findings, MarkdownFinding);
  out += MarkdownList(run.causes, [](const Cause& cause) {
    return fmt::format("{} cause ({}): {}", MarkdownText(cause.strength), LayerName(cause.layer),
                       MarkdownText(cause.statement));
  });
  std::vector<ExactComparison> unequal;
  std::copy_if(run.exact.begin(), run.exact.end(), std::back_inserter(unequal),
               [](const auto& e) { return e.state != ExactComparison::State::kEqual; });
  out += MarkdownList(unequal, [](const ExactComparison& exact) {
    return fmt::format("{} {}: {} {}", MarkdownCode(exact.subject),
                       NameIn(kExactStateNames, exact.state), MarkdownCode(exact.first_difference),
                       MarkdownText(exact.detail));
  });
  out += MarkdownList(run.metrics, MarkdownMetric);
  for (const LayerComparison& layer : run.layers) {
    out += MarkdownList(layer.differences, [&](const FactDifference& difference) {
      return fmt::format("{} {}: recorded {}, now {}", LayerName(layer.layer),
                         MarkdownCode(difference.key),
                         MarkdownCode(difference.recorded.value_or("(absent)")),
                         MarkdownCode(difference.observed.value_or("(absent)")));
    });
  }
  for (const ReportRerun& rerun : run.reruns) {
    if (rerun.stderr_tail.empty()) continue;
    out += fmt::format("Rerun {}: {}. {}\n\n", rerun.index, MarkdownText(rerun.outcome),
                       MarkdownText(rerun.reason));
    out += MarkdownLog(rerun.stderr_tail);
  }
  return out + "</details>\n\n";
}

void AllDetails(const Summary& summary, std::string* out) {
  std::size_t left_out = 0;
  for (const ReportRun* run : summary.order) {
    if (Reproduced(run->verdict)) continue;
    const std::string details = left_out > 0 ? "" : Details(*run);
    if (left_out > 0 || out->size() + details.size() > kMarkdownBytes) {
      ++left_out;
      continue;
    }
    *out += details;
  }
  if (left_out > 0) {
    *out += fmt::format("_The details are cut: those of {} more are in report.json._\n\n",
                        Counted(left_out, "run"));
  }
}

}  // namespace

std::string WriteMarkdown(const Report& report) {
  const Summary summary = Summarize(report);
  std::string out;
  Header(report, summary, &out);
  Shared(summary, &out);
  if (!report.runs.empty()) Table(summary, &out);
  AllDetails(summary, &out);
  out += fmt::format("<sub>{} · {} · took {} · {} · rharness {} · exit code {}</sub>\n",
                     MarkdownText(report.drill_id, 200), FormatMinute(report.started),
                     FormatDuration(report.ended - report.started), MarkdownText(report.host, 300),
                     MarkdownText(report.version, 60), report.exit_code);
  return out;
}

}  // namespace rharness
