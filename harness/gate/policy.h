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
  std::string probes;  // glob over probe names: "gemm_*"
  bool choice = false;
  bool tree = false;
  bool bits = false;
};

// A change that somebody takes responsibility for, for a while.
struct Waiver {
  std::string probes;  // glob
  std::string reason;
  std::string signed_by;
  WallTime until{};
};

struct Policy {
  std::vector<PolicyRule> rules;  // the first that matches a probe holds; none: nothing may change
  std::vector<Waiver> waivers;
  bool drill_required = false;         // a drill of the impacted runs must be there and pass
  std::vector<std::string> must_have;  // globs: probes that must be ok on both sides
};

// "version: 1", "rules:", "waivers:", "drill:", "require:". Errors: invalid_input with file and
// line: an unknown key, a missing one, a waiver without reason, signature or date.
Result<Policy> ParsePolicy(std::string_view yaml, std::string_view file);
Result<Policy> LoadPolicy(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_GATE_POLICY_H_
