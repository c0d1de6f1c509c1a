// Gates with everything to tell, with nothing, and with a stranger's text, for the tests of what
// shows them.
#ifndef RHARNESS_TESTS_REPORTS_SAMPLE_GATE_H_
#define RHARNESS_TESTS_REPORTS_SAMPLE_GATE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "harness/gate/gate.h"
#include "tests/compare/fingerprints/build_fingerprint.h"
#include "tests/reports/drilled_run.h"
#include "tests/reports/hostile.h"
#include "tests/reports/html_checker.h"

namespace rharness {

// Everything at once: a wider fused addition, other code, other bits that a waiver covers, a probe
// that crashed, one that appeared, an impacted and an unaffected run, a drill.
inline GateInput RichInput() {
  GateInput input;
  input.baseline = SampleStack().Parse("baseline.json");
  input.candidate = SampleStack()
                        .Stack("driver", "590.1")
                        .Probe("gemm_tree_fp16")
                        .Tree("64x64x32", FusedTree(32, 16))
                        .Probe("jit_driver_cubin", "compiler")
                        .Choice("axpy", R"({"text": "9999"})")
                        .Probe("math_bits", "math")
                        .Bits("expf", "another exp")
                        .Probe("sum_tree_fp32", "reduction", "crashed")
                        .Message("signal 11")
                        .Probe("nccl_tree", "collective")
                        .Bits("8 ranks", "x")
                        .Parse("candidate.json");
  input.now = *ParseTime("2026-11-20T12:00:00Z");
  input.policy.waivers = {{.probes = "math_*",
                           .reason = "reviewed",
                           .signed_by = "ada",
                           .until = *ParseTime("2026-12-01T00:00:00Z")}};
  input.record = BaselineRecord{.accepted_by = "grace",
                                .reason = "measured twice",
                                .expires = *ParseTime("2027-01-01T00:00:00Z")};
  Manifest a, b;
  a.run_id = "mlp-1", a.probe_families = {"gemm"};
  b.run_id = "mlp-2", b.probe_families = {"convolution"};
  input.history = {a, b};
  Report drill;
  drill.runs = {Drilled("mlp-1", Verdict::kDrifted, "loss differs")};
  Tally(&drill);
  input.drill = drill;
  return input;
}

inline GateInput SameInput() {
  GateInput input;
  input.baseline = SampleStack().Parse("baseline.json");
  input.candidate = SampleStack().Parse("candidate.json");
  return input;
}

// A stranger's text wherever a fingerprint, a policy, a manifest or a report has text.
inline GateInput HostileInput(const std::string& text) {
  GateInput input = RichInput();
  for (Fingerprint* side : {&input.baseline, &input.candidate}) {
    side->file = text;
    side->hardware_class = text;
    side->stack = {{text, side == &input.baseline ? "1" : text}};
    for (FingerprintProbe& probe : side->probes) {
      probe.name = text + probe.name;
      probe.family += text;
      probe.message = text;
      for (auto& [name, tree] : probe.trees) tree.name = text;
      if (const auto choice = probe.choices.find("axpy"); choice != probe.choices.end()) {
        choice->second += side == &input.baseline ? "" : text;
      }
      if (probe.name.ends_with("math_bits")) probe.bits[text] = side->file.empty() ? "1" : "2";
    }
    std::ranges::sort(side->probes, {}, &FingerprintProbe::name);
  }
  input.policy.waivers[0].probes = "*math_bits";
  input.policy.waivers[0].reason = input.policy.waivers[0].signed_by = text;
  input.record->accepted_by = input.record->reason = text;
  input.history[0].run_id = input.history[0].family = text;
  input.history[0].probe_families = {};
  input.drill->runs[0].run_id = input.drill->runs[0].headline = text;
  return input;
}

// Well formed, with ids that are there once and links that lead to one.
inline HtmlFacts Checked(const std::string& html) {
  HtmlFacts facts = CheckHtml(html);
  EXPECT_EQ(facts.error, "");
  const std::set<std::string> ids(facts.ids.begin(), facts.ids.end());
  EXPECT_EQ(ids.size(), facts.ids.size());
  for (const std::string& href : facts.hrefs) {
    EXPECT_TRUE(href.starts_with('#') && ids.contains(href.substr(1))) << href;
  }
  return facts;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_REPORTS_SAMPLE_GATE_H_
