// Objectives as JSON: "rharness.objectives/v1".
#include "reports/json_parts.h"
#include "reports/objectives_report.h"

namespace rharness {
namespace {

Json ToJson(const ObjectiveCheck& check) {
  return Json::MakeObject({{"name", check.name},
                           {"limit", check.limit},
                           {"value", check.value},
                           {"state", std::string(ObjectiveStateName(check.state))},
                           {"words", check.words}});
}

Json ToJson(const BudgetAlarm& alarm) {
  return Json::MakeObject({{"name", alarm.name},
                           {"long_hours", alarm.long_hours},
                           {"short_hours", alarm.short_hours},
                           {"threshold", alarm.threshold},
                           {"long_burn", alarm.long_burn},
                           {"short_burn", alarm.short_burn},
                           {"long_checks", alarm.long_checks},
                           {"page", alarm.page},
                           {"fires", alarm.fires}});
}

Json ToJson(const ShareIndicator& share) {
  const bool known = share.all > 0;
  return Json::MakeObject({{"part", share.part},
                           {"all", share.all},
                           {"low", known ? Json(share.low) : Json()},
                           {"high", known ? Json(share.high) : Json()}});
}

Json ToJson(const FamilyObjectives& family) {
  Json json =
      Json::MakeObject({{"family", family.family},
                        {"owner", family.owner},
                        {"where", family.where},
                        {"state", std::string(ObjectiveStateName(family.state()))},
                        {"period_days", family.period_days},
                        {"good", family.good},
                        {"bad", family.bad},
                        {"open", family.open},
                        {"identical", family.identical},
                        {"violations", family.violations},
                        {"rate", family.rate},
                        {"rate_low", family.rate ? Json(family.rate_low) : Json()},
                        {"rate_high", family.rate ? Json(family.rate_high) : Json()},
                        {"worst_case", family.rate ? Json(family.worst_case) : Json()},
                        {"budget_left", family.budget_left},
                        {"checked_twice", family.checked_twice},
                        {"flipped", family.flipped},
                        {"flakes", ToJson(family.flakes)},
                        {"attested", ToJson(family.attested)},
                        {"runs", family.runs},
                        {"never", family.never},
                        {"waiting", family.waiting},
                        {"oldest_days", family.oldest_days},
                        {"had", family.had},
                        {"gone", family.gone},
                        {"reruns", family.reruns},
                        {"mean_seconds", family.mean_seconds},
                        {"mean_ratio", family.mean_ratio},
                        {"ratio_sd", family.ratio_sd},
                        {"ratio_sd_low", family.ratio_sd ? Json(family.ratio_sd_low) : Json()},
                        {"ratio_sd_high", family.ratio_sd ? Json(family.ratio_sd_high) : Json()},
                        {"seconds_to_verdict", family.seconds_to_verdict},
                        {"weights", family.weights},
                        {"weights_equal", family.weights_equal},
                        {"metrics", family.metrics},
                        {"spread", family.spread},
                        {"looked_at", family.looked_at},
                        {"warned", family.warned},
                        {"data", family.data},
                        {"data_had", family.data_had},
                        {"records", family.records},
                        {"records_whole", family.records_whole}});
  json.Set("rollbacks", family.rollbacks)
      .Set("rollbacks_held", family.rollbacks_held)
      .Set("rollbacks_open", family.rollbacks_open)
      .Set("rollback_rate", family.rollback_rate)
      .Set("rollback_low", family.rollback_rate ? Json(family.rollback_low) : Json())
      .Set("rollback_high", family.rollback_rate ? Json(family.rollback_high) : Json());
  Json checks = Json::MakeArray();
  for (const ObjectiveCheck& check : family.checks) checks.Append(ToJson(check));
  Json alarms = Json::MakeArray();
  for (const BudgetAlarm& alarm : family.alarms) alarms.Append(ToJson(alarm));
  json.Set("checks", std::move(checks));
  json.Set("alarms", std::move(alarms));
  return json;
}

}  // namespace

Json ToJson(const ObjectivesReport& report) {
  Json families = Json::MakeArray();
  for (const FamilyObjectives& family : report.families) families.Append(ToJson(family));
  Json broken = Json::MakeArray();
  for (const BrokenRun& run : report.broken) {
    broken.Append(Json::MakeObject({{"run_id", run.run_id},
                                    {"family", run.family},
                                    {"owner", run.owner},
                                    {"verdict", VerdictName(run.verdict)}}));
  }
  return Json::MakeObject({{"schema", "rharness.objectives/v1"},
                           {"at", FormatTime(report.at)},
                           {"version", report.version},
                           {"history", report.history},
                           {"policy", report.policy},
                           {"exit_code", report.exit_code},
                           {"headline", report.headline},
                           {"next", report.next},
                           {"notes", PlainArray(report.notes)},
                           {"families", std::move(families)},
                           {"broken", std::move(broken)}});
}

}  // namespace rharness
