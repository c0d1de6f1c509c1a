// Reading "rharness.comparison/v1" back, with errors that name the JSON path. It is input like any
// other: what its counts claim must be what its verdicts say, and the vectors of a curve must have
// one length.
#include "reports/comparison_report.h"
#include "reports/json_parts.h"

namespace rharness {
namespace {

ComparedSide ReadSide(JsonReader& reader) {
  ComparedSide side;
  reader.ReadOptional("path", &side.path);
  reader.ReadOptional("kind", &side.kind);
  reader.ReadOptional("detail", &side.detail);
  return side;
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

Comparison ReadComparison(JsonReader& reader) {
  Comparison comparison;
  reader.ReadOptional("name", &comparison.name);
  reader.ReadObject("a", false, [&](JsonReader& r) { comparison.a = ReadSide(r); });
  reader.ReadObject("b", false, [&](JsonReader& r) { comparison.b = ReadSide(r); });
  reader.ReadOptional("expect_bitwise", &comparison.expect_bitwise);
  ReadAs(reader, "verdict", &comparison.verdict, ParseVerdict);
  reader.ReadOptional("headline", &comparison.headline);
  reader.ForEach("findings", [&](JsonReader& r) { comparison.findings.push_back(ReadFinding(r)); });
  reader.ForEach("causes", [&](JsonReader& r) { comparison.causes.push_back(ReadCause(r)); });
  ReadLayers(reader, &comparison.layers);
  reader.ForEach("checkpoints",
                 [&](JsonReader& r) { comparison.checkpoints.push_back(ReadCheckpoint(r)); });
  reader.ForEach("curves", [&](JsonReader& r) { comparison.curves.push_back(ReadCurve(r)); });
  reader.ForEach("metrics", [&](JsonReader& r) { comparison.metrics.push_back(ReadMetric(r)); });
  reader.ReadArray("notes", &comparison.notes);
  return comparison;
}

void ReadSet(JsonReader& reader, ComparisonSet* set) {
  reader.ForEachMember("counts", [&](const std::string& verdict, JsonReader& count) {
    count.Get(&set->counts[verdict]);
  });
  reader.ReadArray("notes", &set->notes);
  reader.ForEach("comparisons",
                 [&](JsonReader& r) { set->comparisons.push_back(ReadComparison(r)); });
}

void ReadSingle(JsonReader& reader, ComparisonSet* set) {
  reader.ReadArray("set_notes", &set->notes);
  set->comparisons.push_back(ReadComparison(reader));
  set->counts = CountVerdicts({set->comparisons.front().verdict});
}

}  // namespace

Result<ComparisonSet> ParseComparisonSet(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  ComparisonSet set;
  reader.ReadSchema("rharness.comparison", kComparisonVersion);
  reader.ReadOptional("title", &set.title);
  reader.ReadOptional("version", &set.version);
  if (reader.Has("made")) ReadAs(reader, "made", &set.made, ParseTime);
  reader.Read("exit_code", &set.exit_code);
  if (reader.ok() && !reader.Has("verdict") && !reader.Has("comparisons")) {
    reader.Fail("missing; expected a verdict, or 'comparisons' of a set", "verdict");
  }
  reader.Has("comparisons") ? ReadSet(reader, &set) : ReadSingle(reader, &set);
  std::vector<Verdict> verdicts;
  for (const Comparison& comparison : set.comparisons) verdicts.push_back(comparison.verdict);
  CheckTally(reader, verdicts, set.counts, set.exit_code);
  RETURN_IF_ERROR(reader.status());
  return set;
}

}  // namespace rharness
