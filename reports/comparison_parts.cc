// Causes, checkpoints and curves as JSON and back; see comparison_parts.h.
#include "reports/comparison_parts.h"

#include "reports/json_parts.h"

namespace rharness {
namespace {

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

GroupDifference ReadGroup(JsonReader& reader) {
  GroupDifference group;
  reader.Read("group", &group.group);
  reader.ReadOptional("tensors", &group.tensors);
  reader.ReadOptional("differing_tensors", &group.differing_tensors);
  reader.ReadOptional("elements", &group.elements);
  reader.ReadOptional("differing", &group.differing);
  reader.ReadOptional("max_abs", &group.max_abs);
  reader.ReadOptional("max_rel", &group.max_rel);
  reader.ReadOptional("max_ulp", &group.max_ulp);
  reader.ReadOptional("relative_norm", &group.relative_norm);
  return group;
}

CheckpointDifference ReadDifference(JsonReader& reader) {
  CheckpointDifference difference;
  reader.Read("bit_equal", &difference.bit_equal);
  reader.Read("vacuous", &difference.vacuous);
  reader.Read("compared", &difference.compared);
  reader.ReadOptional("elements", &difference.elements);
  reader.ReadArray("only_a", &difference.only_a);
  reader.ReadArray("only_b", &difference.only_b);
  reader.ReadArray("shape_or_dtype", &difference.shape_or_dtype);
  reader.ForEach("differing",
                 [&](JsonReader& r) { difference.differing.push_back(ReadTensor(r)); });
  reader.ForEach("groups", [&](JsonReader& r) { difference.groups.push_back(ReadGroup(r)); });
  return difference;
}

void ReadValues(JsonReader& reader, CurveComparison* curve) {
  reader.ReadArray("steps", &curve->steps);
  reader.ReadArray("a", &curve->a);
  reader.ReadArray("b", &curve->b);
  reader.ReadArray("band", &curve->band);
  if (!reader.ok()) return;
  const std::size_t expected = curve->steps.size();
  if (curve->a.size() != expected) {
    reader.Fail(fmt::format("expected {} values, one a step", expected), "a");
  }
  if (curve->b.size() != expected) {
    reader.Fail(fmt::format("expected {} values, one a step", expected), "b");
  }
  if (!curve->band.empty() && curve->band.size() != expected) {
    reader.Fail(fmt::format("expected no value, or {}, one a step", expected), "band");
  }
}

}  // namespace

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

Json EndJson(const RerunEnd& end) {
  Json json;
  json.Set("index", end.index)
      .Set("state", NameIn(kRerunStateNames, end.state))
      .Set("reason", end.reason);
  if (end.layer) json.Set("layer", LayerName(*end.layer));
  return json;
}

Cause ReadCause(JsonReader& reader) {
  Cause cause;
  reader.Read("code", &cause.code);
  ReadAs(reader, "layer", &cause.layer, ParseLayer);
  reader.ReadOptional("strength", &cause.strength);
  reader.Read("statement", &cause.statement);
  reader.ReadArray("evidence", &cause.evidence);
  reader.ReadOptional("confirm", &cause.confirm);
  return cause;
}

CheckpointComparison ReadCheckpoint(JsonReader& reader) {
  CheckpointComparison checkpoint;
  reader.Read("subject", &checkpoint.subject);
  reader.ReadOptional("weights", &checkpoint.weights);
  reader.ReadObject("difference", true,
                    [&](JsonReader& r) { checkpoint.difference = ReadDifference(r); });
  reader.ReadOptional("digest_a", &checkpoint.digest_a);
  reader.ReadOptional("digest_b", &checkpoint.digest_b);
  reader.ReadOptional("from_digests", &checkpoint.from_digests);
  reader.ReadArray("metadata", &checkpoint.metadata);
  return checkpoint;
}

CurveComparison ReadCurve(JsonReader& reader) {
  CurveComparison curve;
  reader.Read("name", &curve.name);
  ReadAs(reader, "kind", &curve.kind, ParserOf(kCurveKindNames));
  ReadAs(reader, "state", &curve.state, ParserOf(kCurveStateNames));
  reader.ReadOptional("vacuity", &curve.vacuity);
  reader.ReadOptional("basis", &curve.basis);
  ReadValues(reader, &curve);
  reader.ReadOptional("only_a", &curve.only_a);
  reader.ReadOptional("only_b", &curve.only_b);
  reader.ReadOptional("differing", &curve.differing);
  reader.ReadOptional("first_difference", &curve.first_difference);
  reader.ReadOptional("first_beyond", &curve.first_beyond);
  reader.ReadOptional("first_non_finite", &curve.first_non_finite);
  reader.ReadOptional("max_abs", &curve.max_abs);
  reader.ReadOptional("max_rel", &curve.max_rel);
  reader.ReadOptional("max_step", &curve.max_step);
  reader.ReadOptional("statistic", &curve.statistic);
  reader.ReadOptional("false_alarm", &curve.false_alarm);
  reader.ReadOptional("rule", &curve.rule);
  reader.ReadOptional("message", &curve.message);
  return curve;
}

RerunEnd ReadEnd(JsonReader& reader) {
  RerunEnd end;
  reader.Read("index", &end.index);
  ReadAs(reader, "state", &end.state, ParserOf(kRerunStateNames));
  reader.ReadOptional("reason", &end.reason);
  if (reader.Has("layer")) {
    Layer layer{};
    ReadAs(reader, "layer", &layer, ParseLayer);
    end.layer = layer;
  }
  return end;
}

}  // namespace rharness
