// The inputs of a game day: the chosen runs, their families, and copies of data.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GAMEDAY_INPUTS_H_
#define RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GAMEDAY_INPUTS_H_

#include <map>
#include <string>
#include <vector>

#include "harness/drill/replicates.h"
#include "harness/experiments/gameday/gameday_settings.h"
#include "harness/experiments/gameday/grounds.h"
#include "harness/history/store.h"
#include "reports/sensitivity.h"

namespace rharness {

struct GamedayInputs {
  std::map<std::string, Manifest> manifests;             // the chosen runs
  std::map<std::string, std::vector<Manifest>> members;  // of their families, all
  std::vector<Ground> grounds;
  std::map<std::string, Replicates> replicates;  // of each configuration, as far as recorded
  // By run id and name of the fault: the substituted data.
  std::map<std::pair<std::string, std::string>, DataItem> data;
  std::map<std::string, SensitivityRate> stored;  // flips over stored drills, by configuration
};

// The chosen runs' settings. Errors: invalid_input (a selection without a match, an invalid fault),
// not_found, io.
Result<GamedaySettings> GatherGameday(const GamedayOptions& options, Clock* clock,
                                      HistoryStore* history);

// Errors: those of the history; invalid_input for an invalid fault.
Result<GamedayInputs> LoadGameday(const GamedaySettings& settings, HistoryStore* history);

// Writes the spoilt copies of data below planted/data of the folder. If a copy cannot be made,
// `inputs` has the fault's reason. Errors: io.
Status PlantData(const GamedaySettings& settings, GamedayInputs* inputs);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GAMEDAY_INPUTS_H_
