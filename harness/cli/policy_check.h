// What a policy file comes to, as JSON: "rharness.policy_check/v1".
#ifndef RHARNESS_HARNESS_CLI_POLICY_CHECK_H_
#define RHARNESS_HARNESS_CLI_POLICY_CHECK_H_

#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/records/policy/policy.h"

namespace rharness {

// Who answers for a substitute until when, or the fingerprints that prove it.
std::string StandsText(const Substitute& one);
Json PolicyCheckJson(const Policy& policy, const std::vector<std::string>& warnings);
Json PolicyCheckSchema();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_POLICY_CHECK_H_
