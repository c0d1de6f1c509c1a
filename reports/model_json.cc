// The report as JSON, "rharness.report/v1" (report.schema.json): writing it, and the tally.
#include <fmt/format.h>

#include "reports/comparison_parts.h"
#include "reports/json_parts.h"
#include "reports/model.h"
#include "reports/names.h"

namespace rharness {
namespace {

Json ExactJson(const ExactComparison& exact) {
  Json json;
  json.Set("subject", exact.subject)
      .Set("state", NameIn(kExactStateNames, exact.state))
      .Set("first_difference", exact.first_difference)
      .Set("detail", exact.detail);
  if (exact.tensor) json.Set("tensor", TensorJson(*exact.tensor));
  return json;
}

Json RerunJson(const ReportRerun& rerun) {
  Json json;
  json.Set("index", rerun.index)
      .Set("outcome", rerun.outcome)
      .Set("state", rerun.state)
      .Set("reason", rerun.reason)
      .Set("wall_seconds", rerun.wall_seconds)
      .Set("cpu_seconds", rerun.cpu_seconds)
      .Set("peak_memory_bytes", rerun.peak_memory_bytes)
      .Set("evidence_path", rerun.evidence_path)
      .Set("stdout_path", rerun.stdout_path)
      .Set("stderr_path", rerun.stderr_path)
      .Set("stderr_tail", rerun.stderr_tail);
  return json;
}

Json RunJson(const ReportRun& run) {
  Json json;
  json.Set("run_id", run.run_id)
      .Set("family", run.family)
      .Set("verdict", VerdictName(run.verdict))
      .Set("declared", run.declared)
      .Set("headline", run.headline)
      .Set("reasons", ArrayOf(run.findings, FindingJson))
      .Set("causes", ArrayOf(run.causes, CauseJson))
      .Set("compared", ArrayOf(run.exact,
                               [](const ExactComparison& exact) {
                                 return Json(exact.subject + ": " + exact.detail);
                               }))
      .Set("layers", ArrayOf(run.layers, LayerJson))
      .Set("exact", ArrayOf(run.exact, ExactJson))
      .Set("checkpoints", ArrayOf(run.checkpoints, CheckpointJson))
      .Set("curves", ArrayOf(run.curves, CurveJson))
      .Set("metrics", ArrayOf(run.metrics, MetricJson))
      .Set("notes", PlainArray(run.notes))
      .Set("comparison_path", run.comparison_path)
      .Set("reruns", ArrayOf(run.reruns, RerunJson))
      .Set("more_reruns", run.more_reruns)
      .Set("recorded_seconds", run.recorded_seconds)
      .Set("recorded", FormatTime(run.recorded));
  return json;
}

}  // namespace

Json ToJson(const Report& report) {
  Json json;
  json.Set("schema", fmt::format("rharness.report/v{}", kReportVersion))
      .Set("exit_code", report.exit_code)
      .Set("counts", CountsJson(report.counts))
      .Set("title", report.title)
      .Set("drill_id", report.drill_id)
      .Set("version", report.version)
      .Set("started", FormatTime(report.started))
      .Set("ended", FormatTime(report.ended))
      .Set("history", report.history)
      .Set("selection", report.selection)
      .Set("launcher", report.launcher)
      .Set("executor", report.executor)
      .Set("host", report.host)
      .Set("last_success",
           report.last_success ? Json(FormatTime(*report.last_success)) : Json())
      .Set("interrupted", report.interrupted)
      .Set("left_out", PlainArray(report.left_out))
      .Set("notes", PlainArray(report.notes))
      .Set("runs", ArrayOf(report.runs, RunJson));
  return json;
}

void Tally(Report* report) {
  std::vector<Verdict> verdicts;
  verdicts.reserve(report->runs.size());
  for (const ReportRun& run : report->runs) verdicts.push_back(run.verdict);
  report->counts = CountVerdicts(verdicts);
  report->exit_code = ExitCodeOf(verdicts);
}

}  // namespace rharness
