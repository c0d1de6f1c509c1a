// A game day as JSON: "rharness.gameday/v1".
#include "reports/gameday_report.h"
#include "reports/json_parts.h"

namespace rharness {

Json ToJson(const GamedayReport& report) {
  return Json::MakeObject({{"schema", "rharness.gameday/v1"},
                           {"exit_code", report.exit_code},
                           {"planned", report.planned},
                           {"interrupted", report.interrupted},
                           {"headline", report.headline},
                           {"next", report.next},
                           {"certified", report.certified},
                           {"reruns", report.reruns},
                           {"run_seconds", report.run_seconds},
                           {"sensitivity", ToJson(report.sensitivity)},
                           {"notes", PlainArray(report.notes)}});
}

}  // namespace rharness
