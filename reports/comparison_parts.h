// The parts of a comparison that comparison.json and report.json share: causes, checkpoints,
// curves, how reruns ended.
//
// Role: private to reports/; each list writes, reads and describes.
#ifndef RHARNESS_REPORTS_COMPARISON_PARTS_H_
#define RHARNESS_REPORTS_COMPARISON_PARTS_H_

#include "compare/comparison.h"
#include "reports/json_nouns.h"
#include "reports/names.h"

namespace rharness {

template <class Io, Is<Cause> T>
void Members(Io& io, T& cause) {
  io.Must("code", cause.code, "Stable, for machines.");
  io.Text("layer", cause.layer, LayerName, ParseLayer);
  io.MayName("strength", cause.strength, kStrengthNames, "shown, likely or possible.");
  io.Must("statement", cause.statement);
  io.Plain("evidence", cause.evidence);
  io.May("confirm", cause.confirm, "The command that would confirm it, or what to do.");
}

template <class Io, Is<GroupDifference> T>
void Members(Io& io, T& group) {
  io.Noun("The tensors of one layer.");
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
  io.Must("vacuous", difference.vacuous, "Not one element was compared.");
  io.Must("compared", difference.compared, Count());
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
  io.May("weights", checkpoint.weights,
         "false: optimizer state and the like, which do not decide alone.");
  io.Object("difference", checkpoint.difference);
  io.May("digest_a", checkpoint.digest_a);
  io.May("digest_b", checkpoint.digest_b);
  io.May("from_digests", checkpoint.from_digests);
  ComparedBy by = ComparedBy::kNothing;
  if constexpr (Io::kWrites) by = HowCompared(checkpoint);
  io.MayName(
      "compared_by", by, kComparedByNames,
      "By what the two sides were compared: tensors, recorded digests of tensors, the SHA-256 of a "
      "file that no reader opens, values, or nothing; absent in older reports.");
  if constexpr (!Io::kWrites) checkpoint.is_file = by == ComparedBy::kFileDigest;
  io.MayIf(!checkpoint.matters, "matters", checkpoint.matters,
           "False: by its role it may differ from run to run, as a log; absent: true.");
  io.Plain("metadata", checkpoint.metadata);
}

template <class Io, Is<CurveComparison> T>
void Members(Io& io, T& curve) {
  io.Must("name", curve.name);
  io.Name("kind", curve.kind, kCurveKindNames);
  io.Name("state", curve.state, kCurveStateNames);
  io.May("vacuity", curve.vacuity, "Why a vacuous curve cannot tell.");
  io.May("basis", curve.basis, "bits, replicates, growth_model or none.");
  io.Plain("steps", curve.steps, "The aligned steps.");
  io.Plain("a", curve.a);
  io.Plain("b", curve.b);
  io.Plain("band", curve.band, "The limit on |b - middle| by step; empty without a band.");
  io.PlainUnlessEmpty("middle", curve.middle,
                      "What the band lies around: the mean of further runs; absent: a.");
  io.May("only_a", curve.only_a);
  io.May("only_b", curve.only_b);
  io.May("subsampled", curve.subsampled,
         "The steps of one side alone are those between the common ones, which cover both logs at "
         "a regular stride.");
  io.May("differing", curve.differing);
  io.May("first_difference", curve.first_difference, "A step; null: there is none.");
  io.May("first_beyond", curve.first_beyond, "A step; null: there is none.");
  io.May("first_non_finite", curve.first_non_finite, "A step; null: there is none.");
  io.May("max_abs", curve.max_abs);
  io.May("max_rel", curve.max_rel);
  io.May("max_step", curve.max_step);
  io.May("statistic", curve.statistic, "Largest share of a limit; 1 is all of it.");
  io.May("false_alarm", curve.false_alarm);
  io.NameUnless("nature", curve.nature, kDifferenceNatureNames, DifferenceNature::kNone,
                "What the difference of a loss looks like; absent: nothing can be said.");
  io.May("shift", curve.shift,
         "Mean relative difference over the stretch where it is furthest from none.");
  io.May("shift_first", curve.shift_first, "First step of that stretch.");
  io.May("shift_last", curve.shift_last, "Last step of that stretch.");
  io.May("progress", curve.progress, "Share of its steps by which b is ahead of a.");
  io.May("stopped_after", curve.stopped_after,
         "Last step of B's log where A's goes on; null: it does not stop.");
  io.May("rule", curve.rule);
  io.May("message", curve.message);
}

// The vectors of a curve must have one length.
void CheckRead(JsonReader& reader, const CurveComparison& curve);

template <class Io, Is<RerunEnd> T>
void Members(Io& io, T& end) {
  io.Noun("How one rerun ended.");
  io.Must("index", end.index);
  io.Name("state", end.state, kRerunStateNames);
  io.May("reason", end.reason);
  io.MayText("layer", end.layer, LayerName, ParseLayer);
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_COMPARISON_PARTS_H_
