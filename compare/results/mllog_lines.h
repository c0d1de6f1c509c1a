// The events of an MLPerf log: ":::MLLOG" lines among the other output of a program.
//
// Role: text to events, one at a time. Not here: what the events mean (mllog.h).
#ifndef RHARNESS_COMPARE_RESULTS_MLLOG_LINES_H_
#define RHARNESS_COMPARE_RESULTS_MLLOG_LINES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

struct MllogEvent {
  int line = 0;  // 1, 2, ...
  std::string key;
  const Json* value = nullptr;          // null when the event has none
  const Json* metadata = nullptr;       // an object or null
  std::optional<std::int64_t> time_ms;  // from "time_ms", or "time_s" if that is missing
};

// Calls take(event) for each line that holds ":::MLLOG ", and stops at its first error; ignores
// text before the token's last occurrence in a line, and every other line. NaN and Infinity, which
// JSON lacks and Python writes, arrive as the strings "nan", "inf" and "-inf".
// Errors (invalid_input, at "FILE: line N"): what follows the token is not one JSON object with a
// string "key"; more than 2^20 bytes in a line with the token; more than 2^20 such lines; invalid
// UTF-8 in one.
Status ForEachMllogEvent(std::string_view text, std::string_view file,
                         const std::function<Status(const MllogEvent&)>& take);

// "FILE: line N".
std::string MllogPlace(std::string_view file, int line);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_RESULTS_MLLOG_LINES_H_
