// A candidate beside the stack in use: the same runs, rerun under both in one window of time.
//
// Role: pure. How runs end under the candidate is for the gate to judge; here stands what the stack
// in use says of it.
#ifndef RHARNESS_HARNESS_GATE_SHADOW_H_
#define RHARNESS_HARNESS_GATE_SHADOW_H_

#include <chrono>
#include <string>
#include <vector>

#include "harness/gate/gate.h"
#include "reports/gate_report.h"

namespace rharness {

// Two drills that began further apart are no pair: more than the stack may have changed.
inline constexpr std::chrono::hours kShadowWindow{24};

// It drifts or fails on the stack in use: what it does on the candidate is not the candidate's.
bool IsBrokenInUse(const GateInput& input, const std::string& run_id);

// What keeps the two drills from being a pair (shadow_alone, shadow_another_time, shadow_elsewhere,
// shadow_missing: each closes for want of evidence); else shadow_compared, which closes nothing.
// Empty without a drill of the stack in use.
std::vector<GateReason> JudgeShadow(const GateInput& input);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_GATE_SHADOW_H_
