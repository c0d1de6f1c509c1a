// The report as JSON, "rharness.report/v1" (report.schema.json): writing it, and the tally.
#include <fmt/format.h>

#include "reports/model.h"
#include "reports/names.h"

namespace rharness {
namespace {

template <class T, class F>
Json ArrayOf(const T& values, F to_json) {
  Json::Array array;
  array.reserve(values.size());
  for (const auto& value : values) array.push_back(to_json(value));
  return Json::MakeArray(std::move(array));
}

template <class T>
Json PlainArray(const std::vector<T>& values) {
  return ArrayOf(values, [](const T& value) { return Json(value); });
}

Json FindingJson(const Finding& finding) {
  Json json;
  json.Set("code", finding.code);
  if (finding.layer) json.Set("layer", LayerName(*finding.layer));
  json.Set("subject", finding.subject)
      .Set("observed", finding.observed)
      .Set("limit", finding.limit)
      .Set("rule", finding.rule)
      .Set("message", finding.message)
      .Set("decisive", finding.decisive);
  return json;
}

Json DifferenceJson(const FactDifference& difference) {
  Json json;
  json.Set("key", difference.key)
      .Set("weight", NameIn(kFactWeightNames, difference.weight))
      .Set("recorded", difference.recorded)
      .Set("observed", difference.observed);
  return json;
}

Json LayerJson(const LayerComparison& layer) {
  Json json;
  json.Set("layer", LayerName(layer.layer))
      .Set("state", LayerStateName(layer.state))
      .Set("compared", layer.compared)
      .Set("only_recorded", layer.only_recorded)
      .Set("differences", ArrayOf(layer.differences, DifferenceJson));
  return json;
}

Json TensorJson(const TensorDifference& tensor) {
  Json json;
  json.Set("name", tensor.name)
      .Set("dtype", DTypeName(tensor.dtype))
      .Set("shape", PlainArray(tensor.shape))
      .Set("elements", tensor.elements)
      .Set("differing", tensor.differing)
      .Set("first_index", tensor.first_index)
      .Set("max_abs", tensor.max_abs)
      .Set("max_ulp", tensor.max_ulp)
      .Set("non_finite_changes", tensor.non_finite_changes);
  return json;
}

Json ExactJson(const ExactComparison& exact) {
  Json json;
  json.Set("subject", exact.subject)
      .Set("state", NameIn(kExactStateNames, exact.state))
      .Set("first_difference", exact.first_difference)
      .Set("detail", exact.detail);
  if (exact.tensor) json.Set("tensor", TensorJson(*exact.tensor));
  return json;
}

Json MetricJson(const MetricDecision& metric) {
  Json json;
  json.Set("name", metric.name)
      .Set("unit", metric.unit)
      .Set("primary", metric.primary)
      .Set("verdict", MetricVerdictName(metric.verdict))
      .Set("reason", metric.reason)
      .Set("history", PlainArray(metric.history))
      .Set("reruns", PlainArray(metric.reruns))
      .Set("mean_history", metric.mean_history)
      .Set("difference", metric.difference)
      .Set("standard_deviation", metric.standard_deviation)
      .Set("standard_error", metric.standard_error)
      .Set("df", metric.df)
      .Set("t", metric.t)
      .Set("p_difference", metric.p_difference)
      .Set("ci_low", metric.ci_low)
      .Set("ci_high", metric.ci_high)
      .Set("margin", metric.margin)
      .Set("default_margin", metric.default_margin)
      .Set("alpha_drift", metric.alpha_drift)
      .Set("alpha_equivalence", metric.alpha_equivalence)
      .Set("variance_basis", metric.variance_basis)
      .Set("power", metric.power)
      .Set("minimum_detectable", metric.minimum_detectable)
      .Set("more_reruns", metric.more_reruns);
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
      .Set("reasons", ArrayOf(run.reasons, FindingJson))
      .Set("compared", PlainArray(run.compared))
      .Set("layers", ArrayOf(run.layers, LayerJson))
      .Set("exact", ArrayOf(run.exact, ExactJson))
      .Set("metrics", ArrayOf(run.metrics, MetricJson))
      .Set("reruns", ArrayOf(run.reruns, RerunJson))
      .Set("more_reruns", run.more_reruns)
      .Set("recorded_seconds", run.recorded_seconds)
      .Set("recorded", FormatTime(run.recorded));
  return json;
}

}  // namespace

Json ToJson(const Report& report) {
  Json json;
  Json counts = Json::MakeObject();
  for (const auto& [verdict, count] : report.counts) counts.Set(verdict, count);
  json.Set("schema", fmt::format("rharness.report/v{}", kReportVersion))
      .Set("exit_code", report.exit_code)
      .Set("counts", std::move(counts))
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
      .Set("interrupted", report.interrupted)
      .Set("left_out", PlainArray(report.left_out))
      .Set("notes", PlainArray(report.notes))
      .Set("runs", ArrayOf(report.runs, RunJson));
  return json;
}

void Tally(Report* report) {
  report->counts.clear();
  for (const Verdict verdict : kVerdicts) report->counts[std::string(VerdictName(verdict))] = 0;
  std::vector<Verdict> verdicts;
  verdicts.reserve(report->runs.size());
  for (const ReportRun& run : report->runs) {
    verdicts.push_back(run.verdict);
    ++report->counts[std::string(VerdictName(run.verdict))];
  }
  report->exit_code = ExitCodeOf(verdicts);
}

}  // namespace rharness
