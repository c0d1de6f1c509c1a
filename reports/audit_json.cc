// The answer to an auditor as JSON.
#include <utility>

#include "reports/audit_report.h"
#include "reports/json_parts.h"

namespace rharness {
namespace {

Json AuditVerdictJson(const AuditVerdict& one) {
  return Json::MakeObject({{"decided", FormatTime(one.said.decided)},
                           {"verdict", VerdictName(one.said.verdict)},
                           {"drill_id", one.said.drill_id},
                           {"reruns", one.said.reruns},
                           {"reasons", PlainArray(ReasonTexts(one.said.reasons))},
                           {"where", one.where}});
}

Json AuditExceptionJson(const AuditException& one) {
  return Json::MakeObject({{"kind", one.kind},
                           {"about", one.about},
                           {"reason", one.reason},
                           {"signed_by", one.signed_by},
                           {"until", one.until},
                           {"holds", one.holds},
                           {"doubt", one.doubt}});
}

Json AuditStatementJson(const AuditStatement& one) {
  return Json::MakeObject({{"file", one.file},
                           {"says", one.says},
                           {"signed_by", one.signed_by},
                           {"refused", one.refused},
                           {"not_counted", one.not_counted}});
}

Json AuditEntryJson(const AuditEntryRow& one) {
  return Json::MakeObject({{"index", one.index},
                           {"kind", one.kind},
                           {"name", one.name},
                           {"sha256", one.sha256},
                           {"entered", one.entered ? Json(FormatTime(*one.entered)) : Json()},
                           {"state", AuditEntryStateName(one.state)},
                           {"signed", one.signed_over}});
}

template <class T>
Json AuditArray(const std::vector<T>& values, Json (*to_json)(const T&)) {
  Json array = Json::MakeArray();
  for (const T& value : values) array.Append(to_json(value));
  return array;
}

}  // namespace

std::string_view AuditEntryStateName(AuditEntryState state) {
  switch (state) {
    case AuditEntryState::kAsEntered:
      return "as_entered";
    case AuditEntryState::kChanged:
      return "changed";
    case AuditEntryState::kGone:
      return "gone";
    case AuditEntryState::kTwice:
      return "entered_twice";
    case AuditEntryState::kNotEntered:
      return "not_entered";
  }
  Abort("unknown AuditEntryState");
}

Json ToJson(const AuditReport& report) {
  Json made = Json::MakeArray();
  for (const AuditFact& fact : report.made) {
    made.Append(Json::MakeObject({{"name", fact.name}, {"value", fact.value}}));
  }
  return Json::MakeObject({{"schema", "rharness.audit_report/v1"},
                           {"at", FormatTime(report.at)},
                           {"version", report.version},
                           {"history", report.history},
                           {"log", report.log},
                           {"run_id", report.run_id},
                           {"family", report.family},
                           {"exit_code", report.exit_code},
                           {"headline", report.headline},
                           {"next", report.next},
                           {"notes", PlainArray(report.notes)},
                           {"made", std::move(made)},
                           {"verdicts", AuditArray(report.verdicts, AuditVerdictJson)},
                           {"policies", PlainArray(report.policies)},
                           {"exceptions", AuditArray(report.exceptions, AuditExceptionJson)},
                           {"statements", AuditArray(report.statements, AuditStatementJson)},
                           {"tree_size", report.tree_size},
                           {"root_sha256", report.root_sha256},
                           {"head", report.head},
                           {"entries", AuditArray(report.entries, AuditEntryJson)}});
}

}  // namespace rharness
