// A search as JSON: "rharness.isolation/v1".
#include "reports/isolation_report.h"

namespace rharness {
namespace {

Json TextList(const std::vector<std::string>& texts) {
  Json array = Json::MakeArray();
  for (const std::string& text : texts) array.Append(text);
  return array;
}

Json NumberList(const std::vector<int>& numbers) {
  Json array = Json::MakeArray();
  for (const int number : numbers) array.Append(number);
  return array;
}

Json AxisJson(const IsolationAxis& axis) {
  Json json = Json::MakeObject({{"name", axis.name},
                                {"layer", LayerName(axis.layer)},
                                {"recorded", axis.recorded},
                                {"drifted", axis.drifted},
                                {"positions", axis.last + 1}});
  if (!axis.cannot_be_set.empty()) json.Set("cannot_be_set", axis.cannot_be_set);
  if (!axis.cause.empty()) json.Set("cause", NumberList(axis.cause));
  if (axis.set_back) json.Set("set_back", true);
  return json;
}

Json TrialJson(const IsolationTrial& trial) {
  return Json::MakeObject({{"rerun", trial.number},
                           {"purpose", trial.purpose},
                           {"at", NumberList(trial.at)},
                           {"answer", trial.answer},
                           {"seen", trial.seen},
                           {"seconds", trial.seconds},
                           {"evidence", trial.evidence}});
}

}  // namespace

Json ToJson(const IsolationReport& report) {
  Json axes = Json::MakeArray();
  for (const IsolationAxis& axis : report.axes) axes.Append(AxisJson(axis));
  Json trials = Json::MakeArray();
  for (const IsolationTrial& trial : report.trials) trials.Append(TrialJson(trial));
  Json causes = Json::MakeArray();
  for (const auto& cause : report.causes) causes.Append(TextList(cause));
  return Json::MakeObject(
      {{"schema", "rharness.isolation/v1"},
       {"version", report.version},
       {"made", FormatTime(report.made)},
       {"run_id", report.run_id},
       {"exit_code", report.exit_code},
       {"end", report.end},
       {"headline", report.headline},
       {"next", report.next},
       {"difference", TextList(report.target)},
       {"causes", std::move(causes)},
       {"shown_by", TextList(report.shown_by)},
       {"mitigation", report.mitigation},
       {"mitigation_cost", report.mitigation_cost},
       {"other_failures", TextList(report.branches)},
       {"possible", TextList(report.possible)},
       {"exact", report.exact},
       {"wrong_rate", report.wrong},
       {"confidence", report.confidence},
       {"error_bound", report.error_bound},
       {"reruns", report.trials.size()},
       {"budget", report.budget},
       {"more_reruns", report.more_reruns},
       {"plan", Json::MakeObject({{"fewest", report.cost.fewest},
                                  {"mean", report.cost.mean},
                                  {"most", report.cost.most},
                                  {"most_of_two", report.cost.most_of_two},
                                  {"rerun_seconds", report.cost.rerun_seconds}})},
       {"axes", std::move(axes)},
       {"trials", std::move(trials)},
       {"notes", TextList(report.notes)},
       {"interrupted", report.interrupted}});
}

}  // namespace rharness
