// What may change without closing the gate: a YAML file that people read and sign.
#ifndef RHARNESS_HARNESS_GATE_POLICY_H_
#define RHARNESS_HARNESS_GATE_POLICY_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compare/fingerprints/fingerprint_diff.h"
#include "harness/base/clock.h"
#include "harness/base/result.h"

namespace rharness {

// "allow" of a rule: the layers that may change for the probes it names.
struct PolicyRule {
  std::string probes;  // glob over probe names, "gemm_*", or over families, "family:gemm"
  bool choice = false;
  bool tree = false;
  bool bits = false;
};

// A change that somebody takes responsibility for, for a while.
struct Waiver {
  std::string probes;  // as in a rule
  std::string reason;
  std::string signed_by;
  WallTime until{};  // it no longer holds from here on
};

struct Policy {
  std::vector<PolicyRule> rules;  // the first that matches a probe holds; none: nothing may change
  std::vector<Waiver> waivers;
  bool drill_required = false;         // a drill of the impacted runs must be there and pass
  std::vector<std::string> must_have;  // globs: probes that must be ok on both sides
};

// version: 1
// rules:
//   - {probes: "gemm_*", allow: [choice, bits]}
//   - {probes: "family:reduction", allow: [bits]}
// waivers:
//   - {probes: "jit_*", reason: "...", signed_by: "...", until: 2026-12-31}
// drill: required         # or optional
// require: ["gemm_*"]     # globs: probes that must be ok on both sides
// Only the version must be there. Errors: invalid_input with file and line: an unknown key, one
// twice, a missing one, a waiver without reason, signature or date; more than 1 MiB, or 250,000
// values with every alias as what it stands for.
Result<Policy> ParsePolicy(std::string_view yaml, std::string_view file);
Result<Policy> LoadPolicy(const std::filesystem::path& path);

// Whether the `probes` of a rule or waiver names this probe, or its family.
bool Names(std::string_view glob, std::string_view probe, std::string_view family);

// "2026-12-31" is the end of that day (UTC); an RFC 3339 time is itself. Else invalid_input.
Result<WallTime> ParseEndOfDay(std::string_view text);
// "through 2026-12-31 (UTC)" of the end of that day; else "until" and the RFC 3339 time.
std::string FormatUntil(WallTime end);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_GATE_POLICY_H_
