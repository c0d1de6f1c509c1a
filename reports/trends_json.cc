// Trends as JSON: "rharness.trends/v1".
#include "reports/json_parts.h"
#include "reports/trends_report.h"

namespace rharness {
namespace {

Json TextsOf(const std::vector<std::string>& texts) {
  Json array = Json::MakeArray();
  for (const std::string& text : texts) array.Append(text);
  return array;
}

template <class T, class F>
Json ListOf(const std::vector<T>& all, F make) {
  Json array = Json::MakeArray();
  for (const T& one : all) array.Append(make(one));
  return array;
}

void AddCounts(const TrendCounts& counts, Json* json) {
  json->Set("good", counts.good);
  json->Set("bad", counts.bad);
  json->Set("open", counts.open);
  json->Set("rate", counts.rate);
  json->Set("low", counts.rate ? Json(counts.low) : Json());
  json->Set("high", counts.rate ? Json(counts.high) : Json());
}

Json WeekJson(const TrendWeek& week) {
  Json json = Json::MakeObject({{"start", FormatTime(week.start)}});
  AddCounts(week.counts, &json);
  return json;
}

Json CoincidenceJson(const TrendCoincidence& one) {
  return Json::MakeObject({{"what", one.what},
                           {"before", one.before},
                           {"after", one.after},
                           {"before_runs", one.before_runs},
                           {"before_all", one.before_all},
                           {"after_runs", one.after_runs},
                           {"after_all", one.after_all},
                           {"detail", one.detail}});
}

Json ChangeJson(const TrendChange& change) {
  return Json::MakeObject({{"week", FormatTime(change.week)},
                           {"earliest", FormatTime(change.earliest)},
                           {"latest", FormatTime(change.latest)},
                           {"before", change.before},
                           {"after", change.after},
                           {"p", change.p},
                           {"coincidences", ListOf(change.coincidences, CoincidenceJson)},
                           {"words", change.words}});
}

Json SeriesJson(const TrendSeries& series) {
  Json json = Json::MakeObject({{"by", series.by}, {"value", series.value}});
  AddCounts(series.counts, &json);
  json.Set("weeks", ListOf(series.weeks, WeekJson));
  json.Set("changes", ListOf(series.changes, ChangeJson));
  return json;
}

Json StepJson(const TrendSurvivalStep& step) {
  return Json::MakeObject({{"days", step.days},
                           {"at_risk", step.at_risk},
                           {"ended", step.ended},
                           {"share", step.share},
                           {"low", step.low},
                           {"high", step.high}});
}

Json SurvivalJson(const TrendSurvival& survival) {
  return Json::MakeObject({{"family", survival.family},
                           {"runs", survival.runs},
                           {"ended", survival.ended},
                           {"never_seen", survival.never_seen},
                           {"oldest_days", survival.oldest_days},
                           {"median_days", survival.median_days},
                           {"steps", ListOf(survival.steps, StepJson)}});
}

Json OnlyJson(const TrendOnly& only) {
  return Json::MakeObject({{"by", only.by},
                           {"value", only.value},
                           {"runs", only.runs},
                           {"families", TextsOf(only.families)}});
}

Json RunJson(const LastChanceRun& run) {
  return Json::MakeObject(
      {{"run_id", run.run_id}, {"family", run.family}, {"shown", run.shown}, {"words", run.words}});
}

Json ChanceJson(const LastChance& chance) {
  return Json::MakeObject({{"gone", TextsOf(chance.gone)},
                           {"nowhere", TextsOf(chance.nowhere)},
                           {"runs", chance.runs},
                           {"lost", chance.lost},
                           {"unproven", chance.unproven},
                           {"elsewhere", chance.elsewhere},
                           {"kept", chance.kept},
                           {"unknown", chance.unknown},
                           {"list", ListOf(chance.list, RunJson)}});
}

}  // namespace

Json ToJson(const TrendsReport& report) {
  return Json::MakeObject(
      {{"schema", "rharness.trends/v1"},
       {"at", FormatTime(report.at)},
       {"version", report.version},
       {"history", report.history},
       {"exit_code", report.exit_code},
       {"headline", report.headline},
       {"next", report.next},
       {"weeks", report.weeks},
       {"alpha", report.alpha},
       {"verdicts", report.verdicts},
       {"series", ListOf(report.series, SeriesJson)},
       {"survival", ListOf(report.survival, SurvivalJson)},
       {"only", ListOf(report.only, OnlyJson)},
       {"last_chance", report.last_chance ? ChanceJson(*report.last_chance) : Json()},
       {"notes", TextsOf(report.notes)}});
}

}  // namespace rharness
