// Settings of a game day to JSON and back.
#include "harness/experiments/gameday/gameday_settings.h"

#include "harness/base/json_reader.h"

namespace rharness {

Json ToJson(const GamedaySettings& settings) {
  const GamedayOptions& gameday = settings.gameday;
  Json faults = Json::MakeArray();
  for (const std::string& fault : gameday.faults) faults.Append(fault);
  return Json::MakeObject({{"schema", "rharness.gameday_settings/v1"},
                           {"drill", ToJson(settings.drill)},
                           {"faults", std::move(faults)},
                           {"only_given", gameday.only_given},
                           {"trials", gameday.trials},
                           {"together", gameday.together},
                           {"beside", gameday.beside},
                           {"width", gameday.width}});
}

Result<GamedaySettings> ParseGamedaySettings(const Json& json, std::string_view file) {
  GamedaySettings settings;
  JsonReader reader(json, std::string(file));
  reader.ReadSchema("rharness.gameday_settings", 1);
  GamedayOptions& gameday = settings.gameday;
  reader.ReadArray("faults", &gameday.faults);
  reader.Read("only_given", &gameday.only_given);
  reader.Read("trials", &gameday.trials);
  reader.Read("together", &gameday.together);
  reader.Read("beside", &gameday.beside);
  reader.Read("width", &gameday.width);
  if (reader.ok() && (gameday.trials < 1 || gameday.together < 1 || gameday.beside < 0)) {
    reader.Fail("expected 1 or more", "trials");
  }
  RETURN_IF_ERROR(reader.status());
  const Json* drill = json.Find("drill");
  if (drill == nullptr) return InvalidInput("has no member drill", std::string(file));
  ASSIGN_OR_RETURN(settings.drill, ParseDrillSettings(*drill, file));
  return settings;
}

}  // namespace rharness
