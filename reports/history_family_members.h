// The members of one family over many drills.
//
// Role: private to reports/; each list writes and describes.
#ifndef RHARNESS_REPORTS_HISTORY_FAMILY_MEMBERS_H_
#define RHARNESS_REPORTS_HISTORY_FAMILY_MEMBERS_H_

#include <optional>
#include <vector>

#include "harness/base/json_members.h"
#include "reports/history_report.h"
#include "reports/history_run_members.h"
#include "reports/history_summary.h"
#include "reports/json_nouns.h"

namespace rharness {

using FamilyVerdicts = std::vector<std::optional<Verdict>>;

void VerdictMembers(MemberWriter& io, const FamilyVerdicts& verdicts);
void VerdictMembers(MemberSchema& io, const FamilyVerdicts& verdicts);

template <class Io, Is<FamilyRun> T>
void Members(Io& io, T& one) {
  io.Object("run", one.run);
  io.Object("last_good", PlaceOf(one.last_good), "One verdict of one drill; null: none.");
  io.Object("first_bad", PlaceOf(one.first_bad), "One verdict of one drill; null: none.");
  io.Object("steadiness", SteadinessOf(one.verdicts, one.changes), "Over the drills listed.");
  VerdictMembers(io, one.verdicts);
  io.ListOrNull(one.known, "layers", one.layers,
                "The five layers; null: the history does not hold where both ran.");
}

template <class Io, Is<FamilyDrill> T>
void Members(Io& io, T& drill) {
  io.Must("drill_id", drill.drill_id);
  io.Time("started", drill.started);
  io.Must("exit_code", drill.exit_code);
}

template <class Io, Is<FamilyTogether> T>
void Members(Io& io, T& one) {
  io.Must("name", one.name);
  io.Must("configuration", one.configuration);
  io.Object("last", one.last);
  io.MustList("said", one.said,
              "One element a drill; null: that drill said nothing of them together.");
}

template <class Io, Is<FamilyCause> T>
void Members(Io& io, T& cause) {
  io.Name("layer", cause.difference.layer, kLayerNames);
  io.Must("key", cause.difference.key);
  io.Must("before", cause.difference.recorded);
  io.Must("after", cause.difference.observed);
  io.Must("sentence", DifferenceWords(cause.difference));
  io.Must("broken_runs", cause.broken);
}

template <class Io, Is<FamilyHistory> T>
void Members(Io& io, T& history) {
  const FamilyOutlook outlook = Summarize(history);
  StartMembers(io, "family");
  io.Must("family", history.family);
  io.Must("answer", outlook.answer);
  io.Must("next_step", outlook.next_step);
  CountMembers(io, outlook.counts, "Verdicts by name; all seven are there.");
  io.Must("never_judged", outlook.never);
  io.Must("broken", outlook.broken, "Runs that are bad now and were good once.");
  io.Must("flaky", outlook.flaky);
  io.MustList("causes", outlook.causes,
              "What broken runs have in common between their last good and first bad drill; the "
              "most common first.");
  io.MustList("drills", history.drills, "The last ones that judged any of its runs, oldest first.");
  io.MustList(
      "together", history.together,
      About("What drills said of the runs of each configuration together; absent in older records.")
          .Optional());
  io.MustList("runs", history.runs);
  io.MustPlain("notes", history.notes);
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_HISTORY_FAMILY_MEMBERS_H_
