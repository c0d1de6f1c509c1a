// The members of one comparison and of many.
//
// Role: private to reports/; each list writes, reads and describes.
#ifndef RHARNESS_REPORTS_COMPARISON_MEMBERS_H_
#define RHARNESS_REPORTS_COMPARISON_MEMBERS_H_

#include "harness/base/json_members.h"
#include "reports/comparison_parts.h"
#include "reports/comparison_report.h"
#include "reports/json_nouns.h"
#include "reports/names.h"
#include "reports/token_members.h"

namespace rharness {

template <class Io, Is<ComparedSide> T>
void Members(Io& io, T& side) {
  io.May("path", side.path);
  io.MayName("kind", side.kind, kSideKindNames, "Empty: it could not be read.");
  io.May("detail", side.detail);
}

template <class Io, Is<Comparison> T>
void Members(Io& io, T& comparison) {
  io.May("name", comparison.name, "Of the pair; empty for a single comparison.");
  io.MayObject("a", comparison.a);
  io.MayObject("b", comparison.b);
  io.May("expect_bitwise", comparison.expect_bitwise);
  io.Text("verdict", comparison.verdict, VerdictName, ParseVerdict);
  io.May("headline", comparison.headline);
  io.List("findings", comparison.findings);
  io.List("causes", comparison.causes);
  LayerMembers(io, comparison.layers);
  io.List("checkpoints", comparison.checkpoints);
  io.List("curves", comparison.curves);
  io.List("metrics", comparison.metrics);
  io.MayObject("tokens", comparison.tokens,
               "Of two programs that scored the same tokens: how their log-probabilities differ.");
  io.Plain("notes", comparison.notes);
  bool is_rerun = comparison.is_rerun;
  const bool more = io.Present("reruns", is_rerun);
  if constexpr (!Io::kWrites) comparison.is_rerun = is_rerun;
  if (!more) return;
  io.List("reruns", comparison.ends, "Of a run beside its reruns: how each ended.");
  io.May("declared_bitwise", comparison.declared_bitwise,
         "The record says that it is deterministic.");
  io.May("more_reruns", comparison.more_reruns, Count());
  io.May("more_runs", comparison.more_runs, Count());
}

// The members above one comparison and above many.
template <class Io, Is<ComparisonSet> T>
void Members(Io& io, T& set) {
  io.Schema("rharness.comparison", kComparisonVersion);
  io.May("title", set.title);
  io.May("version", set.version);
  io.MayTime("made", set.made);
  io.Must("exit_code", set.exit_code, About().Least(0).Most(5));
}

// What follows them.
template <class Io, Is<ComparisonSet> T, Is<Comparison> C>
void SingleMembers(Io& io, T& set, C& only) {
  io.Plain("set_notes", set.notes);
  Members(io, only);
}

template <class Io, Is<ComparisonSet> T>
void SetMembers(Io& io, T& set) {
  CountMembers(io, set.counts, "Pairs by verdict; all seven are there.");
  io.Plain("notes", set.notes);
  io.MustList("comparisons", set.comparisons);
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_COMPARISON_MEMBERS_H_
