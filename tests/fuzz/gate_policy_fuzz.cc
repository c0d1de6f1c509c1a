// Fuzzes the reader of a gate's policy: accepted policies obey policy.h, are read again as the same
// from JSON (which is YAML), and none of them opens the gate for a fingerprint that is unreadable,
// nor closes it for one that did not change but for what the policy requires.
//
// Run: rharness-gate-policy-fuzz -max_total_time=60 -dict=gate_policy.dict CORPUS gate_policy_seeds
#include <algorithm>
#include <string>

#include "harness/gate/gate.h"
#include "tests/compare/fingerprints/build_fingerprint.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

Json RuleJson(const PolicyRule& rule) {
  Json allow = Json::MakeArray();
  if (rule.choice) allow.Append("choice");
  if (rule.tree) allow.Append("tree");
  if (rule.bits) allow.Append("bits");
  return Json().Set("probes", rule.probes).Set("allow", std::move(allow));
}

Json WaiverJson(const Waiver& waiver) {
  return Json()
      .Set("probes", waiver.probes)
      .Set("reason", waiver.reason)
      .Set("signed_by", waiver.signed_by)
      .Set("until", FormatTime(waiver.until));
}

Json PolicyJson(const Policy& policy) {
  Json rules = Json::MakeArray(), waivers = Json::MakeArray(), require = Json::MakeArray();
  for (const PolicyRule& rule : policy.rules) rules.Append(RuleJson(rule));
  for (const Waiver& waiver : policy.waivers) waivers.Append(WaiverJson(waiver));
  for (const std::string& glob : policy.must_have) require.Append(glob);
  return Json()
      .Set("version", 1)
      .Set("rules", std::move(rules))
      .Set("waivers", std::move(waivers))
      .Set("drill", policy.drill_required ? "required" : "optional")
      .Set("require", std::move(require));
}

bool Blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

void CheckAccepted(const Policy& policy) {
  for (const PolicyRule& rule : policy.rules) Require(!Blank(rule.probes));
  for (const Waiver& waiver : policy.waivers) {
    Require(!Blank(waiver.probes) && !Blank(waiver.reason) && !Blank(waiver.signed_by));
    Require(ParseTime(FormatTime(waiver.until)).ok() && !FormatUntil(waiver.until).empty());
  }
  for (const std::string& glob : policy.must_have) Require(!Blank(glob));
  const std::string written = PolicyJson(policy).Dump();
  const auto again = ParsePolicy(written, "written");
  Require(again.ok() && PolicyJson(*again).Dump() == written);
}

void CheckGate(const Policy& policy) {
  static const Fingerprint good = SampleStack().Parse("good");
  GateInput input;
  input.baseline = input.candidate = good;
  input.policy = policy;
  input.now = ParseTime("2026-11-20T12:00:00Z").value();
  for (const GateReason& reason : DecideGate(input).reasons) {
    Require(!reason.closes || reason.code == "probe_missing");
  }
  input.candidate = UnreadableFingerprint("candidate", InvalidInput("no JSON"));
  Require(DecideGate(input).exit_code == 3);
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto policy = rharness::ParsePolicy(rharness::TextOf(data, size), "fuzz");
  if (!policy.ok()) {
    rharness::RequireError(policy.error(), {rharness::ErrorCode::kInvalidInput}, "fuzz");
    return 0;
  }
  rharness::CheckAccepted(*policy);
  rharness::CheckGate(*policy);
  return 0;
}
