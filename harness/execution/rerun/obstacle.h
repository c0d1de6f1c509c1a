// Why a run cannot be rerun here as it was.
//
// Role: what lies at the run, its code, data or environment, is an obstacle and ends in a verdict;
// what lies at this machine is an Error and is tried again.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_OBSTACLE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_OBSTACLE_H_

#include <optional>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

struct Obstacle {
  std::string layer;   // a layer's name, or empty: infrastructure
  std::string reason;  // one sentence
};

std::optional<Obstacle> Blocked(std::string_view layer, std::string reason);

// What an error makes of the run: an obstacle, with `what` before it, unless it is the machine's
// (trouble.h) and says nothing of the run.
Result<std::optional<Obstacle>> BlockedBy(std::string_view layer, std::string_view what,
                                          const Error& error);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_OBSTACLE_H_
