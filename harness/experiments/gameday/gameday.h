// A game day: faults of known size, planted into copies of recorded runs, and how often a drill
// would have found them; and how often it calls what nobody changed.
//
//   grounds -> plan -> rerun (as recorded, with faults) -> plant in what is kept -> judge -> rates
//
// A game day owns one folder, as a drill does: journal, runs/RUN/N/ with the evidence of rerun N,
// planted/ with spoilt copies of data, and gameday.json, gameday.html and certificate.json. Of each
// run, reruns 1 and 2 are as recorded; fault k has 2k + 3 and, where a drill would confirm, 2k + 4.
// Nothing is written to the history, and no file but its own is changed.
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
  std::vector<std::string> faults;  // as ParseFaults takes them
  bool only_given = false;          // none but these
  int trials = 60;                  // runs of a configuration, at most
  int together = 1;                 // runs that are judged as one drill, all with the fault
  int beside = 0;                   // further runs of such a drill, without it
  double width = 0.3;               // of an interval that is told, at most
};

inline constexpr double kGamedayConfidence = 0.95;
inline constexpr char kCertificateFile[] = "certificate.json";

// What would be planted where and what it would cost. Touches no folder. Errors: those of
// HoldGameday.
Result<GamedayReport> PlanGameday(const GamedayOptions& options, Clock* clock);

// Errors: invalid_input (faults that are none, nothing to resume, a folder that is in use),
// not_found, io, integrity. What befalls runs is in the report.
Result<GamedayReport> HoldGameday(const GamedayOptions& options, const DrillHooks& hooks,
                                  Clock* clock);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GAMEDAY_H_
