// A game day: plants faults of known size into copies of recorded runs, and measures how often a
// drill would find them, and how often it raises a false alarm.
//
//   grounds -> plan -> rerun (as recorded, with faults) -> plant in what is kept -> judge -> rates
//
// A game day owns one folder, as a drill does: journal, runs/RUN/N/ with the evidence of rerun N,
// planted/ with spoilt copies of data, and gameday.json, gameday.html and certificate.json. For
// each run, reruns 1 and 2 are as recorded; fault k has 2k + 3 and, if a drill would confirm, 2k +
// 4. It writes nothing to the history, and changes only its own files.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GAMEDAY_H_
#define RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GAMEDAY_H_

#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/drill/drill.h"
#include "reports/gameday_report.h"

namespace rharness {

struct GamedayOptions {
  DrillOptions drill;               // history, selection, places, limits, dispatch, folder
  std::vector<std::string> faults;  // as in ParseFaults
  bool only_given = false;          // none but these
  int trials = 60;                  // largest number of runs per configuration
  int together = 1;                 // runs judged as one drill, all with the fault
  int beside = 0;                   // further runs of such a drill, without it
  double width = 0.3;               // largest width of a reported interval
};

inline constexpr double kGamedayConfidence = 0.95;
inline constexpr char kCertificateFile[] = "certificate.json";

// The planned faults and their cost. Touches no folder. Errors: those of HoldGameday.
Result<GamedayReport> PlanGameday(const GamedayOptions& options, Clock* clock);

// Errors: invalid_input (invalid faults, nothing to resume, a folder in use), not_found, io,
// integrity. Failures of runs are in the report.
Result<GamedayReport> HoldGameday(const GamedayOptions& options, const DrillHooks& hooks,
                                  Clock* clock);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GAMEDAY_H_
