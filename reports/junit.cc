// The report as JUnit XML, for GitLab (which reads element bodies only) and Jenkins.
//
// Role: layout only; which verdict becomes which element is argued in README.md. Limits kept: at
// most 10,000 cases and about 20 MB a file, no text above 1 MB (formats: GitLab's parser).
#include <fmt/format.h>

#include <algorithm>

#include "reports/families.h"
#include "reports/junit_file.h"
#include "reports/model.h"
#include "reports/names.h"
#include "reports/summary.h"
#include "reports/text.h"

namespace rharness {
namespace {

std::string RerunLines(const ReportRun& run) {
  std::string lines;
  for (const ReportRerun& rerun : run.reruns) {
    lines += fmt::format("- rerun {}{}: {}, {}, {}{}\n", rerun.index,
                         rerun.node.empty() ? "" : " on " + SafeText(rerun.node),
                         NameIn(kRerunStateNames, rerun.state), SafeText(rerun.outcome),
                         FormatDuration(Seconds(rerun.wall_seconds)),
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
  for (const Finding& finding : run.findings) body += "- " + FindingWords(finding) + "\n";
  for (const ExactComparison& exact : run.exact) {
    body += fmt::format("- {}: {}\n", SafeText(exact.subject), SafeText(exact.detail));
  }
  for (const Cause& cause : run.causes) {
    body +=
        fmt::format("- {} cause: {}\n", StrengthName(cause.strength), SafeText(cause.statement));
  }
  if (!Reproduced(run.verdict)) {
    body += DifferenceLines("what changed since the recording", run.layers);
    body += RerunLines(run);
  }
  return SafeText(body, limit_bytes, Lines::kKeep);
}

JunitCase CaseOf(const ReportRun& run, std::size_t body_bytes) {
  return {.classname = run.family.empty() ? "runs" : run.family,
          .name = run.run_id,
          .kind = KindOf(run.verdict),
          .verdict = run.verdict,
          .message = run.headline,
          .body = Body(run, body_bytes),
          .seconds = RerunSeconds(run),
          .properties = {{"verdict", std::string(VerdictName(run.verdict))},
                         {"declared", run.declared}}};
}

JunitCase CaseOf(const FamilyComparison& family, std::size_t body_bytes) {
  std::string body =
      fmt::format("{}: {}\n", VerdictLabel(family.verdict), SafeText(family.headline));
  for (const Finding& finding : family.findings) body += "- " + FindingWords(finding) + "\n";
  for (const Cause& cause : family.causes) {
    body += fmt::format("- {} cause in all runs that moved: {} {}\n", StrengthName(cause.strength),
                        SafeText(cause.statement), EvidenceOf(cause));
  }
  return {.classname = family.family.empty() ? "families" : family.family,
          .name = fmt::format("the family {} together", family.name),
          .kind = KindOf(family.verdict),
          .verdict = family.verdict,
          .message = family.headline,
          .body = SafeText(body, body_bytes, Lines::kKeep),
          .properties = {{"verdict", std::string(VerdictName(family.verdict))}}};
}

// A drill with open runs and no failing case would look green in a viewer that hides skipped cases,
// and a drill without runs would show nothing at all; this one case reports it.
bool NeedsDrillCase(const Report& report) {
  if (report.runs.empty() || report.interrupted) return true;
  const auto fails = [](const auto& one) {
    return KindOf(one.verdict) == JunitKind::kFailure || KindOf(one.verdict) == JunitKind::kError;
  };
  return report.exit_code != 0 && std::ranges::none_of(report.runs, fails) &&
         std::ranges::none_of(report.families, fails);
}

JunitProperties PropertiesOf(const Report& report, std::size_t left_out) {
  JunitProperties properties = {{"rharness.version", report.version},
                                {"rharness.drill_id", report.drill_id},
                                {"rharness.exit_code", std::to_string(report.exit_code)},
                                {"rharness.history", report.history},
                                {"rharness.selection", report.selection},
                                {"rharness.launcher", report.launcher},
                                {"rharness.executor", report.executor},
                                {"rharness.host", report.host}};
  for (const std::string& note : NotesOf(report.siblings)) {
    properties.emplace_back("rharness.note", SafeText(note, 1000));
  }
  if (left_out > 0) {
    properties.emplace_back(
        "rharness.cases_left_out",
        fmt::format("{}, the least severe; see report.json", Counted(left_out, "case")));
  }
  return properties;
}

}  // namespace

std::string WriteJunit(const Report& report) {
  const Summary summary = Summarize(report);
  const bool drill_case = NeedsDrillCase(report);
  const std::vector<const FamilyComparison*> worst = FamiliesByWorst(report);
  // Families are few; otherwise the worst of them leave room for runs.
  const std::size_t families = std::min(worst.size(), kMostJunitCases / 10);
  const std::size_t cases =
      std::min(summary.order.size(), kMostJunitCases - families - (drill_case ? 1 : 0));
  const std::chrono::duration<double> span = report.ended - report.started;
  JunitFile file;
  file.name = "rharness drill";
  file.stamp = report.started;
  file.seconds = span.count();
  file.properties = PropertiesOf(report, summary.order.size() - cases);
  if (drill_case) {
    file.cases.push_back(
        AnswerCase("the drill reached a verdict on every run", summary.answer, summary.next_step));
  }
  for (std::size_t i = 0; i < families; ++i) {
    file.cases.push_back(CaseOf(*worst[i], JunitBodyBytes(cases + families)));
  }
  for (std::size_t i = 0; i < cases; ++i) {
    file.cases.push_back(CaseOf(*summary.order[i], JunitBodyBytes(cases + families)));
  }
  return WriteJunitFile(file);
}

}  // namespace rharness
