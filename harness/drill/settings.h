// A drill's settings as kept in its journal, so that a resumed drill is the same drill.
#ifndef RHARNESS_HARNESS_DRILL_SETTINGS_H_
#define RHARNESS_HARNESS_DRILL_SETTINGS_H_

#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/drill/drill.h"

namespace rharness {

// What is fixed when a drill starts.
struct DrillSettings {
  std::string drill_id;
  WallTime started{};
  std::vector<std::string> run_ids;    // selected, in the history's order
  std::vector<std::string> elsewhere;  // selected, and left to other drills: sentences for people
  std::vector<RunRisk> risks;          // of these runs, if ordered by risk
  DrillOptions options;                // all but resume
};

Json ToJson(const DrillSettings& settings);  // "schema": "rharness.drill/v1"
Result<DrillSettings> ParseDrillSettings(const Json& json, std::string_view file);

// Errors: invalid_input, which names the first given option that differs from the one at the start
// of the drill.
Status RefuseOtherSettings(const DrillOptions& given, const DrillSettings& started);

// The options that a drill's settings keep: "--reruns", ...
std::vector<std::string> KeptOptions();

// Unique and sortable: "20261120T080300Z-1f2e3d4c".
std::string MakeDrillId(WallTime now);
// What ends the id of a drill of a gate's candidate, by the SHA-256 of its fingerprint; empty for
// none. An id is in every verdict and in the evidence, so that it shows what was drilled.
std::string OfCandidate(const std::string& sha256);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SETTINGS_H_
