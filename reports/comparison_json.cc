// Comparisons as JSON, "rharness.comparison/v1" (comparison.schema.json). Keys come in the order of
// the structs; numbers that are not finite are strings.
#include "reports/comparison_report.h"
#include "reports/comparison_summary.h"
#include "reports/json_parts.h"

namespace rharness {
namespace {

Json CauseJson(const Cause& cause) {
  Json json;
  json.Set("code", cause.code)
      .Set("layer", LayerName(cause.layer))
      .Set("strength", cause.strength)
      .Set("statement", cause.statement)
      .Set("evidence", PlainArray(cause.evidence))
      .Set("confirm", cause.confirm);
  return json;
}

Json SideJson(const ComparedSide& side) {
  Json json;
  json.Set("path", side.path).Set("kind", side.kind).Set("detail", side.detail);
  return json;
}

Json GroupJson(const GroupDifference& group) {
  Json json;
  json.Set("group", group.group)
      .Set("tensors", group.tensors)
      .Set("differing_tensors", group.differing_tensors)
      .Set("elements", group.elements)
      .Set("differing", group.differing)
      .Set("max_abs", group.max_abs)
      .Set("max_rel", group.max_rel)
      .Set("max_ulp", group.max_ulp)
      .Set("relative_norm", group.relative_norm);
  return json;
}

Json CheckpointDifferenceJson(const CheckpointDifference& difference) {
  Json json;
  json.Set("bit_equal", difference.bit_equal)
      .Set("vacuous", difference.vacuous)
      .Set("compared", difference.compared)
      .Set("elements", difference.elements)
      .Set("only_a", PlainArray(difference.only_a))
      .Set("only_b", PlainArray(difference.only_b))
      .Set("shape_or_dtype", PlainArray(difference.shape_or_dtype))
      .Set("differing", ArrayOf(difference.differing, TensorJson))
      .Set("groups", ArrayOf(difference.groups, GroupJson));
  return json;
}

Json CheckpointJson(const CheckpointComparison& checkpoint) {
  Json json;
  json.Set("subject", checkpoint.subject)
      .Set("weights", checkpoint.weights)
      .Set("difference", CheckpointDifferenceJson(checkpoint.difference))
      .Set("digest_a", checkpoint.digest_a)
      .Set("digest_b", checkpoint.digest_b)
      .Set("from_digests", checkpoint.from_digests)
      .Set("metadata", PlainArray(checkpoint.metadata));
  return json;
}

Json CurveJson(const CurveComparison& curve) {
  Json json;
  json.Set("name", curve.name)
      .Set("kind", NameIn(kCurveKindNames, curve.kind))
      .Set("state", NameIn(kCurveStateNames, curve.state))
      .Set("vacuity", curve.vacuity)
      .Set("basis", curve.basis)
      .Set("steps", PlainArray(curve.steps))
      .Set("a", PlainArray(curve.a))
      .Set("b", PlainArray(curve.b))
      .Set("band", PlainArray(curve.band))
      .Set("only_a", curve.only_a)
      .Set("only_b", curve.only_b)
      .Set("differing", curve.differing)
      .Set("first_difference", curve.first_difference)
      .Set("first_beyond", curve.first_beyond)
      .Set("first_non_finite", curve.first_non_finite)
      .Set("max_abs", curve.max_abs)
      .Set("max_rel", curve.max_rel)
      .Set("max_step", curve.max_step)
      .Set("statistic", curve.statistic)
      .Set("false_alarm", curve.false_alarm)
      .Set("rule", curve.rule)
      .Set("message", curve.message);
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
