// Fuzzes the gate with a stranger's fingerprint: what cannot be read, or shows nothing, never opens
// it, whatever the policy forgives; without a policy it opens on nothing that changed; and its
// reports are well formed.
//
// Run: rharness-gate-fuzz -max_total_time=60 -dict=fingerprint.dict CORPUS fingerprint_seeds
#include <algorithm>
#include <pugixml.hpp>
#include <string>

#include "harness/base/files.h"
#include "harness/gate/gate.h"
#include "reports/gate_report.h"
#include "tests/compare/fingerprints/build_fingerprint.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/reports/html_checker.h"

namespace rharness {
namespace {

constexpr int kColumns = 80;
constexpr int kRows = 24;
constexpr char kForgiving[] =
    "{version: 1, rules: [{probes: '*', allow: [choice, tree, bits]}], waivers: [{probes: '*', "
    "reason: any, signed_by: all, until: 2099-12-31}]}";

GateInput InputOf(const Fingerprint& baseline, const Fingerprint& candidate, bool forgiving) {
  static const Policy policy = ParsePolicy(kForgiving, "policy").value();
  GateInput input;
  input.baseline = baseline;
  input.candidate = candidate;
  if (forgiving) input.policy = policy;
  input.now = ParseTime("2026-11-20T12:00:00Z").value();
  input.history.emplace_back().run_id = "declares-nothing";
  return input;
}

void CheckReports(const GateDecision& decision, const GateInput& input) {
  RequireReadable(ToJson(decision));
  const Document document = DocumentOf(BuildReport(input, decision));
  const std::string terminal = WriteTerminal(document, kColumns, false, kRows);
  Require(TerminalSafe(terminal) == terminal);
  Require(std::ranges::count(terminal, '\n') <= kRows);
  Require(CheckHtml(WriteHtml(document)).error.empty());
  Require(pugi::xml_document().load_string(WriteJunit(document).c_str()));
  const std::string markdown = WriteMarkdown(document);
  Require(TerminalSafe(markdown) == markdown && markdown.size() < (std::size_t{1} << 20));
}

GateDecision Decide(const GateInput& input) {
  const GateDecision decision = DecideGate(input);
  Require(decision.open == (decision.exit_code == 0) && !decision.headline.empty());
  Require(decision.open ==
          std::ranges::none_of(decision.reasons, [](const auto& one) { return one.closes; }));
  return decision;
}

// Nothing but more to see, or a repeat gained, is no change.
bool OnlyGained(const FingerprintDifference& difference) {
  return std::ranges::all_of(difference.probes, [](const ProbeDifference& probe) {
    return probe.change == BehaviourChange::kAppeared ||
           probe.change == BehaviourChange::kNonDeterminismLost;
  });
}

void CheckSides(const Fingerprint& baseline, const Fingerprint& candidate, bool readable) {
  const GateDecision strict = Decide(InputOf(baseline, candidate, false));
  const GateDecision forgiving = Decide(InputOf(baseline, candidate, true));
  Require(!strict.open || (readable && OnlyGained(strict.difference)));
  Require(!strict.open || forgiving.open);
  if (readable && strict.difference.comparable) return;
  Require(!forgiving.open && forgiving.exit_code == 3);
}

// Of the gate that has most to tell.
void CheckReports(const Fingerprint& baseline, const Fingerprint& candidate) {
  const GateInput input = InputOf(baseline, candidate, false);
  CheckReports(DecideGate(input), input);
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rharness::Fingerprint good = rharness::SampleStack().Parse("good");
  const auto json = rharness::ParseJson(rharness::TextOf(data, size), "fuzz");
  const auto read = json.ok() ? rharness::ParseFingerprint(*json, "fuzz")
                              : rharness::Result<rharness::Fingerprint>(json.error());
  const rharness::Fingerprint other =
      read.ok() ? *read : rharness::UnreadableFingerprint("fuzz", read.error());
  rharness::CheckSides(good, other, read.ok());
  rharness::CheckSides(other, good, read.ok());
  if (json.ok()) rharness::CheckReports(good, other);
  return 0;
}
