// A candidate beside the stack in use: the same runs, rerun under both in one window of time.
//
// Role: pure. The gate judges the runs under the candidate; this file judges them under the stack
// in use.
#ifndef RHARNESS_HARNESS_GATE_SHADOW_H_
#define RHARNESS_HARNESS_GATE_SHADOW_H_

#include <chrono>
#include <string>
#include <vector>

#include "harness/gate/gate.h"
#include "reports/gate_report.h"

namespace rharness {

// Drills that began further apart are no pair: more than the stack may have changed.
inline constexpr std::chrono::hours kShadowWindow{24};

// It drifts or fails on the stack in use: its result on the candidate is not the candidate's fault.
bool IsBrokenInUse(const GateInput& input, const std::string& run_id);

// Reasons why the two drills are no pair (shadow_alone, shadow_another_time, shadow_elsewhere,
// shadow_missing: each closes the gate for lack of evidence); else shadow_compared, which closes
// nothing. Empty without a drill of the stack in use.
std::vector<GateReason> JudgeShadow(const GateInput& input);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_GATE_SHADOW_H_
