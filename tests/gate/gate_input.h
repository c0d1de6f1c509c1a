// Gates to be decided, and what must close them.
#ifndef RHARNESS_TESTS_GATE_GATE_INPUT_H_
#define RHARNESS_TESTS_GATE_GATE_INPUT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness/gate/gate.h"
#include "tests/compare/fingerprints/build_fingerprint.h"
#include "tests/reports/drilled_run.h"

namespace rharness {

inline GateInput Input(const FingerprintBuilder& baseline, const FingerprintBuilder& candidate,
                       std::string_view policy = "version: 1") {
  GateInput input;
  input.baseline = baseline.Parse("baseline.json");
  input.candidate = candidate.Parse("candidate.json");
  input.candidate.made = FormatTime(WallTime());  // before any drill
  auto parsed = ParsePolicy(policy, "policy.yaml");
  EXPECT_TRUE(parsed.ok()) << parsed.error().ToString();
  input.policy = *parsed;
  FakeClock clock(*ParseTime("2026-11-20T12:00:00Z"));
  input.now = clock.Now();
  return input;
}

// The codes of the reasons that close.
inline std::vector<std::string> Closing(const GateDecision& decision) {
  std::vector<std::string> codes;
  for (const GateReason& reason : decision.reasons) {
    EXPECT_FALSE(reason.rule.empty()) << reason.code;
    EXPECT_FALSE(reason.message.empty()) << reason.code;
    if (reason.closes) codes.push_back(reason.code);
  }
  return codes;
}
using Codes = std::vector<std::string>;

inline bool Notes(const GateDecision& decision, std::string_view code) {
  return std::ranges::any_of(decision.reasons, [&](const GateReason& reason) {
    return reason.code == code && !reason.closes;
  });
}

inline void ExpectClosed(const GateInput& input, const Codes& codes, int exit_code) {
  const GateDecision decision = DecideGate(input);
  EXPECT_FALSE(decision.open);
  EXPECT_EQ(decision.exit_code, exit_code) << decision.headline;
  EXPECT_EQ(Closing(decision), codes) << decision.headline;
}

inline Manifest RunOf(const std::string& name, std::vector<std::string> families) {
  Manifest manifest;
  manifest.run_id = name;
  manifest.family = "mlp";
  manifest.probe_families = std::move(families);
  return manifest;
}

inline Report DrillOf(const std::vector<std::pair<std::string, Verdict>>& runs) {
  Report report;
  for (const auto& [name, verdict] : runs) {
    report.runs.push_back(Drilled(name, verdict, "as it came"));
  }
  Tally(&report);
  return report;
}

inline FingerprintBuilder Rounded() {
  return SampleStack().Probe("math_bits", "math").Bits("expf", "another exp");
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_GATE_GATE_INPUT_H_
