// Errors as obstacles.
#include "harness/execution/rerun/obstacle.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/trouble.h"

namespace rharness {

std::optional<Obstacle> Blocked(Layer layer, std::string reason) {
  return Obstacle{layer, std::move(reason)};
}

Result<std::optional<Obstacle>> BlockedBy(Layer layer, std::string_view what, const Error& error) {
  if (IsTrouble(error)) return error;
  return Blocked(layer, fmt::format("{}{}", what, error.ToString()));
}

}  // namespace rharness
