// Objectives as JSON, "rharness.objectives/v1", and their schema.
#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"
#include "reports/names.h"
#include "reports/objectives_report.h"
#include "reports/schemas.h"

namespace rharness {
namespace {

const NameTable<ObjectiveState, 4> kObjectiveStateNames = NamesFrom<ObjectiveState, 4>(
    ObjectiveStateName, {ObjectiveState::kMet, ObjectiveState::kMissed, ObjectiveState::kBurning,
                         ObjectiveState::kUnknown});
const NameTable<Verdict, 2> kBrokenNames =
    NamesFrom<Verdict, 2>(VerdictName, {Verdict::kDrifted, Verdict::kFailed});

}  // namespace

template <class Io, Is<ObjectiveCheck> T>
void Members(Io& io, T& check) {
  io.Must("name", check.name, About().OneOf("reproducible inconclusive flaky stale"));
  io.Must("limit", check.limit, "A share; of stale, days.");
  io.Must("value", check.value, "In the same unit; null: unknown.");
  io.Name("state", check.state, kObjectiveStateNames);
  io.Must("words", check.words, "One sentence.");
}

template <class Io, Is<BudgetAlarm> T>
void Members(Io& io, T& alarm) {
  io.Must("name", alarm.name, About().OneOf("fast slow"));
  io.Must("long_hours", alarm.long_hours);
  io.Must("short_hours", alarm.short_hours);
  io.Must("threshold", alarm.threshold,
          "Burn rate above which both windows must be; 1 spends the budget in just its period.");
  io.Must("long_burn", alarm.long_burn);
  io.Must("short_burn", alarm.short_burn);
  io.Must("long_checks", alarm.long_checks,
          Count("Runs with a conclusive verdict in the long window."));
  io.Must("page", alarm.page, "Somebody is called when it fires; else a ticket.");
  io.Must("fires", alarm.fires);
}

template <class Io, Is<ShareIndicator> T>
void Members(Io& io, T& share) {
  io.Must("part", share.part, Count());
  io.Must("all", share.all, Count());
  io.OrNull(share.all > 0, "low", share.low, "Wilson's interval at 95 %; null: of none.");
  io.OrNull(share.all > 0, "high", share.high);
}

template <class Io, Is<FamilyObjectives> T>
void FirstMembers(Io& io, T& family) {
  io.Must("family", family.family);
  io.Must("owner", family.owner, "Empty: none is named.");
  io.Must("where", family.where, "File and line of its objective; empty: it has none.");
  io.Name("state", family.state(), kObjectiveStateNames,
          "The worst of its checks; met without any.");
  io.Must("period_days", family.period_days);
  io.Must("good", family.good,
          Count("Runs whose last verdict in the period is identical or equivalent."));
  io.Must("bad", family.bad, Count("drifted or failed"));
  io.Must("open", family.open, Count("inconclusive or not comparable"));
  io.Must("identical", family.identical, Count("Of the good ones."));
  io.Must("violations", family.violations, Count("Declared bitwise, and drifted."));
  io.Must("rate", family.rate, "good / (good + bad)");
  io.OrNull(family.rate.has_value(), "rate_low", family.rate_low, "Wilson's interval at 95 %.");
  io.OrNull(family.rate.has_value(), "rate_high", family.rate_high);
  io.OrNull(family.rate.has_value(), "worst_case", family.worst_case,
            "With what is open counted as bad.");
  io.Must("budget_left", family.budget_left,
          "Share of the bad runs that the objective allows; below 0: more than these.");
  io.Must("checked_twice", family.checked_twice,
          Count("Runs with two conclusive verdicts or more in the period."));
  io.Must("flipped", family.flipped, Count("Of these: some good, and some bad."));
  io.Object(
      "flakes", family.flakes,
      "Of runs with two conclusive verdicts or more in one environment: some good, and some bad.");
  io.Object("attested", family.attested, "Of good, bad and open: runs whose verdict was signed.");
  io.Must("runs", family.runs, Count("That are not retired."));
  io.Must("never", family.never, Count("Never compared: identical, equivalent or drifted."));
  io.Must("waiting", family.waiting, Count("Longer than the policy allows."));
  io.Must("oldest_days", family.oldest_days, "How long the run has waited that waits longest.");
  io.Must("had", family.had, Count("Of those that rharness check --available was asked about."));
  io.Must("gone", family.gone, Count());
  io.Must("reruns", family.reruns, Count("In the period, that came to be compared."));
  io.Must("mean_seconds", family.mean_seconds);
  io.Must("mean_ratio", family.mean_ratio, "Of a rerun's time to the recorded one.");
  io.Must("ratio_sd", family.ratio_sd, "Sample standard deviation.");
}

template <class Io, Is<FamilyObjectives> T>
void LastMembers(Io& io, T& family) {
  io.OrNull(family.ratio_sd.has_value(), "ratio_sd_low", family.ratio_sd_low,
            "Its interval at 95 %, by chi-squared.");
  io.OrNull(family.ratio_sd.has_value(), "ratio_sd_high", family.ratio_sd_high);
  io.Must("seconds_to_verdict", family.seconds_to_verdict, "Of reruns, for one verdict.");
  io.Must("weights", family.weights,
          Count("Runs with checkpoints that were compared, by their last verdict in the period."));
  io.Must("weights_equal", family.weights_equal, Count("Of these: equal to the bit."));
  io.Must("metrics", family.metrics, Count("Runs with a metric that has a margin."));
  io.Must("spread", family.spread,
          "Root of the mean square of their largest differences, in margins.");
  io.Must("looked_at", family.looked_at, Count("Runs that were rerun under observation."));
  io.Must("warned", family.warned,
          Count("Of these: an operator has no deterministic implementation."));
  io.Must("data", family.data, Count("Runs with data."));
  io.Must("data_had", family.data_had, Count("Of these: all could be had as recorded."));
  io.Must("records", family.records, Count("Runs whose record was looked at."));
  io.Must("records_whole", family.records_whole, Count("Of these: nothing is missing in it."));
  io.Must("rollbacks", family.rollbacks,
          Count("Runs that rharness incident reran in the period to see whether they can be gone "
                "back to, and that reproduced, drifted or failed."));
  io.Must("rollbacks_held", family.rollbacks_held, Count("Of these: reproduced."));
  io.Must("rollbacks_open", family.rollbacks_open, Count("Besides: of which nothing was shown."));
  io.Must("rollback_rate", family.rollback_rate,
          "rollbacks_held / rollbacks; null: there are none.");
  io.OrNull(family.rollback_rate.has_value(), "rollback_low", family.rollback_low,
            "Lower end of Wilson's interval at 95 %.");
  io.OrNull(family.rollback_rate.has_value(), "rollback_high", family.rollback_high, "Upper end.");
  io.MustList("checks", family.checks);
  io.MustList("alarms", family.alarms);
}

template <class Io, Is<FamilyObjectives> T>
void Members(Io& io, T& family) {
  FirstMembers(io, family);
  LastMembers(io, family);
}

template <class Io, Is<BrokenRun> T>
void Members(Io& io, T& run) {
  io.Must("run_id", run.run_id);
  io.Must("family", run.family);
  io.Must("owner", run.owner);
  io.Name("verdict", run.verdict, kBrokenNames);
}

template <class Io, Is<ObjectivesReport> T>
void Members(Io& io, T& report) {
  io.Schema("rharness.objectives", 1);
  io.Time("at", report.at);
  io.Must("version", report.version);
  io.Must("history", report.history);
  io.Must("policy", report.policy, "Its file; empty: none.");
  io.Must("exit_code", report.exit_code,
          About("0 all are met, or there are none; 1 one is missed or burns; 3 one is unknown.")
              .OneOf("0 1 3"));
  io.Must("headline", report.headline);
  io.Must("next", report.next);
  io.MustPlain("notes", report.notes, "Such as objectives that no family has.");
  io.MustList("families", report.families, "The worst first.");
  io.MustList("broken", report.broken,
              "Runs that do not reproduce any more, those judged last first; a hundred at most.");
}

Json ObjectivesSchema() {
  return SchemaOf<ObjectivesReport>({.id = "rharness.objectives/v1",
                                     .title = "What families keep of their objectives",
                                     .description = "Written by rharness slo with --json.",
                                     .closed = true,
                                     .finite = true});
}

Json ToJson(const ObjectivesReport& report) { return MemberWriter::Written(report); }

}  // namespace rharness
