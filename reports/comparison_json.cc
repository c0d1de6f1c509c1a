// Comparisons as JSON, "rharness.comparison/v1" (comparison.schema.json). Keys come in the order of
// the structs; numbers that are not finite are strings.
#include "reports/comparison_parts.h"
#include "reports/comparison_report.h"
#include "reports/comparison_summary.h"
#include "reports/json_parts.h"

namespace rharness {
namespace {

Json SideJson(const ComparedSide& side) {
  Json json;
  json.Set("path", side.path).Set("kind", side.kind).Set("detail", side.detail);
  return json;
}

void AddComparison(const Comparison& comparison, Json* json) {
  json->Set("name", comparison.name)
      .Set("a", SideJson(comparison.a))
      .Set("b", SideJson(comparison.b))
      .Set("expect_bitwise", comparison.expect_bitwise)
      .Set("verdict", VerdictName(comparison.verdict))
      .Set("headline", comparison.headline)
      .Set("findings", ArrayOf(comparison.findings, FindingJson))
      .Set("causes", ArrayOf(comparison.causes, CauseJson))
      .Set("layers", ArrayOf(comparison.layers, LayerJson))
      .Set("checkpoints", ArrayOf(comparison.checkpoints, CheckpointJson))
      .Set("curves", ArrayOf(comparison.curves, CurveJson))
      .Set("metrics", ArrayOf(comparison.metrics, MetricJson))
      .Set("notes", PlainArray(comparison.notes));
  if (!comparison.is_rerun) return;
  json->Set("reruns", ArrayOf(comparison.ends, EndJson))
      .Set("declared_bitwise", comparison.declared_bitwise)
      .Set("more_reruns", comparison.more_reruns);
}

}  // namespace

Json ToJson(const ComparisonSet& set) {
  Json json;
  json.Set("schema", fmt::format("rharness.comparison/v{}", kComparisonVersion))
      .Set("title", set.title)
      .Set("version", set.version)
      .Set("made", FormatTime(set.made))
      .Set("exit_code", set.exit_code);
  if (IsSingle(set)) {
    json.Set("set_notes", PlainArray(set.notes));
    AddComparison(set.comparisons.front(), &json);
    return json;
  }
  json.Set("counts", CountsJson(set.counts))
      .Set("notes", PlainArray(set.notes))
      .Set("comparisons", ArrayOf(set.comparisons, [](const Comparison& comparison) {
             Json member;
             AddComparison(comparison, &member);
             return member;
           }));
  return json;
}

}  // namespace rharness
