// Times of a selection: a point in time, how long ago, or never.
//
// Role: private to select.cc. Pure.
#ifndef RHARNESS_HARNESS_DRILL_SELECT_TIME_H_
#define RHARNESS_HARNESS_DRILL_SELECT_TIME_H_

#include <chrono>
#include <optional>
#include <string_view>
#include <variant>

#include "harness/base/clock.h"

namespace rharness {

// Never, or a point in time, given as such or as the time that has passed since.
using When = std::variant<std::monostate, WallTime, std::chrono::milliseconds>;
// An age is the greater, the earlier its time.
inline bool IsAge(const When& when) {
  return std::holds_alternative<std::chrono::milliseconds>(when);
}

// Empty is never, which compares as before every time.
std::optional<WallTime> Resolve(const When& when, WallTime now);

// "30d" and its like; empty when it is none or beyond what a time can hold.
std::optional<std::chrono::milliseconds> ParseAgo(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SELECT_TIME_H_
