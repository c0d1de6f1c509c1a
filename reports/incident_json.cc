// "rharness.incident/v1" (incident.schema.json); keys in the order of the structs.
#include <fmt/format.h>

#include "reports/incident_report.h"
#include "reports/json_nouns.h"
#include "reports/json_parts.h"

namespace rharness {
namespace {

Json VerdictJson(const std::optional<Verdict>& verdict) {
  return verdict ? Json(VerdictName(*verdict)) : Json();
}

Json IncidentRunJson(const IncidentRun& run) {
  const StoredVerdict last = run.last.value_or(StoredVerdict());
  Json json;
  json.Set("run_id", run.run_id)
      .Set("declared", run.declared)
      .Set("started", FormatTime(run.started))
      .Set("verdict", run.last ? Json(VerdictName(last.verdict)) : Json())
      .Set("decided", run.last ? Json(FormatTime(last.decided)) : Json())
      .Set("drill_id", last.drill_id)
      .Set("reasons", PlainArray(ReasonTexts(last.reasons)));
  return json;
}

Json AnswerJson(const IncidentAnswer& answer) {
  Json json;
  json.Set("key", answer.key)
      .Set("question", answer.question)
      .Set("known", !answer.facts.empty())
      .Set("facts",
           ArrayOf(answer.facts,
                   [](const IncidentFact& fact) {
                     return Json::MakeObject({{"text", fact.text}, {"source", fact.source}});
                   }))
      .Set("not_known", answer.not_known);
  return json;
}

Json CandidateJson(const IncidentCandidate& one) {
  return Json::MakeObject({{"run_id", one.run_id},
                           {"started", FormatTime(one.started)},
                           {"verdict", one.verdict ? VerdictName(*one.verdict) : "never drilled"},
                           {"why_not", one.why_not}});
}

Json FileJson(const IncidentFile& file) {
  return Json::MakeObject({{"path", file.path},
                           {"role", file.role},
                           {"checkpoint", file.checkpoint},
                           {"state", file.state},
                           {"words", file.words}});
}

Json RollbackJson(const IncidentRollback& rollback) {
  Json json;
  json.Set("state", rollback.state)
      .Set("drill_id", rollback.drill_id)
      .Set("verdict", VerdictJson(rollback.verdict))
      .Set("headline", rollback.headline)
      .Set("reruns", rollback.reruns)
      .Set("rerun_seconds", rollback.rerun_seconds);
  return json;
}

Json ValueJson(const std::optional<std::string>& value) { return value ? Json(*value) : Json(); }

Json IncidentLayerJson(const LayerComparison& layer) {
  Json json;
  json.Set("layer", LayerName(layer.layer))
      .Set("state", LayerStateName(layer.state))
      .Set("compared", layer.compared)
      .Set("differences", ArrayOf(layer.differences,
                                  [](const FactDifference& one) {
                                    return Json::MakeObject({{"key", one.key},
                                                             {"good", ValueJson(one.recorded)},
                                                             {"run", ValueJson(one.observed)}});
                                  }))
      .Set("not_known", PlainArray(layer.not_known));
  return json;
}

Json CauseOfJson(const Cause& cause) {
  return Json::MakeObject({{"code", cause.code},
                           {"layer", LayerName(cause.layer)},
                           {"strength", StrengthName(cause.strength)},
                           {"statement", cause.statement},
                           {"confirm", cause.confirm}});
}

Json ComparisonOf(const IncidentReport& report) {
  Json json;
  json.Set("verdict", VerdictJson(report.compared))
      .Set("headline", report.compared_headline)
      .Set("causes", ArrayOf(report.causes, CauseOfJson))
      .Set("layers", ArrayOf(report.layers, IncidentLayerJson));
  return json;
}

}  // namespace

Json ToJson(const IncidentReport& report) {
  Json json;
  json.Set("schema", "rharness.incident/v1")
      .Set("version", report.version)
      .Set("made", FormatTime(report.made))
      .Set("history", report.history)
      .Set("family", report.family)
      .Set("exit_code", report.exit_code)
      .Set("headline", report.headline)
      .Set("next", report.next)
      .Set("planned", report.planned)
      .Set("interrupted", report.interrupted)
      .Set("run", IncidentRunJson(report.run))
      .Set("good", report.good ? IncidentRunJson(*report.good) : Json())
      .Set("answers", ArrayOf(report.answers, AnswerJson))
      .Set("candidates", ArrayOf(report.candidates, CandidateJson))
      .Set("candidates_left_out", std::uint64_t{report.candidates_left_out})
      .Set("files", ArrayOf(report.files, FileJson))
      .Set("signatures",
           ArrayOf(report.signatures,
                   [](const IncidentSignature& one) {
                     return Json::MakeObject(
                         {{"file", one.file}, {"state", one.state}, {"words", one.words}});
                   }))
      .Set("rollback", RollbackJson(report.rollback))
      .Set("comparison", report.good ? ComparisonOf(report) : Json())
      .Set("runbook",
           ArrayOf(report.pages,
                   [](const IncidentPage& page) {
                     return Json::MakeObject(
                         {{"code", page.code}, {"title", page.title}, {"met_in", page.met_in}});
                   }))
      .Set("bundle", ArrayOf(report.bundle,
                             [](const auto& file) {
                               return Json::MakeObject({{"file", file.first}, {"is", file.second}});
                             }))
      .Set("notes", PlainArray(report.notes));
  return json;
}

}  // namespace rharness
