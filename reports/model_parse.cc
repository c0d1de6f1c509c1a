// Reading "rharness.report/v1" back, with errors that name the JSON path. A report is input like
// any other: what it claims in its counts must be what its runs say.
#include <fmt/format.h>

#include "harness/base/json_reader.h"
#include "reports/model.h"
#include "reports/names.h"

namespace rharness {
namespace {

// Reads a member as text and turns it into *out with `parse`, which returns a Result<T>.
template <class T, class F>
void ReadAs(JsonReader& reader, std::string_view key, T* out, F parse) {
  std::string text;
  reader.Read(key, &text);
  if (!reader.ok()) return;
  const Result<T> value = parse(text);
  if (!value.ok()) return reader.Fail(value.error().message, key);
  *out = *value;
}

template <class T, std::size_t n>
auto ParserOf(const NameTable<T, n>& table) {
  return [&table](std::string_view text) -> Result<T> {
    for (const auto& [value, name] : table) {
      if (name == text) return value;
    }
    return InvalidInput(fmt::format("unknown name '{}'", text));
  };
}

Result<LayerState> ParseLayerState(std::string_view text) {
  for (const auto state : {LayerState::kSame, LayerState::kDiffers, LayerState::kUnknown}) {
    if (LayerStateName(state) == text) return state;
  }
  return InvalidInput(fmt::format("unknown layer state '{}'", text));
}

Result<MetricVerdict> ParseMetricVerdict(std::string_view text) {
  for (const auto verdict : {MetricVerdict::kWithin, MetricVerdict::kDrifted,
                             MetricVerdict::kNeedsConfirmation, MetricVerdict::kInconclusive}) {
    if (MetricVerdictName(verdict) == text) return verdict;
  }
  return InvalidInput(fmt::format("unknown metric verdict '{}'", text));
}

Finding ReadFinding(JsonReader& reader) {
  Finding finding;
  reader.Read("code", &finding.code);
  if (reader.Has("layer")) {
    Layer layer = Layer::kData;
    ReadAs(reader, "layer", &layer, ParseLayer);
    finding.layer = layer;
  }
  reader.ReadOptional("subject", &finding.subject);
  reader.ReadOptional("observed", &finding.observed);
  reader.ReadOptional("limit", &finding.limit);
  reader.ReadOptional("rule", &finding.rule);
  reader.Read("message", &finding.message);
  reader.ReadOptional("decisive", &finding.decisive);
  return finding;
}

void ReadLayers(JsonReader& run, std::array<LayerComparison, 5>* layers) {
  for (std::size_t i = 0; i < layers->size(); ++i) (*layers)[i].layer = kLayers[i];
  run.ForEach("layers", [&](JsonReader& reader) {
    LayerComparison comparison;
    ReadAs(reader, "layer", &comparison.layer, ParseLayer);
    ReadAs(reader, "state", &comparison.state, ParseLayerState);
    reader.ReadOptional("compared", &comparison.compared);
    reader.ReadOptional("only_recorded", &comparison.only_recorded);
    reader.ForEach("differences", [&](JsonReader& member) {
      FactDifference difference;
      difference.layer = comparison.layer;
      member.Read("key", &difference.key);
      ReadAs(member, "weight", &difference.weight, ParserOf(kFactWeightNames));
      member.ReadOptional("recorded", &difference.recorded);
      member.ReadOptional("observed", &difference.observed);
      comparison.differences.push_back(std::move(difference));
    });
    if (!reader.ok()) return;
    for (auto& slot : *layers) {
      if (slot.layer != comparison.layer) continue;
      slot = std::move(comparison);
      return;
    }
  });
}

TensorDifference ReadTensor(JsonReader& reader) {
  TensorDifference tensor;
  reader.Read("name", &tensor.name);
  ReadAs(reader, "dtype", &tensor.dtype, ParseDType);
  reader.ReadArray("shape", &tensor.shape);
  reader.Read("elements", &tensor.elements);
  reader.Read("differing", &tensor.differing);
  reader.Read("first_index", &tensor.first_index);
  reader.Read("max_abs", &tensor.max_abs);
  reader.Read("max_ulp", &tensor.max_ulp);
  reader.Read("non_finite_changes", &tensor.non_finite_changes);
  return tensor;
}

ExactComparison ReadExact(JsonReader& reader) {
  ExactComparison exact;
  reader.Read("subject", &exact.subject);
  ReadAs(reader, "state", &exact.state, ParserOf(kExactStateNames));
  reader.ReadOptional("first_difference", &exact.first_difference);
  reader.ReadOptional("detail", &exact.detail);
  reader.ReadObject("tensor", false,
                    [&](JsonReader& tensor) { exact.tensor = ReadTensor(tensor); });
  return exact;
}

MetricDecision ReadMetric(JsonReader& reader) {
  MetricDecision metric;
  reader.Read("name", &metric.name);
  reader.ReadOptional("unit", &metric.unit);
  reader.Read("primary", &metric.primary);
  ReadAs(reader, "verdict", &metric.verdict, ParseMetricVerdict);
  reader.ReadOptional("reason", &metric.reason);
  reader.ReadArray("history", &metric.history);
  reader.ReadArray("reruns", &metric.reruns);
  reader.Read("mean_history", &metric.mean_history);
  reader.Read("difference", &metric.difference);
  reader.Read("standard_deviation", &metric.standard_deviation);
  reader.Read("standard_error", &metric.standard_error);
  reader.Read("df", &metric.df);
  reader.Read("t", &metric.t);
  reader.Read("p_difference", &metric.p_difference);
  reader.Read("ci_low", &metric.ci_low);
  reader.Read("ci_high", &metric.ci_high);
  reader.Read("margin", &metric.margin);
  reader.ReadOptional("default_margin", &metric.default_margin);
  reader.Read("alpha_drift", &metric.alpha_drift);
  reader.Read("alpha_equivalence", &metric.alpha_equivalence);
  reader.ReadOptional("variance_basis", &metric.variance_basis);
  reader.Read("power", &metric.power);
  reader.Read("minimum_detectable", &metric.minimum_detectable);
  reader.ReadOptional("more_reruns", &metric.more_reruns);
  return metric;
}

ReportRerun ReadRerun(JsonReader& reader) {
  ReportRerun rerun;
  reader.Read("index", &rerun.index);
  reader.ReadOptional("outcome", &rerun.outcome);
  reader.Read("state", &rerun.state);
  reader.ReadOptional("reason", &rerun.reason);
  reader.ReadOptional("wall_seconds", &rerun.wall_seconds);
  reader.ReadOptional("cpu_seconds", &rerun.cpu_seconds);
  reader.ReadOptional("peak_memory_bytes", &rerun.peak_memory_bytes);
  reader.ReadOptional("evidence_path", &rerun.evidence_path);
  reader.ReadOptional("stderr_tail", &rerun.stderr_tail);
  return rerun;
}

ReportRun ReadRun(JsonReader& reader) {
  ReportRun run;
  reader.Read("run_id", &run.run_id);
  reader.Read("family", &run.family);
  ReadAs(reader, "verdict", &run.verdict, ParseVerdict);
  reader.ReadOptional("declared", &run.declared);
  reader.ReadOptional("headline", &run.headline);
  reader.ForEach("reasons", [&](JsonReader& r) { run.reasons.push_back(ReadFinding(r)); });
  reader.ReadArray("compared", &run.compared);
  ReadLayers(reader, &run.layers);
  reader.ForEach("exact", [&](JsonReader& r) { run.exact.push_back(ReadExact(r)); });
  reader.ForEach("metrics", [&](JsonReader& r) { run.metrics.push_back(ReadMetric(r)); });
  reader.ForEach("reruns", [&](JsonReader& r) { run.reruns.push_back(ReadRerun(r)); });
  reader.ReadOptional("more_reruns", &run.more_reruns);
  reader.ReadOptional("recorded_seconds", &run.recorded_seconds);
  if (reader.Has("recorded")) ReadAs(reader, "recorded", &run.recorded, ParseTime);
  return run;
}

void ReadFacts(JsonReader& reader, Report* report) {
  reader.ReadOptional("title", &report->title);
  reader.ReadOptional("drill_id", &report->drill_id);
  reader.ReadOptional("version", &report->version);
  if (reader.Has("started")) ReadAs(reader, "started", &report->started, ParseTime);
  if (reader.Has("ended")) ReadAs(reader, "ended", &report->ended, ParseTime);
  reader.ReadOptional("history", &report->history);
  reader.ReadOptional("selection", &report->selection);
  reader.ReadOptional("launcher", &report->launcher);
  reader.ReadOptional("executor", &report->executor);
  reader.ReadOptional("host", &report->host);
  reader.ReadOptional("interrupted", &report->interrupted);
  reader.ReadArray("left_out", &report->left_out);
  reader.ReadArray("notes", &report->notes);
}

// The counts and the exit code must follow from the runs; only the failing exit codes may say more
// than the verdicts do (an interrupted drill).
void CheckTally(JsonReader& reader, const Report& report) {
  if (!reader.ok()) return;
  Report tallied;
  tallied.runs = report.runs;
  Tally(&tallied);
  for (const auto& [verdict, count] : tallied.counts) {
    const auto claimed = report.counts.find(verdict);
    if (claimed == report.counts.end() || claimed->second != count) {
      return reader.Fail(fmt::format("expected {} for '{}', as the runs say", count, verdict),
                         "counts");
    }
  }
  if (report.counts.size() != tallied.counts.size()) {
    return reader.Fail("holds a name that is no verdict", "counts");
  }
  if (report.exit_code < 0 || report.exit_code > 5 ||
      (report.exit_code == 0 && tallied.exit_code != 0)) {
    reader.Fail(fmt::format("{} does not follow from the verdicts; expected {}", report.exit_code,
                            tallied.exit_code),
                "exit_code");
  }
}

}  // namespace

Result<Report> ParseReport(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  Report report;
  reader.ReadSchema("rharness.report", kReportVersion);
  reader.Read("exit_code", &report.exit_code);
  reader.ForEachMember("counts", [&](const std::string& verdict, JsonReader& count) {
    count.Get(&report.counts[verdict]);
  });
  ReadFacts(reader, &report);
  if (reader.ok() && !reader.Has("runs")) reader.Fail("missing; expected an array", "runs");
  reader.ForEach("runs", [&](JsonReader& run) { report.runs.push_back(ReadRun(run)); });
  CheckTally(reader, report);
  RETURN_IF_ERROR(reader.status());
  return report;
}

}  // namespace rharness
