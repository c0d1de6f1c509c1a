// The settings of a drill of properties in its journal: "rharness.properties_settings/v1".
#ifndef RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_PROPERTIES_SETTINGS_H_
#define RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_PROPERTIES_SETTINGS_H_

#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/drill/settings.h"
#include "harness/experiments/properties/properties.h"

namespace rharness {

struct PropertiesSettings {
  // Its options keep every workspace, so that checkpoints can be taken after the leg has ended.
  DrillSettings drill;
  bool keep_workspaces = false;  // what somebody asked for
  std::vector<Manifest> runs;    // each with its properties
  int repeats = 2;
};

Json ToJson(const PropertiesSettings& settings);
Result<PropertiesSettings> ParsePropertiesSettings(const Json& json, std::string_view file);

// Reads the runs and their declarations. Errors: as of DrillProperties.
Result<PropertiesSettings> GatherProperties(const PropertiesOptions& options, Clock* clock);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_PROPERTIES_SETTINGS_H_
