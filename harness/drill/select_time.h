// Times of a selection: a point in time, an age, or never.
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

// Never, or a point in time, given as such or as an age.
using When = std::variant<std::monostate, WallTime, std::chrono::milliseconds>;
// An age is the greater, the earlier its time.
inline bool IsAge(const When& when) {
  return std::holds_alternative<std::chrono::milliseconds>(when);
}

// Empty means never, which compares as before every time.
std::optional<WallTime> Resolve(const When& when, WallTime now);

// "30d" and the like; empty when invalid or beyond the range of a time.
std::optional<std::chrono::milliseconds> ParseAgo(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SELECT_TIME_H_
