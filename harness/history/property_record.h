// A row of the history's verdicts on properties.
#ifndef RHARNESS_HARNESS_HISTORY_PROPERTY_RECORD_H_
#define RHARNESS_HARNESS_HISTORY_PROPERTY_RECORD_H_

#include <cstdint>
#include <string>

#include "harness/base/clock.h"
#include "harness/verdict/states.h"

namespace rharness {

// The property of a run that was rerun to test whether a rollback to it is possible.
inline constexpr char kRollbackProperty[] = "rollback";

// One drill's verdict on one property of one run.
struct PropertyRecord {
  std::string drill_id;
  std::string run_id;
  std::string property;  // "resumed@4", "processes:two", kRollbackProperty
  PropertyState state = PropertyState::kNotJudged;
  WallTime decided{};
  std::string reason;         // one sentence
  std::int64_t sequence = 0;  // read only: in order of entry
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_PROPERTY_RECORD_H_
