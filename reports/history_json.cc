// Histories as JSON, "rharness.history/v1": a list of runs, one run, one family.
#include <fmt/format.h>

#include <utility>

#include "reports/history_report.h"
#include "reports/history_summary.h"
#include "reports/json_nouns.h"
#include "reports/json_parts.h"

namespace rharness {
namespace {

Json Time(const std::optional<WallTime>& time) { return time ? Json(FormatTime(*time)) : Json(); }

Json Name(const std::optional<Verdict>& verdict) {
  return verdict ? Json(VerdictName(*verdict)) : Json();
}

Json Start(std::string_view kind) {
  Json json;
  json.Set("schema", fmt::format("rharness.history/v{}", kHistoryVersion)).Set("kind", kind);
  return json;
}

// Requester and approver; for an unsigned one only that fact, for a doubtful one the reason.
Json RetirementJson(const std::optional<RunRetirement>& by) {
  Json json;
  const bool doubtful = by && !by->doubt.empty();
  json.Set("signed", by.has_value() && !doubtful);
  if (doubtful) json.Set("doubt", by->doubt);
  if (!by || doubtful) return json;
  return json.Set("asked_by", by->asked_by)
      .Set("asked", FormatTime(by->asked))
      .Set("approved_by", by->approved_by)
      .Set("approved", FormatTime(by->approved))
      .Set("statement", by->statement_sha256);
}

Json RunJson(const HistoryRun& run) {
  Json json;
  json.Set("run_id", run.run_id)
      .Set("family", run.family)
      .Set("configuration", run.configuration)
      .Set("started", FormatTime(run.started))
      .Set("duration_seconds", run.duration_seconds)
      .Set("declared", run.declared)
      .Set("added", FormatTime(run.added))
      .Set("last_verdict", Name(run.last_verdict))
      .Set("verified", Time(run.verified))
      .Set("retired", run.retired);
  if (run.rebuild) json.Set("rebuild", PartStateName(*run.rebuild));
  if (run.retired) json.Set("retirement", RetirementJson(run.retirement));
  return json;
}

Json VerdictJson(const StoredVerdict& verdict) {
  Json json;
  json.Set("drill_id", verdict.drill_id)
      .Set("verdict", VerdictName(verdict.verdict))
      .Set("decided", FormatTime(verdict.decided))
      .Set("reruns", verdict.reruns)
      .Set("reasons", PlainArray(ReasonTexts(verdict.reasons)));
  return json;
}

Json PlaceJson(const StoredVerdict& verdict) {
  Json json;
  json.Set("drill_id", verdict.drill_id)
      .Set("verdict", VerdictName(verdict.verdict))
      .Set("decided", FormatTime(verdict.decided));
  return json;
}

Json SteadinessJson(const Steadiness& steadiness) {
  Json json;
  json.Set("flaky", steadiness.unexplained > 0)
      .Set("steps", steadiness.steps)
      .Set("changes", steadiness.changes)
      .Set("unexplained", steadiness.unexplained)
      .Set("not_known", steadiness.not_known);
  return json;
}

Json TogetherJson(const TogetherVerdict& verdict) {
  Json json;
  json.Set("drill_id", verdict.drill_id)
      .Set("verdict", VerdictName(verdict.verdict))
      .Set("decided", FormatTime(verdict.decided))
      .Set("runs", verdict.runs)
      .Set("reasons", PlainArray(ReasonTexts(verdict.reasons)));
  return json;
}

Json LayersJson(bool known, const std::array<LayerComparison, 5>& layers) {
  return known ? ArrayOf(layers, MemberWriter::Written<LayerComparison>) : Json();
}

}  // namespace

Json ToJson(const std::vector<HistoryRun>& runs, const std::vector<LastTogether>& together) {
  const auto family = [](const LastTogether& one) {
    Json json;
    json.Set("family", one.family).Set("name", one.name).Set("last", TogetherJson(one.last));
    return json;
  };
  return Start("runs")
      .Set("runs", ArrayOf(runs, RunJson))
      .Set("together", ArrayOf(together, family));
}

Json ToJson(const RunHistory& history) {
  const RunOutlook outlook = Summarize(history);
  const auto place = [&](const std::optional<std::size_t>& at) {
    return at ? PlaceJson(history.verdicts.at(*at)) : Json();
  };
  const auto change = [&](const VerdictChange& one) {
    Json json;
    json.Set("before", place(one.before))
        .Set("after", place(one.after))
        .Set("known", one.known)
        .Set("sentences", PlainArray(ChangeWords(one.known, one.layers)))
        .Set("layers", LayersJson(one.known, one.layers));
    return json;
  };
  Json json = Start("run");
  json.Set("run", RunJson(history.run))
      .Set("answer", outlook.answer)
      .Set("next_step", outlook.next_step)
      .Set("last_good", place(outlook.last_good))
      .Set("first_bad", place(outlook.first_bad))
      .Set("counts", CountsJson(outlook.counts))
      .Set("steadiness", SteadinessJson(outlook.steadiness))
      .Set("changes", ArrayOf(history.changes, change))
      .Set("verdicts", ArrayOf(history.verdicts, VerdictJson))
      .Set("notes", PlainArray(history.notes))
      .Set("manifest", history.manifest);
  return json;
}

Json ToJson(const FamilyHistory& history) {
  const FamilyOutlook outlook = Summarize(history);
  const auto place = [](const std::optional<StoredVerdict>& verdict) {
    return verdict ? PlaceJson(*verdict) : Json();
  };
  const auto run = [&](const FamilyRun& one) {
    Json json;
    json.Set("run", RunJson(one.run))
        .Set("last_good", place(one.last_good))
        .Set("first_bad", place(one.first_bad))
        .Set("steadiness", SteadinessJson(SteadinessOf(one.verdicts, one.changes)))
        .Set("verdicts", ArrayOf(one.verdicts, Name))
        .Set("layers", LayersJson(one.known, one.layers));
    return json;
  };
  const auto drill = [](const FamilyDrill& one) {
    Json json;
    json.Set("drill_id", one.drill_id)
        .Set("started", FormatTime(one.started))
        .Set("exit_code", one.exit_code);
    return json;
  };
  const auto together = [](const FamilyTogether& one) {
    const auto said = [](const std::optional<TogetherVerdict>& verdict) {
      return verdict ? TogetherJson(*verdict) : Json();
    };
    Json json;
    json.Set("name", one.name)
        .Set("configuration", one.configuration)
        .Set("last", TogetherJson(one.last))
        .Set("said", ArrayOf(one.said, said));
    return json;
  };
  const auto cause = [](const FamilyCause& one) {
    Json json;
    json.Set("layer", LayerName(one.difference.layer))
        .Set("key", one.difference.key)
        .Set("before", one.difference.recorded)
        .Set("after", one.difference.observed)
        .Set("sentence", DifferenceWords(one.difference))
        .Set("broken_runs", one.broken);
    return json;
  };
  Json json = Start("family");
  json.Set("family", history.family)
      .Set("answer", outlook.answer)
      .Set("next_step", outlook.next_step)
      .Set("counts", CountsJson(outlook.counts))
      .Set("never_judged", outlook.never)
      .Set("broken", outlook.broken)
      .Set("flaky", outlook.flaky)
      .Set("causes", ArrayOf(outlook.causes, cause))
      .Set("drills", ArrayOf(history.drills, drill))
      .Set("together", ArrayOf(history.together, together))
      .Set("runs", ArrayOf(history.runs, run))
      .Set("notes", PlainArray(history.notes));
  return json;
}

}  // namespace rharness
