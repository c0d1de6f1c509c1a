// One line of a trace of calls, without making values of it.
//
// Role: private to this folder. Lines are read at the rate of the disk: a million of them are about
// 400 MB. What is equal has equal hashes, whatever the order of members.
#ifndef RHARNESS_COMPARE_TRACES_CALL_LINE_H_
#define RHARNESS_COMPARE_TRACES_CALL_LINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compare/traces/calls.h"

namespace rharness {

struct CallLine {
  enum class Kind { kCall, kEnd };
  Kind kind = Kind::kCall;
  std::int64_t step = 0;
  CallEntry entry;  // without its place
};

// "ranks 0-3 SUM" of "ranks 0-3 #5 SUM": each run numbers its own collectives, and a further one
// before moves the numbers.
std::string GroupWithoutNumber(std::string_view group);

// `line` as ReadJsonEvents (harness/base/json_events.h) takes it; it is overwritten. Nothing: no
// JSON object, or a call without a step, an operator or an order of 32 bits.
std::optional<CallLine> ScanCallLine(char* line);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TRACES_CALL_LINE_H_
