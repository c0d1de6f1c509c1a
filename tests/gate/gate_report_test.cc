// What people and machines are shown of a gate: page, JUnit, step summary, terminal, JSON.
#include "harness/gate/gate_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <pugixml.hpp>
#include <set>

#include "harness/base/files.h"
#include "reports/fingerprint_grid.h"
#include "reports/fingerprint_report.h"
#include "tests/compare/fingerprints/build_fingerprint.h"
#include "tests/reports/hostile.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

// Everything at once: a wider fused addition, other code, other bits that a waiver covers, a probe
// that crashed, one that appeared, an impacted and an unaffected run, a drill.
GateInput RichInput() {
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

GateInput SameInput() {
  GateInput input;
  input.baseline = SampleStack().Parse("baseline.json");
  input.candidate = SampleStack().Parse("candidate.json");
  return input;
}

// A stranger's text wherever a fingerprint, a policy, a manifest or a report has text.
GateInput HostileInput(const std::string& text) {
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

HtmlFacts Checked(const std::string& html) {
  HtmlFacts facts = CheckHtml(html);
  EXPECT_EQ(facts.error, "");
  const std::set<std::string> ids(facts.ids.begin(), facts.ids.end());
  EXPECT_EQ(ids.size(), facts.ids.size());
  for (const std::string& href : facts.hrefs) {
    EXPECT_TRUE(href.starts_with('#') && ids.contains(href.substr(1))) << href;
  }
  return facts;
}

std::string PageOf(const GateInput& input) { return WriteHtml(DecideGate(input), input); }

TEST(GateHtml, ShowsTheGridTheTreesAndTheImpactedRuns) {
  const std::string html = PageOf(RichInput());
  const HtmlFacts facts = Checked(html);
  EXPECT_EQ(facts.elements.at("svg"), 2) << "one pair of trees";
  for (const char* words :
       {"The gate is closed", "hardware path", "compiler output", "≠ 1 of 2", "from 9 to 17 terms",
        "mlp-1", "no probe of it worked on both sides", "signal 11", "waiver", "grace", "590.1"}) {
    EXPECT_NE(facts.text.find(words), std::string::npos) << words;
  }
  EXPECT_LT(html.size(), 200'000U);
}

TEST(GateHtml, SaysThatNothingChanged) {
  const HtmlFacts facts = Checked(PageOf(SameInput()));
  EXPECT_NE(facts.text.find("The gate is open: nothing changed"), std::string::npos);
  EXPECT_FALSE(facts.elements.contains("svg"));
}

TEST(GateHtml, KeepsHostileTextAsText) {
  const HtmlFacts plain = Checked(PageOf(HostileInput("x")));
  for (const std::string& text : HostileTexts()) {
    const std::string html = PageOf(HostileInput(text));
    EXPECT_LT(html.size(), 2'000'000U);
    const HtmlFacts facts = Checked(html);
    for (const std::string& name : facts.attribute_names) {
      EXPECT_NE(std::ranges::find(plain.attribute_names, name), plain.attribute_names.end())
          << name << " by " << text.substr(0, 60);
    }
    EXPECT_EQ(facts.elements.at("tr"), plain.elements.at("tr")) << text.substr(0, 60);
    EXPECT_FALSE(facts.elements.contains("script"));
    EXPECT_FALSE(facts.elements.contains("img"));
  }
}

TEST(FingerprintHtml, IsWellFormedForDifferencesAndFleets) {
  const GateInput rich = RichInput();
  Checked(WriteHtml(DiffFingerprints(rich.baseline, rich.candidate), rich.baseline, rich.candidate,
                    "1"));
  for (const std::string& text : HostileTexts()) {
    const GateInput hostile = HostileInput(text);
    Checked(WriteHtml(DiffFingerprints(hostile.baseline, hostile.candidate), hostile.baseline,
                      hostile.candidate, "1"));
    const Fleet fleet = CompareFleet({{text + "a", hostile.baseline},
                                      {text + "b", hostile.baseline},
                                      {text + "c", hostile.candidate},
                                      {text, Fingerprint{.file = text, .suite = text}}});
    EXPECT_EQ(fleet.odd.size(), 1U);
    Checked(WriteHtml(fleet, "1"));
    EXPECT_LE(std::ranges::count(WriteTerminal(fleet, 80, 4, false), '\n'), 4);
  }
}

TEST(Grid, PutsChangesFirstAndCountsCases) {
  const GateInput input = RichInput();
  const FingerprintDifference difference = DiffFingerprints(input.baseline, input.candidate);
  const std::vector<GridRow> rows = BuildGrid(difference, input.baseline, input.candidate);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].probe, "sum_tree_fp32") << "what no longer works comes first";
  const auto gemm = std::ranges::find(rows, "gemm_tree_fp16", &GridRow::probe);
  EXPECT_EQ(gemm->cells[2].Words(), "= 2");
  EXPECT_EQ(gemm->cells[3].Words(), "≠ 1 of 2");
  const auto jit = std::ranges::find(rows, "jit_driver_cubin", &GridRow::probe);
  EXPECT_EQ(jit->cells[1].Words(), "≠ 1 of 1");
  EXPECT_EQ(jit->cells[2].Words(), "–");
}

pugi::xml_document Parsed(const std::string& xml) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_buffer(xml.data(), xml.size()));
  return document;
}
pugi::xml_node CaseOf(const pugi::xml_document& document, const char* name) {
  return document.first_child().first_child().find_child_by_attribute("testcase", "name", name);
}

TEST(GateJunit, HasACaseAProbeAndOneForEveryOtherReasonThatCloses) {
  GateInput input = RichInput();
  input.record->expires = input.now;
  const pugi::xml_document document = Parsed(WriteJunit(DecideGate(input), input));
  const auto result = [&](const char* name) {
    return std::string(CaseOf(document, name).last_child().name());
  };
  EXPECT_EQ(result("gemm_tree_fp16"), "failure");
  EXPECT_EQ(result("sum_tree_fp32"), "failure");
  EXPECT_EQ(result("mlp-1"), "failure");
  EXPECT_EQ(result("baseline"), "error");
  EXPECT_EQ(result("math_bits"), "system-out") << "waived";
  const std::string body = CaseOf(document, "gemm_tree_fp16").last_child().text().get();
  EXPECT_NE(body.find("tree_changed"), std::string::npos) << body;
}

TEST(GateJunit, FailsWheneverTheGateIsClosed) {
  for (const Fingerprint& candidate :
       {FingerprintBuilder().Parse(), SampleStack().Suite("x").Parse(),
        SampleStack().Without("math_bits").Parse()}) {
    GateInput input = SameInput();
    input.candidate = candidate;
    const pugi::xml_document document = Parsed(WriteJunit(DecideGate(input), input));
    EXPECT_FALSE(document.select_nodes("//failure|//error").empty());
  }
  const GateInput same = SameInput();
  const pugi::xml_document document = Parsed(WriteJunit(DecideGate(same), same));
  EXPECT_TRUE(document.select_nodes("//failure|//error").empty());
  EXPECT_EQ(document.select_nodes("//testcase").size(), 5U);
  EXPECT_EQ(document.select_nodes("//skipped").size(), 1U) << "absent on both sides";
}

TEST(GateJunit, IsWellFormedForHostileNames) {
  for (const std::string& text : HostileTexts()) {
    const GateInput input = HostileInput(text);
    Parsed(WriteJunit(DecideGate(input), input));
  }
}

TEST(GateText, FitsOneScreenAndCountsWhatItLeavesOut) {
  for (const std::string& text : HostileTexts()) {
    const GateDecision decision = DecideGate(HostileInput(text));
    for (const int rows : {4, 6, 24}) {
      const std::string screen = WriteTerminal(decision, 80, rows, false);
      EXPECT_LE(std::ranges::count(screen, '\n'), rows) << screen;
    }
  }
  const GateDecision decision = DecideGate(RichInput());
  const std::string screen = WriteTerminal(decision, 100, 6, false);
  EXPECT_TRUE(screen.starts_with("CLOSED")) << screen;
  EXPECT_NE(screen.find("more reason"), std::string::npos) << screen;
  EXPECT_NE(screen.find("Next: "), std::string::npos);
  EXPECT_EQ(screen.find('\x1b'), std::string::npos);
  EXPECT_NE(WriteTerminal(decision, 100, 6, true).find('\x1b'), std::string::npos);
}

TEST(GateText, TheStepSummaryOpensWithTheAnswer) {
  const std::string text = WriteMarkdown(DecideGate(RichInput()));
  EXPECT_TRUE(text.starts_with("## ✗ Gate closed\n\n**The gate is closed: ")) << text;
  EXPECT_NE(text.find("mlp-1"), std::string::npos);
  for (const std::string& hostile : HostileTexts()) {
    EXPECT_LT(WriteMarkdown(DecideGate(HostileInput(hostile))).size(), std::size_t{1} << 20);
  }
}

TEST(FingerprintDiffSchema, DescribesExactlyWhatIsWritten) {
  const Result<Json> schema =
      ReadJsonFile(RHARNESS_SOURCE_DIR "/reports/fingerprint_diff.schema.json");
  ASSERT_TRUE(schema.ok()) << schema.error().ToString();
  const GateInput rich = RichInput(), same = SameInput();
  for (const GateInput* input : {&rich, &same}) {
    const Json json = ToJson(DiffFingerprints(input->baseline, input->candidate));
    Validator(*schema).Check(json, *schema, "$");
  }
}

TEST(FleetSchema, DescribesExactlyWhatIsWritten) {
  const Result<Json> schema = ReadJsonFile(RHARNESS_SOURCE_DIR "/reports/fleet.schema.json");
  ASSERT_TRUE(schema.ok()) << schema.error().ToString();
  const FingerprintBuilder odd = SampleStack().Probe("math_bits", "math").Bits("expf", "odd");
  const Fleet fleet = CompareFleet({{"a", SampleStack().Parse()},
                                    {"b", SampleStack().Parse()},
                                    {"c", odd.Parse()},
                                    {"d", FingerprintBuilder().Parse()}});
  EXPECT_EQ(fleet.odd.size(), 1U);
  EXPECT_EQ(fleet.unusable.size(), 1U);
  Validator(*schema).Check(ToJson(fleet), *schema, "$");
  Validator(*schema).Check(ToJson(CompareFleet({})), *schema, "$");
}

TEST(GateSchema, DescribesExactlyWhatIsWritten) {
  const Result<Json> schema = ReadJsonFile(RHARNESS_SOURCE_DIR "/harness/gate/gate.schema.json");
  ASSERT_TRUE(schema.ok()) << schema.error().ToString();
  GateInput empty;
  for (const GateInput& input : {RichInput(), SameInput(), empty}) {
    const Json json = ToJson(DecideGate(input));
    EXPECT_EQ(json.AsObject().front().first, "schema");
    EXPECT_EQ(json.Find("schema")->AsString(), "rharness.gate/v1");
    Validator(*schema).Check(json, *schema, "$");
  }
}

TEST(GateTerminal, SaysOnceWhatHoldsOfManyRuns) {
  GateInput input = SameInput();
  Report drill;
  for (const char* run : {"mlp-1", "mlp-2", "mlp-3"}) {
    drill.runs.push_back(Drilled(run, Verdict::kInfra, "no such program"));
  }
  drill.runs.push_back(Drilled("mlp-4", Verdict::kInfra, "no disk"));
  Tally(&drill);
  input.drill = drill;
  const GateDecision decision = DecideGate(input);
  EXPECT_EQ(decision.reasons.size(), 4U) << "and the JSON has every one";
  const std::string screen = WriteTerminal(decision, 200, 40, false);
  EXPECT_TRUE(screen.starts_with("CLOSED for want of evidence  ")) << screen;
  EXPECT_NE(screen.find("mlp-1: infra: no such program (and of 2 more)"), std::string::npos)
      << screen;
  EXPECT_EQ(screen.find("mlp-2"), std::string::npos);
  EXPECT_NE(screen.find("mlp-4: infra: no disk |"), std::string::npos) << screen;
  const std::string text = WriteMarkdown(decision);
  EXPECT_NE(text.find("<code>mlp-1</code> and 2 more |"), std::string::npos) << text;
}

}  // namespace
}  // namespace rharness
