// Properties as JSON: "rharness.properties/v1".
#include "reports/json_parts.h"
#include "reports/properties_report.h"

namespace rharness {
namespace {

Json ReasonToJson(const PropertyReason& reason) {
  Json json = Json::MakeObject(
      {{"subject", reason.subject}, {"message", reason.message}, {"distance", reason.distance}});
  if (reason.margin) json.AppendMember("margin", *reason.margin);
  return json;
}

Json ResultToJson(const PropertyResult& result) {
  Json reasons = Json::MakeArray();
  for (const PropertyReason& reason : result.reasons) reasons.Append(ReasonToJson(reason));
  Json json = Json::MakeObject({{"run_id", result.run_id},
                                {"family", result.family},
                                {"name", result.name},
                                {"claim", result.claim},
                                {"state", std::string(PropertyStateName(result.state))},
                                {"could_not", result.could_not},
                                {"headline", result.headline},
                                {"reasons", std::move(reasons)},
                                {"notes", PlainArray(result.notes)},
                                {"legs", PlainArray(result.legs)},
                                {"newly_lost", result.newly_lost}});
  if (result.last_state) {
    json.AppendMember("before", Json::MakeObject({{"state", PropertyStateName(*result.last_state)},
                                                  {"drill_id", result.last_drill},
                                                  {"decided", FormatTime(result.last_time)}}));
  }
  return json;
}

}  // namespace

Json ToJson(const PropertiesReport& report) {
  Json results = Json::MakeArray();
  for (const PropertyResult& result : report.results) results.Append(ResultToJson(result));
  return Json::MakeObject({{"schema", "rharness.properties/v1"},
                           {"drill_id", report.drill_id},
                           {"made", FormatTime(report.made)},
                           {"version", report.version},
                           {"host", report.host},
                           {"exit_code", report.exit_code},
                           {"planned", report.planned},
                           {"interrupted", report.interrupted},
                           {"headline", report.headline},
                           {"next", report.next},
                           {"legs", report.legs},
                           {"run_seconds", report.run_seconds},
                           {"results", std::move(results)},
                           {"notes", PlainArray(report.notes)}});
}

}  // namespace rharness
