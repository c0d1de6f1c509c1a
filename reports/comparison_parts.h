// The parts of a comparison that comparison.json and report.json share: causes, checkpoints,
// curves, how reruns ended.
//
// Role: private to reports/; each list serves both writing and reading.
#ifndef RHARNESS_REPORTS_COMPARISON_PARTS_H_
#define RHARNESS_REPORTS_COMPARISON_PARTS_H_

#include "compare/comparison.h"
#include "reports/json_members.h"
#include "reports/json_nouns.h"
#include "reports/names.h"

namespace rharness {

template <class Io, Is<Cause> T>
void Members(Io& io, T& cause) {
  io.Must("code", cause.code);
  io.Text("layer", cause.layer, LayerName, ParseLayer);
  io.MayName("strength", cause.strength, kStrengthNames);
  io.Must("statement", cause.statement);
  io.Plain("evidence", cause.evidence);
  io.May("confirm", cause.confirm);
}

template <class Io, Is<GroupDifference> T>
void Members(Io& io, T& group) {
  io.Must("group", group.group);
  io.May("tensors", group.tensors);
  io.May("differing_tensors", group.differing_tensors);
  io.May("elements", group.elements);
  io.May("differing", group.differing);
  io.May("max_abs", group.max_abs);
  io.May("max_rel", group.max_rel);
  io.May("max_ulp", group.max_ulp);
  io.May("relative_norm", group.relative_norm);
}

template <class Io, Is<CheckpointDifference> T>
void Members(Io& io, T& difference) {
  io.Must("bit_equal", difference.bit_equal);
  io.Must("vacuous", difference.vacuous);
  io.Must("compared", difference.compared);
  io.May("elements", difference.elements);
  io.Plain("only_a", difference.only_a);
  io.Plain("only_b", difference.only_b);
  io.Plain("shape_or_dtype", difference.shape_or_dtype);
  io.List("differing", difference.differing);
  io.List("groups", difference.groups);
}

template <class Io, Is<CheckpointComparison> T>
void Members(Io& io, T& checkpoint) {
  io.Must("subject", checkpoint.subject);
  io.May("weights", checkpoint.weights);
  io.Object("difference", checkpoint.difference);
  io.May("digest_a", checkpoint.digest_a);
  io.May("digest_b", checkpoint.digest_b);
  io.May("from_digests", checkpoint.from_digests);
  if constexpr (Io::kWrites) {
    io.Name("compared_by", HowCompared(checkpoint), kComparedByNames);
    if (!checkpoint.matters) io.May("matters", checkpoint.matters);
  } else {
    ComparedBy by = ComparedBy::kNothing;  // absent in older reports
    io.NameUnless("compared_by", by, kComparedByNames, by);
    checkpoint.is_file = by == ComparedBy::kFileDigest;
    io.May("matters", checkpoint.matters);
  }
  io.Plain("metadata", checkpoint.metadata);
}

template <class Io, Is<CurveComparison> T>
void Members(Io& io, T& curve) {
  io.Must("name", curve.name);
  io.Name("kind", curve.kind, kCurveKindNames);
  io.Name("state", curve.state, kCurveStateNames);
  io.May("vacuity", curve.vacuity);
  io.May("basis", curve.basis);
  io.Plain("steps", curve.steps);
  io.Plain("a", curve.a);
  io.Plain("b", curve.b);
  io.Plain("band", curve.band);
  io.PlainUnlessEmpty("middle", curve.middle);
  io.May("only_a", curve.only_a);
  io.May("only_b", curve.only_b);
  io.May("subsampled", curve.subsampled);
  io.May("differing", curve.differing);
  io.May("first_difference", curve.first_difference);
  io.May("first_beyond", curve.first_beyond);
  io.May("first_non_finite", curve.first_non_finite);
  io.May("max_abs", curve.max_abs);
  io.May("max_rel", curve.max_rel);
  io.May("max_step", curve.max_step);
  io.May("statistic", curve.statistic);
  io.May("false_alarm", curve.false_alarm);
  io.NameUnless("nature", curve.nature, kDifferenceNatureNames, DifferenceNature::kNone);
  io.May("shift", curve.shift);
  io.May("shift_first", curve.shift_first);
  io.May("shift_last", curve.shift_last);
  io.May("progress", curve.progress);
  io.May("stopped_after", curve.stopped_after);
  io.May("rule", curve.rule);
  io.May("message", curve.message);
}

// The vectors of a curve must have one length.
void CheckRead(JsonReader& reader, const CurveComparison& curve);

template <class Io, Is<RerunEnd> T>
void Members(Io& io, T& end) {
  io.Must("index", end.index);
  io.Name("state", end.state, kRerunStateNames);
  io.May("reason", end.reason);
  io.MayText("layer", end.layer, LayerName, ParseLayer);
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_COMPARISON_PARTS_H_
