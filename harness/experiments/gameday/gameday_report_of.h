// The results of a game day, in numbers and sentences. Pure.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GAMEDAY_REPORT_OF_H_
#define RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GAMEDAY_REPORT_OF_H_

#include <string>
#include <vector>

#include "harness/experiments/gameday/gameday_settings.h"
#include "harness/experiments/gameday/grounds.h"
#include "reports/gameday_report.h"

namespace rharness {

struct GamedayDone {
  const GamedaySettings& settings;
  std::vector<SensitivityFamily> families;
  std::vector<std::string> notes;
  std::string host;
  WallTime made;
  int reruns = 0;
  double run_seconds = 0.0;
  int left_out = 0;  // reruns beyond the budget
  bool interrupted = false;
};
GamedayReport BuildGamedayReport(GamedayDone done);

// A plan as a report: the faults and their places.
GamedayReport BuildGamedayPlan(const GamedaySettings& settings, const std::vector<Ground>& grounds,
                               const GamedayPlan& plan);

// The rates that a drill may quote: those with enough trials. Without families if there are none.
Sensitivity CertificateOf(const GamedayReport& report);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GAMEDAY_REPORT_OF_H_
