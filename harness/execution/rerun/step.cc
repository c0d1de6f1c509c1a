// Names of the states of a rerun.
#include "harness/execution/rerun/step.h"

#include <array>

#include "harness/base/result.h"

namespace rharness {

std::string_view AttemptStateName(AttemptState state) {
  switch (state) {
    case AttemptState::kPrepared:
      return "prepared";
    case AttemptState::kStarted:
      return "started";
    case AttemptState::kEnded:
      return "ended";
    case AttemptState::kCollected:
      return "collected";
  }
  Abort("unknown AttemptState");
}

std::optional<AttemptState> FindAttemptState(std::string_view name) {
  constexpr std::array kStates = {AttemptState::kPrepared, AttemptState::kStarted,
                                  AttemptState::kEnded, AttemptState::kCollected};
  for (const AttemptState state : kStates) {
    if (AttemptStateName(state) == name) return state;
  }
  return std::nullopt;
}

}  // namespace rharness
