// The states in which parts, properties, probes and metrics are kept, and their words.
//
// Role: beside verdict.h. An enumeration is text in JSON and SQL alone.
#ifndef RHARNESS_HARNESS_VERDICT_STATES_H_
#define RHARNESS_HARNESS_VERDICT_STATES_H_

#include <array>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

// Whether something that a rerun needs is available. From the best to the worst.
enum class PartState { kHad, kUnknown, kGone };
inline constexpr std::array<PartState, 3> kPartStates = {PartState::kHad, PartState::kUnknown,
                                                         PartState::kGone};
std::string_view PartStateName(PartState state);  // "had", "unknown", "gone"

// Of an invariant of a run.
enum class PropertyState {
  kHeld,        // every bit
  kHeldWithin,  // within the stated distance
  kLost,
  kNotJudged,  // a leg failed, or unchanged repeats differ too much
};
inline constexpr std::array<PropertyState, 4> kPropertyStates = {
    PropertyState::kHeld, PropertyState::kHeldWithin, PropertyState::kLost,
    PropertyState::kNotJudged};
// "held", "held_within", "lost", "not_judged"
std::string_view PropertyStateName(PropertyState state);
inline bool IsHeld(PropertyState state) {
  return state == PropertyState::kHeld || state == PropertyState::kHeldWithin;
}

// Of a probe on one stack.
enum class ProbeStatus {
  kOk,
  kAbsent,    // the library or device is missing: no answer
  kFailed,    // it is present and did not work: an error, a wrong answer
  kCrashed,   // the child died by a signal (set by the runner)
  kTimedOut,  // the child outlived its limit (set by the runner)
};
inline constexpr std::array<ProbeStatus, 5> kProbeStatuses = {
    ProbeStatus::kOk, ProbeStatus::kAbsent, ProbeStatus::kFailed, ProbeStatus::kCrashed,
    ProbeStatus::kTimedOut};
std::string_view ProbeStatusName(ProbeStatus status);  // "ok", "absent", ..., "timed_out"

// Which values of a metric are better.
enum class MetricDirection { kNotStated, kHigher, kLower, kNone };
inline constexpr std::array<MetricDirection, 4> kDirections = {
    MetricDirection::kNotStated, MetricDirection::kHigher, MetricDirection::kLower,
    MetricDirection::kNone};
std::string_view MetricDirectionName(MetricDirection direction);  // "", "higher", "lower", "none"
// One of two values is the better one.
inline bool IsRanked(MetricDirection direction) {
  return direction == MetricDirection::kHigher || direction == MetricDirection::kLower;
}

// Errors of all: invalid_input, with the known words.
Result<PartState> ParsePartState(std::string_view word);
Result<PropertyState> ParsePropertyState(std::string_view word);
Result<ProbeStatus> ParseProbeStatus(std::string_view word);
Result<MetricDirection> ParseMetricDirection(std::string_view word);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_VERDICT_STATES_H_
