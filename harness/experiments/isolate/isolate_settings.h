// The settings of a search in its journal: "rharness.isolate/v1".
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_ISOLATE_SETTINGS_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_ISOLATE_SETTINGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/drill/settings.h"
#include "harness/experiments/isolate/axes.h"
#include "harness/experiments/isolate/search.h"
#include "harness/experiments/isolate/signature.h"

namespace rharness {

// An axis that this machine cannot set, found before the search.
struct HeldAxis {
  std::string name;
  std::string why;
  bool drifted = false;  // it stays as drifted, else as recorded
};

struct IsolateSettings {
  DrillSettings drill;  // its id and start, and the options of reruns
  Manifest recorded;
  std::vector<Manifest> family;       // the recorded runs that its metrics are compared with
  std::optional<Manifest> drifted;    // the other side, if given
  std::optional<Signature> expected;  // its observed signature, if evidence was given
  std::vector<std::string> axes;      // as asked for
  std::vector<std::string> chain;     // commits of the axis that has some, from behind the recorded
  std::vector<HeldAxis> held;
  std::map<std::string, std::uint64_t> sizes;  // of requested data, by SHA-256
  std::vector<std::string> notes;
  SearchRules rules;
  int end_reruns = 3;
  bool bits = false;
};

Json ToJson(const IsolateSettings& settings);
Result<IsolateSettings> ParseIsolateSettings(const Json& json, std::string_view file);

// All axes of these settings: those between the two sides, then the requested ones. Errors: those
// of AddGivenAxis.
Result<std::vector<Axis>> AxesOf(const IsolateSettings& settings,
                                 const ParseImageText& parse_image);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_ISOLATE_SETTINGS_H_
