// What people and machines are shown of a gate: page, JUnit, step summary, terminal, JSON.
#include "reports/gate_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <pugixml.hpp>

#include "harness/base/files.h"
#include "tests/reports/sample_gate.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

GateReport ReportOf(const GateInput& input) { return BuildReport(input, DecideGate(input)); }
std::string PageOf(const GateInput& input) { return WriteHtml(ReportOf(input)); }

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

pugi::xml_document ParsedGate(const std::string& xml) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_buffer(xml.data(), xml.size()));
  return document;
}
pugi::xml_node GateCaseOf(const pugi::xml_document& document, const char* name) {
  return document.first_child().first_child().find_child_by_attribute("testcase", "name", name);
}

TEST(GateJunit, HasACaseAProbeAndOneForEveryOtherReasonThatCloses) {
  GateInput input = RichInput();
  input.record->expires = input.now;
  const pugi::xml_document document = ParsedGate(WriteJunit(ReportOf(input)));
  const auto result = [&](const char* name) {
    return std::string(GateCaseOf(document, name).last_child().name());
  };
  EXPECT_EQ(result("gemm_tree_fp16"), "failure");
  EXPECT_EQ(result("sum_tree_fp32"), "failure");
  EXPECT_EQ(result("mlp-1"), "failure");
  EXPECT_EQ(result("baseline"), "error");
  EXPECT_EQ(result("math_bits"), "system-out") << "waived";
  const std::string body = GateCaseOf(document, "gemm_tree_fp16").last_child().text().get();
  EXPECT_NE(body.find("tree_changed"), std::string::npos) << body;
}

TEST(GateJunit, FailsWheneverTheGateIsClosed) {
  for (const Fingerprint& candidate :
       {FingerprintBuilder().Parse(), SampleStack().Suite("x").Parse(),
        SampleStack().Without("math_bits").Parse()}) {
    GateInput input = SameInput();
    input.candidate = candidate;
    const pugi::xml_document document = ParsedGate(WriteJunit(ReportOf(input)));
    EXPECT_FALSE(document.select_nodes("//failure|//error").empty());
  }
  const GateInput same = SameInput();
  const pugi::xml_document document = ParsedGate(WriteJunit(ReportOf(same)));
  EXPECT_TRUE(document.select_nodes("//failure|//error").empty());
  EXPECT_EQ(document.select_nodes("//testcase").size(), 5U);
  EXPECT_EQ(document.select_nodes("//skipped").size(), 1U) << "absent on both sides";
}

TEST(GateJunit, IsWellFormedForHostileNames) {
  for (const std::string& text : HostileTexts()) {
    const GateInput input = HostileInput(text);
    ParsedGate(WriteJunit(ReportOf(input)));
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

TEST(GateSchema, DescribesExactlyWhatIsWritten) {
  const Result<Json> schema = ReadJsonFile(RHARNESS_SOURCE_DIR "/reports/gate.schema.json");
  ASSERT_TRUE(schema.ok()) << schema.error().ToString();
  GateInput empty;
  for (const GateInput& input : {RichInput(), SameInput(), empty}) {
    const Json json = ToJson(DecideGate(input));
    EXPECT_EQ(json.AsObject().front().first, "schema");
    EXPECT_EQ(json.Find("schema")->AsString(), "rharness.gate/v1");
    Validator(*schema).Check(json, *schema, "$");
  }
}

TEST(GateReport, WarnsOfAPolicyThatMatchesNothingInEveryFormat) {
  GateInput input = RichInput();
  input.policy.rules = {{.probes = "gem_*", .tree = true}};
  // Many notes are folded away on the page, and a warning is none.
  for (int i = 0; i < 9; ++i) {
    input.candidate.probes.push_back(
        {.name = "new" + std::to_string(i), .status = "ok", .bits = {{"a", "b"}}});
  }
  const GateDecision decision = DecideGate(input);
  const std::string words = "the rule 'gem_*' of the policy names no probe of either side";
  EXPECT_NE(WriteTerminal(decision, 200, 40, false).find("! rule_matches_nothing | " + words),
            std::string::npos);
  const std::string page = PageOf(input);
  ASSERT_NE(page.find("<details>"), std::string::npos);
  EXPECT_LT(page.find("! warns"), page.find("<details>"));
  EXPECT_NE(Checked(page).text.find("names no probe of either side"), std::string::npos);
  EXPECT_NE(WriteMarkdown(decision).find("\n| ! | <code>"), std::string::npos);
  const Json json = ToJson(decision);
  const auto& reasons = json.Find("reasons")->AsArray();
  const auto warning = std::ranges::find_if(
      reasons, [](const Json& reason) { return reason.Find("warns")->AsBool(); });
  ASSERT_NE(warning, reasons.end());
  EXPECT_EQ(warning->Find("subject")->AsString(), "gem_*");
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
  EXPECT_TRUE(screen.starts_with("CLOSED for lack of evidence  ")) << screen;
  EXPECT_NE(screen.find("mlp-1: infra: no such program (and of 2 more)"), std::string::npos)
      << screen;
  EXPECT_EQ(screen.find("mlp-2"), std::string::npos);
  EXPECT_NE(screen.find("mlp-4: infra: no disk |"), std::string::npos) << screen;
  const std::string text = WriteMarkdown(decision);
  EXPECT_NE(text.find("<code>mlp-1</code> and 2 more |"), std::string::npos) << text;
}

}  // namespace
}  // namespace rharness
