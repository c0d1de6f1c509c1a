// Results of properties that need no recorded result: "rharness.properties/v1".
//
// Role: a noun with every number and sentence in it; harness/experiments/properties fills it, a
// Document of it has every format.
#ifndef RHARNESS_REPORTS_PROPERTIES_REPORT_H_
#define RHARNESS_REPORTS_PROPERTIES_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/verdict/states.h"
#include "reports/document.h"

namespace rharness {

// Why, in one thing that two legs left.
struct PropertyReason {
  std::string subject;           // "metric loss", "curve loss", "weights out/model.safetensors"
  std::string message;           // one sentence with both values
  double distance = 0.0;         // the largest: in the metric's unit, of tensors relative (L2)
  std::optional<double> margin;  // as stated; empty: every bit was claimed
};

struct PropertyResult {
  std::string run_id;
  std::string family;
  std::string name;   // "resumed@4", "processes:two"
  std::string claim;  // one sentence: what must be equal, and within which distance
  PropertyState state = PropertyState::kNotJudged;
  bool could_not = false;   // of kNotJudged: a leg failed, or could not be run
  std::string headline;     // one sentence: the state and why
  std::uint64_t items = 0;  // answers that were compared one by one; 0: whole outputs were
  std::vector<PropertyReason> reasons;
  std::vector<std::string> notes;
  std::vector<std::string> legs;  // "runs/digits/3: gone on after step 4", below the folder
  // The last drill of the history that judged it; empty: none.
  std::optional<PropertyState> last_state;
  std::string last_drill;
  WallTime last_time{};
  bool newly_lost = false;  // it held then
};

struct PropertiesReport {
  std::string drill_id;
  WallTime made{};
  std::string version;
  std::string host;
  bool planned = false;      // nothing was run
  std::string headline;      // one sentence
  std::string next;          // what to do now
  int legs = 0;              // planned, or carried out
  double run_seconds = 0.0;  // as recorded, summed over these
  std::vector<PropertyResult> results;
  std::vector<std::string> notes;
  bool interrupted = false;
  int exit_code = 3;
};

Json ToJson(const PropertiesReport& report);
Document DocumentOf(const PropertiesReport& report);  // one case of JUnit per property

}  // namespace rharness

#endif  // RHARNESS_REPORTS_PROPERTIES_REPORT_H_
