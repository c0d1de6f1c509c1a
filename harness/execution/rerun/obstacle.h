// Why a run cannot be rerun here as it was.
//
// Role: a fault of the run, its code, data or environment is an obstacle and ends in a verdict; a
// fault of this machine is an Error and is retried.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_OBSTACLE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_OBSTACLE_H_

#include <optional>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/verdict/facts.h"

namespace rharness {

struct Obstacle {
  std::optional<Layer> layer;  // empty: infrastructure
  std::string reason;          // one sentence
};

std::optional<Obstacle> Blocked(Layer layer, std::string reason);

// Turns an error into an obstacle of the run, with `what` before it, unless it is the machine's
// trouble (trouble.h) and says nothing about the run.
Result<std::optional<Obstacle>> BlockedBy(Layer layer, std::string_view what, const Error& error);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_OBSTACLE_H_
