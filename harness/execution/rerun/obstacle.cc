// Errors as obstacles.
#include "harness/execution/rerun/obstacle.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/trouble.h"

namespace rharness {

std::optional<Obstacle> Blocked(std::string_view layer, std::string reason) {
  return Obstacle{std::string(layer), std::move(reason)};
}

Result<std::optional<Obstacle>> BlockedBy(std::string_view layer, std::string_view what,
                                          const Error& error) {
  if (IsTrouble(error)) return error;
  return Blocked(layer, fmt::format("{}{}", what, error.ToString()));
}

}  // namespace rharness
