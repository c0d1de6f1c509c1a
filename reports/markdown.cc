// The report as GitHub-flavoured Markdown for a step summary, which GitHub drops whole above 1 MiB.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "compare/fact_order.h"
#include "reports/families.h"
#include "reports/markdown_parts.h"
#include "reports/model.h"
#include "reports/names.h"
#include "reports/outputs.h"
#include "reports/siblings.h"
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

// Folded on a green night: then it is context, and nothing to act on.
void Told(const Summary& summary, bool all_reproduced, std::string* out) {
  const std::vector<const ToldOnce*> list = ToldBesideShared(summary);
  if (list.empty()) return;
  *out += all_reproduced
              ? fmt::format("<details><summary>The same in several runs: {}</summary>\n\n",
                            Counted(list.size(), "remark"))
              : "### The same in several runs\n\n";
  *out +=
      MarkdownList(list, [](const ToldOnce* told) { return MarkdownText(ToldWords(*told), 900); });
  if (all_reproduced) *out += "\n</details>\n\n";
}

// A headline of several runs appears above, once.
std::string Why(const ReportRun& run, const Summary& summary) {
  const std::size_t runs = RunsWithHeadline(summary.told, run.headline);
  if (runs < 2) return MarkdownText(run.headline, 300);
  return fmt::format("as in {}, see above", Counted(runs, "run"));
}

// Statements listed above for several runs, by kind and words.
using ToldSet = std::set<std::pair<ToldKind, std::string_view>>;

ToldSet ToldAbove(const Summary& summary) {
  ToldSet told;
  for (const ToldOnce& one : summary.told) told.emplace(one.kind, one.text);
  return told;
}

void Table(const Summary& summary, std::string* out) {
  *out += "### Runs\n\n| Verdict | Run | Family | Compared | Reruns | Time | Why |\n";
  *out += "|---|---|---|---|--:|--:|---|\n";
  const std::size_t start = out->size();
  std::size_t shown = 0;
  for (const ReportRun* run : summary.order) {
    const std::string row =
        fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", VerdictBadge(run->verdict),
                    MarkdownCode(run->run_id, 160), MarkdownText(run->family, 100),
                    ComparedInShort(*run), run->reruns.size(), RerunTime(*run), Why(*run, summary));
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

std::string Details(const ReportRun& run, const ToldSet& told) {
  std::string out =
      fmt::format("<details><summary>{} {}: {}</summary>\n\n", VerdictBadge(run.verdict),
                  MarkdownCode(run.run_id, 160), MarkdownText(run.headline, 500));
  std::vector<Finding> own;
  std::ranges::copy_if(run.findings, std::back_inserter(own), [&](const Finding& finding) {
    return !told.contains({ToldKind::kFinding, finding.message});
  });
  out += MarkdownList(own, MarkdownFinding);
  std::vector<Cause> own_causes;
  std::ranges::copy_if(run.causes, std::back_inserter(own_causes), [&](const Cause& cause) {
    return !told.contains({ToldKind::kCause, CauseWords(cause)});
  });
  out +=
      MarkdownList(own_causes, [](const Cause& cause) { return MarkdownText(CauseWords(cause)); });
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
    std::vector<FactDifference> changes;
    std::ranges::copy_if(layer.differences, std::back_inserter(changes),
                         [&](const FactDifference& difference) {
                           if (IsUnusedPackage(difference)) return false;
                           return !told.contains({ToldKind::kChange, ChangeWords(difference)});
                         });
    out += MarkdownList(changes, [&](const FactDifference& difference) {
      return fmt::format("{} {}: recorded {}, now {}", LayerName(layer.layer),
                         MarkdownCode(difference.key),
                         MarkdownCode(difference.recorded.value_or("(absent)")),
                         MarkdownCode(difference.observed.value_or("(absent)")));
    });
    const std::string unused = UnusedPackageWords(layer);
    const std::string in_layer = fmt::format("{} {}", LayerName(layer.layer), unused);
    if (!unused.empty() && !told.contains({ToldKind::kChange, in_layer})) {
      out += fmt::format("- {}\n\n", MarkdownText(in_layer));
    }
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
  const ToldSet told = ToldAbove(summary);
  std::size_t left_out = 0;
  for (const ReportRun* run : summary.order) {
    if (Reproduced(run->verdict)) continue;
    const std::string details = left_out > 0 ? "" : Details(*run, told);
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
  Told(summary, report.exit_code == 0, &out);
  out += MarkdownFamilies(report);
  out += MarkdownSiblings(report);
  if (!report.runs.empty()) Table(summary, &out);
  AllDetails(summary, &out);
  out += MarkdownOutputs(report);
  out += fmt::format("<sub>{} · {} · took {} · {} · rharness {} · exit code {}</sub>\n",
                     MarkdownText(report.drill_id, 200), FormatMinute(report.started),
                     FormatDuration(report.ended - report.started), MarkdownText(report.host, 300),
                     MarkdownText(report.version, 60), report.exit_code);
  return out;
}

}  // namespace rharness
