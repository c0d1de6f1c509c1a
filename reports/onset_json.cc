// Where two runs part as JSON: "rharness.onset/v1".
#include <algorithm>
#include <cmath>

#include "reports/json_parts.h"
#include "reports/onset_report.h"

namespace rharness {
namespace {

constexpr std::size_t kMostStrip = 20000;

Json SideJson(const TraceRecord& record) {
  Json json = Json::MakeObject({{"shape", PlainArray(record.shape)},
                                {"dtype", record.dtype},
                                {"digest", record.digest},
                                {"norm", record.norm},
                                {"max", record.max},
                                {"nonfinite", record.nonfinite}});
  if (record.kind == TraceKind::kSetting) json.Set("value", record.value);
  return json;
}

// `whole`: with both sides.
Json RecordJson(const OnsetRecord& record, bool whole) {
  Json json = Json::MakeObject({{"step", record.a.step},
                                {"kind", TraceKindName(record.a.kind)},
                                {"name", record.a.name},
                                {"type", record.a.type},
                                {"call", record.a.call},
                                {"index", record.a.index},
                                {"state", RecordStateName(record.state)},
                                {"size", DifferenceSizeName(record.size)},
                                {"distance", record.distance}});
  if (!whole) return json;
  json.Set("at_least", record.from_norms);
  json.Set("rounding", record.rounding);
  if (record.state != RecordState::kOnlyB) json.Set("a", SideJson(record.a));
  if (record.state != RecordState::kOnlyA) json.Set("b", SideJson(record.b));
  return json;
}

Json StepJson(const OnsetStep& step) {
  return Json::MakeObject({{"step", step.step},
                           {"compared", step.compared},
                           {"differing", step.differing},
                           {"parameters", step.parameters},
                           {"outputs", step.outputs},
                           {"loss", step.loss}});
}

Json OnsetCurveJson(const CurveComparison& curve) {
  return Json::MakeObject({{"name", curve.name},
                           {"state", CurveStateName(curve.state)},
                           {"basis", curve.basis},
                           {"first_difference", curve.first_difference},
                           {"first_beyond", curve.first_beyond},
                           {"message", curve.message}});
}

Json TracesJson(const Onset& onset) {
  const std::vector<OnsetRecord> strip(
      onset.strip.begin(),
      onset.strip.begin() + static_cast<std::ptrdiff_t>(std::min(onset.strip.size(), kMostStrip)));
  Json json = Json::MakeObject({{"end", onset.end},
                                {"what", onset.what},
                                {"layer", onset.what.empty() ? "" : LayerName(onset.layer)},
                                {"rank", onset.rank},
                                {"equal_until", onset.equal_until},
                                {"growth", onset.growth},
                                {"jump", onset.jump},
                                {"steps", ArrayOf(onset.steps, StepJson)},
                                {"curves", ArrayOf(onset.curves, OnsetCurveJson)}});
  if (onset.origin) json.Set("origin", RecordJson(*onset.origin, true));
  json.Set("further_origins", ArrayOf(onset.origins, [](const OnsetRecord& record) {
             return RecordJson(record, true);
           }));
  json.Set("step",
           ArrayOf(strip, [](const OnsetRecord& record) { return RecordJson(record, false); }));
  return json;
}

Json TensorJson(const OnsetTensor& tensor) {
  return Json::MakeObject({{"name", tensor.name},
                           {"elements", tensor.elements},
                           {"differing", tensor.differing},
                           {"max_abs", tensor.max_abs},
                           {"relative", tensor.relative},
                           {"max_ulp", tensor.max_ulp}});
}

}  // namespace

Json ToJson(const OnsetReport& report) {
  const auto checkpoint = [](const OnsetCheckpoint& one) {
    return Json::MakeObject({{"name", one.name}, {"number", one.number}, {"state", one.state}});
  };
  Json json = Json::MakeObject({{"schema", "rharness.onset/v1"},
                                {"version", report.version},
                                {"made", FormatTime(report.made)},
                                {"a", report.a},
                                {"b", report.b},
                                {"exit_code", report.exit_code},
                                {"headline", report.headline},
                                {"next", report.next},
                                {"reasons", PlainArray(report.reasons)},
                                {"checkpoints", ArrayOf(report.checkpoints, checkpoint)},
                                {"tensors", ArrayOf(report.tensors, TensorJson)},
                                {"tensor_order", report.tensor_order},
                                {"curves", ArrayOf(report.curves, OnsetCurveJson)},
                                {"notes", PlainArray(report.notes)}});
  if (report.traced) json.Set("traces", TracesJson(report.traces));
  return json;
}

}  // namespace rharness
