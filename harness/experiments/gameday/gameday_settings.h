// The settings of a game day in its journal: "rharness.gameday_settings/v1".
#ifndef RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GAMEDAY_SETTINGS_H_
#define RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GAMEDAY_SETTINGS_H_

#include <string_view>

#include "harness/base/json.h"
#include "harness/drill/settings.h"
#include "harness/experiments/gameday/gameday.h"

namespace rharness {

struct GamedaySettings {
  DrillSettings drill;     // its id and start, the chosen runs, and the options of reruns
  GamedayOptions gameday;  // all but its `drill`
};

Json ToJson(const GamedaySettings& settings);
Result<GamedaySettings> ParseGamedaySettings(const Json& json, std::string_view file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GAMEDAY_SETTINGS_H_
