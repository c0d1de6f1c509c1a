// Trends as JSON, "rharness.trends/v1", and their schema.
#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"
#include "reports/schemas.h"
#include "reports/trends_report.h"

namespace rharness {

template <class Io>
void RateMembers(Io& io, const TrendCounts& counts) {
  const bool known = counts.rate.has_value();
  io.Must("good", counts.good, Count("identical or equivalent"));
  io.Must("bad", counts.bad, Count("drifted or failed"));
  io.Must("open", counts.open, Count("inconclusive or not comparable"));
  io.Must("rate", counts.rate, "good / (good + bad)");
  io.OrNull(known, "low", counts.low, "Wilson's interval at 95 %.");
  io.OrNull(known, "high", counts.high);
}

template <class Io, Is<TrendWeek> T>
void Members(Io& io, T& week) {
  io.Time("start", week.start, "A Monday, 00:00 UTC.");
  RateMembers(io, week.counts);
}

template <class Io, Is<TrendCoincidence> T>
void Members(Io& io, T& one) {
  io.Must("what", one.what, About().OneOf("image driver gpu cpu system packages node"));
  io.Must("before", one.before);
  io.Must("after", one.after);
  io.Must("before_runs", one.before_runs,
          Count("With the new value, of before_all judged before."));
  io.Must("before_all", one.before_all, Count());
  io.Must("after_runs", one.after_runs, Count());
  io.Must("after_all", one.after_all, Count());
  io.Must("detail", one.detail, "Packages: which; may be empty.");
}

template <class Io, Is<TrendChange> T>
void Members(Io& io, T& change) {
  io.Time("week", change.week, "The first of the new rate.");
  io.Time("earliest", change.earliest, "It may have begun in any week from here.");
  io.Time("latest", change.latest);
  io.Must("before", change.before);
  io.Must("after", change.after);
  io.Must("p", change.p,
          "Corrected for the weeks that were tried. Each run of each week is taken for a trial of "
          "its own: where the same runs are judged week after week it is far too small.");
  io.MustList("coincidences", change.coincidences,
              "What changed with it for most runs; never said to be its cause.");
  io.Must("words", change.words);
}

template <class Io, Is<TrendSeries> T>
void Members(Io& io, T& series) {
  io.Must("by", series.by, About().OneOf("all family image driver gpu"));
  io.Must("value", series.value, "Empty: of all.");
  RateMembers(io, series.counts);
  io.MustList("weeks", series.weeks, "Those in which a run was judged; each run once a week.");
  io.MustList("changes", series.changes, "Of families.");
}

template <class Io, Is<TrendSurvivalStep> T>
void Members(Io& io, T& step) {
  io.Must("days", step.days, "Since the first verdict by which the run reproduced.");
  io.Must("at_risk", step.at_risk, Count());
  io.Must("ended", step.ended, Count());
  io.Must("share", step.share);
  io.Must("low", step.low, "95 %, log-log; null where the share is 0.");
  io.Must("high", step.high);
}

template <class Io, Is<TrendSurvival> T>
void Members(Io& io, T& survival) {
  io.Must("family", survival.family, "Empty: all.");
  io.Must("runs", survival.runs,
          Count("That were seen to reproduce; followed from that verdict on."));
  io.Must("ended", survival.ended, Count("Did not reproduce any more, up to now."));
  io.Must("never_seen", survival.never_seen,
          Count("Besides: runs that did not reproduce when they were judged first, nor since. They "
                "are not in the curve: when they ceased to nobody saw."));
  io.Must("oldest_days", survival.oldest_days,
          "That a run was followed; nothing is known of later.");
  io.Must("median_days", survival.median_days, "null: not reached.");
  io.MustList("steps", survival.steps);
}

template <class Io, Is<TrendOnly> T>
void Members(Io& io, T& only) {
  io.Must("by", only.by, About().OneOf("image driver gpu node"));
  io.Must("value", only.value);
  io.Must("runs", only.runs, Count());
  io.MustPlain("families", only.families, "The first few.");
}

template <class Io, Is<LastChanceRun> T>
void Members(Io& io, T& run) {
  io.Must("run_id", run.run_id);
  io.Must("family", run.family);
  io.Must("shown", run.shown);
  io.Must("words", run.words);
}

template <class Io, Is<LastChance> T>
void Members(Io& io, T& chance) {
  io.MustPlain("gone", chance.gone);
  io.MustPlain("nowhere", chance.nowhere,
               "Of these, what no run is known to have had, with what is near.");
  io.Must("runs", chance.runs, Count("Not retired."));
  io.Must("lost", chance.lost, Count("Shown to reproduce with what goes alone."));
  io.Must("unproven", chance.unproven,
          Count("Not shown to reproduce, and recorded with what goes."));
  io.Must("elsewhere", chance.elsewhere, Count("Not shown to reproduce, and recorded without it."));
  io.Must("kept", chance.kept, Count("Shown to reproduce without it."));
  io.Must("unknown", chance.unknown, Count());
  io.MustList("list", chance.list, "Lost ones first; a thousand at most.");
}

template <class Io, Is<TrendsReport> T>
void Members(Io& io, T& report) {
  io.Schema("rharness.trends", 1);
  io.Time("at", report.at);
  io.Must("version", report.version);
  io.Must("history", report.history);
  io.Must("exit_code", report.exit_code,
          About("1 runs would be lost of what goes; else 0.").OneOf("0 1"));
  io.Must("headline", report.headline);
  io.Must("next", report.next);
  io.Must("weeks", report.weeks, About("Looked back.").Least(1));
  io.Must("alpha", report.alpha, "Of a change of any family where none changed.");
  io.Must("verdicts", report.verdicts, Count());
  io.MustList("series", report.series,
              "All, then families, images, drivers and GPUs; those that changed first.");
  io.MustList("survival", report.survival, "All, then families.");
  io.MustList("only", report.only,
              "Runs that were shown to reproduce with one alone; most runs first.");
  io.Object("last_chance", report.last_chance, "With --if-gone; else null.");
  io.MustPlain("notes", report.notes);
}

Json TrendsSchema() {
  return SchemaOf<TrendsReport>({.id = "rharness.trends/v1",
                                 .title = "How reproducibility went over time",
                                 .description = "Written by rharness history trends with --json.",
                                 .closed = true,
                                 .finite = true});
}

Json ToJson(const TrendsReport& report) { return MemberWriter::Written(report); }

}  // namespace rharness
