// The hours of a day in which no rerun is started.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_QUIET_HOURS_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_QUIET_HOURS_H_

#include <chrono>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"

namespace rharness {

// From `begin` until before `end`, both since midnight; across midnight if `end` is the earlier.
struct QuietHours {
  std::chrono::minutes begin{0};
  std::chrono::minutes end{0};
};

// "08:00-18:00", "22:30-06:00"; 24:00 is the end of a day. Errors: invalid_input; also for two
// equal times, which could mean no hours or all of them.
Result<QuietHours> ParseQuietHours(std::string_view text);

// Whether this minute of a day lies in one of them.
bool IsQuiet(const std::vector<QuietHours>& quiet, std::chrono::minutes since_midnight);

// The local minute of the day, by the time zone of TZ or the system.
std::chrono::minutes LocalMinute(WallTime now);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_QUIET_HOURS_H_
