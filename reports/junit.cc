// The report as JUnit XML, for GitLab (which reads element bodies only) and Jenkins.
//
// Role: layout only; which verdict becomes which element is argued in README.md. Limits kept: at
// most 10,000 cases and about 20 MB a file, no text above 1 MB (formats: GitLab's parser).
#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>

#include "reports/junit_parts.h"
#include "reports/model.h"
#include "reports/summary.h"
#include "reports/text.h"

namespace rharness {
namespace {

std::string RerunLines(const ReportRun& run) {
  std::string lines;
  for (const ReportRerun& rerun : run.reruns) {
    lines += fmt::format("- rerun {}: {}, {}, {}{}\n", rerun.index, SafeText(rerun.state),
                         SafeText(rerun.outcome), FormatDuration(Seconds(rerun.wall_seconds)),
                         rerun.reason.empty() ? "" : ": " + SafeText(rerun.reason));
  }
  for (const ReportRerun& rerun : run.reruns) {
    if (rerun.stderr_tail.empty()) continue;
    lines += fmt::format("stderr of rerun {}, last lines:\n{}\n", rerun.index,
                         SafeText(Tail(rerun.stderr_tail, 8'000), 8'000, Lines::kKeep));
  }
  return lines;
}

// The verdict and everything that led to it as text, because bodies are all that GitLab shows.
std::string Body(const ReportRun& run, std::size_t limit_bytes) {
  std::string body = fmt::format("{}: {}\n", VerdictLabel(run.verdict), SafeText(run.headline));
  for (const Finding& finding : run.reasons) body += "- " + FindingWords(finding) + "\n";
  for (const std::string& line : run.compared) body += "- " + SafeText(line) + "\n";
  if (!Reproduced(run.verdict)) {
    body += DifferenceLines("what changed since the recording", run.layers);
    body += RerunLines(run);
  }
  return SafeText(body, limit_bytes, Lines::kKeep);
}

void AddRun(pugi::xml_node suite, const ReportRun& run, const std::string& name,
            std::size_t body_bytes) {
  const std::string family = run.family.empty() ? "runs" : SafeText(run.family, 200);
  pugi::xml_node test = AddCase(suite, family, name, RerunSeconds(run));
  pugi::xml_node properties = test.append_child("properties");
  AddProperty(properties, "verdict", VerdictName(run.verdict));
  AddProperty(properties, "declared", run.declared);
  const std::string body = Body(run, body_bytes);
  SetResult(test, KindOf(run.verdict), run.verdict, run.headline, body);
}

// A drill with open runs and no failing case would look green in a viewer that hides skipped
// cases, and a drill without runs would look like nothing at all; this one case says so.
bool NeedsDrillCase(const Report& report) {
  if (report.runs.empty() || report.interrupted) return true;
  return std::none_of(report.runs.begin(), report.runs.end(),
                      [](const ReportRun& run) {
                        return KindOf(run.verdict) == JunitKind::kFailure ||
                               KindOf(run.verdict) == JunitKind::kError;
                      }) &&
         report.exit_code != 0;
}

void AddSuiteProperties(pugi::xml_node suite, const Report& report, std::size_t left_out) {
  pugi::xml_node properties = suite.append_child("properties");
  AddProperty(properties, "rharness.version", report.version);
  AddProperty(properties, "rharness.drill_id", report.drill_id);
  AddProperty(properties, "rharness.exit_code", std::to_string(report.exit_code));
  AddProperty(properties, "rharness.history", report.history);
  AddProperty(properties, "rharness.selection", report.selection);
  AddProperty(properties, "rharness.launcher", report.launcher);
  AddProperty(properties, "rharness.executor", report.executor);
  AddProperty(properties, "rharness.host", report.host);
  if (left_out > 0) {
    AddProperty(properties, "rharness.cases_left_out",
                fmt::format("{}, the least severe; see report.json", Counted(left_out, "case")));
  }
}

}  // namespace

std::string WriteJunit(const Report& report) {
  const Summary summary = Summarize(report);
  const bool drill_case = NeedsDrillCase(report);
  const std::size_t cases = std::min(summary.order.size(), kMostJunitCases - (drill_case ? 1 : 0));
  const std::size_t body_bytes = JunitBodyBytes(cases);
  JunitDocument junit;
  pugi::xml_node suite = junit.suite;
  AddSuiteProperties(suite, report, summary.order.size() - cases);
  if (drill_case) {
    AddAnswerCase(suite, "the drill reached a verdict on every run", "drill", summary.answer,
                  summary.next_step);
  }
  UniqueNames names;
  for (std::size_t i = 0; i < cases; ++i) {
    const ReportRun& run = *summary.order[i];
    AddRun(suite, run, names.Of(run.run_id), body_bytes);
  }
  const std::chrono::duration<double> span = report.ended - report.started;
  return FinishJunit(&junit, "rharness drill", span.count(), report.started);
}

}  // namespace rharness
