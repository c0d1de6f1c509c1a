// The members of a drill's report.
//
// Role: private to reports/; each list writes, reads and describes.
#ifndef RHARNESS_REPORTS_REPORT_MEMBERS_H_
#define RHARNESS_REPORTS_REPORT_MEMBERS_H_

#include "harness/base/json_members.h"
#include "reports/comparison_parts.h"
#include "reports/json_nouns.h"
#include "reports/model.h"
#include "reports/names.h"
#include "reports/report_run_members.h"

namespace rharness {

template <class Io, Is<FamilyComparison> T>
void Members(Io& io, T& family) {
  io.Must("name", family.name, "Unique in the report.");
  io.May("family", family.family);
  io.May("configuration", family.configuration);
  io.Text("verdict", family.verdict, VerdictName, ParseVerdict);
  io.May("headline", family.headline);
  io.List("reasons", family.findings);
  io.Plain("runs", family.runs);
  io.Plain("apart", family.apart, "Runs that moved on their own.");
  io.PlainUnlessEmpty(
      "beyond", family.beyond,
      "Runs with a curve that rounding does not explain; absent where there is none.");
  io.List("metrics", family.metrics,
          "history and reruns have one value a seed, at the same place.");
  io.List("causes", family.causes,
          "Of one that drifted: what all runs that moved with it have in common, most suspicious "
          "first; absent in older reports.");
  io.May("more_runs", family.more_runs, Count());
}

template <class Io, Is<ReportSensitivity> T>
void Members(Io& io, T& sensitivity) {
  io.Must("family", sensitivity.family);
  io.Must("configuration", sensitivity.configuration);
  io.May("source", sensitivity.source, "Which game day, of when, and how it drilled.");
  io.Plain("sentences", sensitivity.sentences);
  io.May("stale", sensitivity.stale,
         "Why the certificate does not hold here; empty where it does.");
}

template <class Io, Is<SiblingGroup> T>
void Members(Io& io, T& group) {
  io.Must("name", group.name, "What they are runs of.");
  io.Must("curves", group.pairs, "Distinct curves that differ.");
  io.Must("up", group.up);
  io.Must("down", group.down);
  io.Must("middle", group.middle,
          About("Median share of the limit of accepted upgrades.").Finite());
  io.Must("middle_shift", group.middle_shift, About("Median shift, relative.").Finite());
  io.Must("room", group.room, About("How much wider than that limit theirs is.").Finite());
  io.May("note", group.note, "That they moved one way; empty where they did not.");
}

// All but the runs, which may be many.
template <class Io, Is<Report> T>
void MembersBesideRuns(Io& io, T& report) {
  io.Schema("rharness.report", kReportVersion);
  io.Must("exit_code", report.exit_code, About().Least(0).Most(5));
  CountMembers(io, report.counts, "Runs by verdict; all seven are there.");
  io.May("title", report.title);
  io.May("drill_id", report.drill_id);
  io.May("version", report.version);
  io.MayTime("started", report.started);
  io.MayTime("ended", report.ended);
  io.May("history", report.history);
  io.May("selection", report.selection);
  io.May("launcher", report.launcher);
  io.May("executor", report.executor);
  io.May("host", report.host);
  io.TimeOrNull("last_success", report.last_success,
                About("When the last drill of this history ended in which every run reproduced, "
                      "this one included; null: not known.")
                    .Optional());
  io.May("interrupted", report.interrupted);
  io.Plain("left_out", report.left_out, "Selected runs that the budget or the slots left out.");
  io.Plain("notes", report.notes);
  io.List("families", report.families,
          "What runs that differ in their seeds alone come to together; absent in older reports.");
  io.List("siblings", report.siblings,
          "Runs that one change moved, their training losses judged together; absent in older "
          "reports.");
  io.List("sensitivity", report.sensitivity,
          "What certificates of game days say of configurations; absent in older reports.");
}

template <class Io, Is<Report> T>
void Members(Io& io, T& report) {
  MembersBesideRuns(io, report);
  io.MustList("runs", report.runs);
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_REPORT_MEMBERS_H_
