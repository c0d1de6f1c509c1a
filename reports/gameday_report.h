// The results of a game day: "rharness.gameday/v1".
//
// Role: a noun with every number and sentence in it; harness/experiments/gameday fills it, a
// Document of it has every format.
#ifndef RHARNESS_REPORTS_GAMEDAY_REPORT_H_
#define RHARNESS_REPORTS_GAMEDAY_REPORT_H_

#include <string>
#include <vector>

#include "harness/base/json.h"
#include "reports/document.h"
#include "reports/sensitivity.h"

namespace rharness {

struct GamedayReport {
  Sensitivity sensitivity;   // every rate, also those with too few trials
  bool planned = false;      // nothing was run
  std::string headline;      // one sentence
  std::string next;          // what to do now
  int reruns = 0;            // planned, or carried out
  double run_seconds = 0.0;  // as recorded, summed over these
  bool certified = false;    // certificate.json was written
  std::vector<std::string> notes;
  bool interrupted = false;
  int exit_code = 3;
};

Json ToJson(const GamedayReport& report);
Document DocumentOf(const GamedayReport& report);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_GAMEDAY_REPORT_H_
