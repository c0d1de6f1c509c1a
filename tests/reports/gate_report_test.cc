// What people and machines are shown of a gate: page, JUnit, step summary, terminal, JSON.
#include "reports/gate_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <pugixml.hpp>

#include "reports/schemas.h"
#include "tests/reports/sample_gate.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

GateReport ReportOf(const GateInput& input) { return BuildReport(input, DecideGate(input)); }
Document DocumentOf(const GateInput& input) { return DocumentOf(ReportOf(input)); }
std::string PageOf(const GateInput& input) { return WriteHtml(DocumentOf(input)); }
std::string ScreenOf(const GateInput& input, int columns, int rows, bool color = false) {
  return WriteTerminal(DocumentOf(input), columns, color, rows);
}

TEST(GateHtml, ShowsTheGridTheTreesAndTheImpactedRuns) {
  const std::string html = PageOf(RichInput());
  const HtmlFacts facts = Checked(html);
  EXPECT_EQ(facts.elements.at("svg"), 2) << "one pair of trees";
  for (const char* words :
       {"The gate is closed", "hardware path", "compiler output", "≠ 1 of 2", "from 9 to 17 terms",
        "mlp-1", "no probe of it worked on both sides", "signal 11", "waiver", "grace", "590.1",
        "Order of addition: gemm_tree_fp16", "everything changed: 1 newly wrong"}) {
    EXPECT_NE(facts.text.find(words), std::string::npos) << words;
  }
  EXPECT_LT(html.size(), 200'000U);
}

TEST(GateHtml, ColoursReasonsCellsAndDrilledRunsByWhatTheySay) {
  const std::string html = PageOf(RichInput());
  for (const char* part : {"<tr class=\"drifted\"><th scope=\"row\" "
                           "class=\"name\">gemm_tree_fp16</th><td data-l=\"State\"><span "
                           "class=\"b\">✗ closes</span></td>",
                           "<tr class=\"infra\"><th scope=\"row\" class=\"name\">math_bits</th><td "
                           "data-l=\"State\"><span "
                           "class=\"b\">· noted</span></td>",
                           "<td data-l=\"Tree\"><span class=\"b drifted\">≠ 1 of 2</span></td>",
                           "<td data-l=\"Choice\"><span class=\"b identical\">= 2</span></td>",
                           "<tr class=\"drifted\"><th scope=\"row\" class=\"name\">mlp-1</th>"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  GateInput expired = SameInput();
  expired.record = BaselineRecord{.accepted_by = "grace", .reason = "x", .expires = expired.now};
  EXPECT_NE(PageOf(expired).find("? closes: no evidence"), std::string::npos);
  EXPECT_EQ(DocumentOf(expired).tone, Verdict::kInconclusive);
}

TEST(GateHtml, SaysThatNothingChanged) {
  const HtmlFacts facts = Checked(PageOf(SameInput()));
  EXPECT_NE(facts.text.find("The gate is open: nothing changed"), std::string::npos);
  EXPECT_NE(facts.text.find("What did not change"), std::string::npos);
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
  const pugi::xml_document document = ParsedGate(WriteJunit(DocumentOf(input)));
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
  const pugi::xml_node baseline = GateCaseOf(document, "baseline").last_child();
  EXPECT_STREQ(baseline.attribute("type").value(), "no_evidence") << "infra is a verdict";
  const std::string message = baseline.attribute("message").value();
  const std::string why = baseline.text().get();
  EXPECT_EQ(why.find(message), why.rfind(message)) << "said once: " << why;
  EXPECT_NE(why.find(message), std::string::npos) << why;
}

TEST(GateJunit, FailsWheneverTheGateIsClosed) {
  for (const Fingerprint& candidate :
       {FingerprintBuilder().Parse(), SampleStack().Suite("x").Parse(),
        SampleStack().Without("math_bits").Parse()}) {
    GateInput input = SameInput();
    input.candidate = candidate;
    const pugi::xml_document document = ParsedGate(WriteJunit(DocumentOf(input)));
    EXPECT_FALSE(document.select_nodes("//failure|//error").empty());
  }
  const GateInput same = SameInput();
  const pugi::xml_document document = ParsedGate(WriteJunit(DocumentOf(same)));
  EXPECT_TRUE(document.select_nodes("//failure|//error").empty());
  EXPECT_EQ(document.select_nodes("//testcase").size(), 5U);
  EXPECT_EQ(document.select_nodes("//skipped").size(), 1U) << "absent on both sides";
}

TEST(GateJunit, IsWellFormedForHostileNames) {
  for (const std::string& text : HostileTexts()) {
    const GateInput input = HostileInput(text);
    ParsedGate(WriteJunit(DocumentOf(input)));
  }
}

TEST(GateText, FitsOneScreenAndCountsWhatItLeavesOut) {
  for (const std::string& text : HostileTexts()) {
    const GateInput input = HostileInput(text);
    for (const int rows : {4, 6, 24}) {
      const std::string screen = ScreenOf(input, 80, rows);
      EXPECT_LE(std::ranges::count(screen, '\n'), rows) << screen;
    }
  }
  const std::string screen = ScreenOf(RichInput(), 100, 6);
  EXPECT_TRUE(screen.starts_with("The gate is closed: ")) << screen;
  EXPECT_NE(screen.find("more line"), std::string::npos) << screen;
  EXPECT_NE(screen.find("Next: "), std::string::npos);
  EXPECT_EQ(screen.find('\x1b'), std::string::npos);
  EXPECT_NE(ScreenOf(RichInput(), 100, 6, true).find('\x1b'), std::string::npos);
}

TEST(GateText, ShowsTheImpactedRunsOnAScreenOf24Lines) {
  GateInput input = RichInput();
  const Manifest run = input.history[0];
  for (int i = 0; i < 40; ++i) {
    input.history.push_back(run);
    input.history.back().run_id = "more-" + std::to_string(i);
    input.candidate.probes.push_back(
        {.name = "new" + std::to_string(i), .status = ProbeStatus::kOk, .bits = {{"a", "b"}}});
  }
  std::ranges::sort(input.candidate.probes, {}, &FingerprintProbe::name);
  const std::string screen = ScreenOf(input, 80, 24);
  const std::size_t runs = screen.find("Impacted runs");
  const std::size_t reasons = screen.find("Reasons");
  ASSERT_NE(runs, std::string::npos) << screen;
  ASSERT_NE(reasons, std::string::npos) << screen;
  EXPECT_LT(runs, reasons);
  EXPECT_NE(screen.find("42 historical runs depend"), std::string::npos) << screen;
  EXPECT_NE(screen.find("mlp-1"), std::string::npos) << screen;
  EXPECT_NE(screen.find("✗ closes"), std::string::npos) << screen;
}

TEST(GateText, SaysReasonsRunsAndTheStackOnATerminalAndInTheStepSummary) {
  const std::string screen = ScreenOf(RichInput(), 140, 0);
  const std::string text = WriteMarkdown(DocumentOf(RichInput()));
  EXPECT_TRUE(text.starts_with("## The gate is closed: ")) << text;
  for (const char* words : {"changed", "from 9 to 17 terms", "2 historical runs depend", "mlp-1",
                            "✗ drifted", "The stack: 1 fact differs", "590.1",
                            "no rule of the policy allows it", "plain text, not verified", "grace",
                            "Baseline holds: through 2026-12-31", "through 2026-11-30"}) {
    EXPECT_NE(screen.find(words), std::string::npos) << words << "\n" << screen;
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
  for (const std::string& hostile : HostileTexts()) {
    EXPECT_LT(WriteMarkdown(DocumentOf(HostileInput(hostile))).size(), std::size_t{1} << 20);
  }
}

TEST(GateSchema, DescribesExactlyWhatIsWritten) {
  const Json schema = GateSchema();
  GateInput empty;
  for (const GateInput& input : {RichInput(), SameInput(), empty}) {
    const Json json = ToJson(DecideGate(input));
    EXPECT_EQ(json.AsObject().front().first, "schema");
    EXPECT_EQ(json.Find("schema")->AsString(), "rharness.gate/v1");
    Validator(schema).Check(json, schema, "$");
  }
}

TEST(GateReport, WarnsOfAPolicyThatMatchesNothingInEveryFormat) {
  GateInput input = RichInput();
  input.policy.rules = {{.probes = "gem_*", .tree = true}};
  // Many notes come last, and a warning is none.
  for (int i = 0; i < 9; ++i) {
    input.candidate.probes.push_back(
        {.name = "new" + std::to_string(i), .status = ProbeStatus::kOk, .bits = {{"a", "b"}}});
  }
  const Document document = DocumentOf(input);
  const std::string words = "of the policy names no probe of either side";
  const std::string page = WriteHtml(document);
  const std::size_t notes = page.find("What closes nothing");
  ASSERT_NE(notes, std::string::npos);
  EXPECT_LT(page.find("! warns"), notes);
  EXPECT_EQ(page.find("! warns", notes), std::string::npos);
  EXPECT_NE(page.find("new8", notes), std::string::npos);
  EXPECT_NE(Checked(page).text.find("names no probe of either side"), std::string::npos);
  for (const std::string& text : {WriteTerminal(document, 200, false), WriteMarkdown(document)}) {
    EXPECT_NE(text.find("! warns"), std::string::npos) << text;
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
  const Json json = ToJson(DecideGate(input));
  const auto& reasons = json.Find("reasons")->AsArray();
  const auto warning = std::ranges::find_if(
      reasons, [](const Json& reason) { return reason.Find("warns")->AsBool(); });
  ASSERT_NE(warning, reasons.end());
  EXPECT_EQ(warning->Find("subject")->AsString(), "gem_*");
}

TEST(GateReport, SaysOnceWhatHoldsOfManyRunsAndNamesThemAll) {
  GateInput input = SameInput();
  input.candidate.made = FormatTime(WallTime());  // before the drill
  Report drill;
  for (const char* run : {"mlp-1", "mlp-2", "mlp-3"}) {
    drill.runs.push_back(Drilled(run, Verdict::kInfra, "no such program"));
  }
  drill.runs.push_back(Drilled("mlp-4", Verdict::kInfra, "no disk"));
  Tally(&drill);
  input.drill = drill;
  EXPECT_EQ(DecideGate(input).reasons.size(), 4U) << "and the JSON has every one";
  const Document document = DocumentOf(input);
  for (const std::string& text : {WriteTerminal(document, 200, false), WriteHtml(document)}) {
    EXPECT_NE(text.find("The gate is closed for lack of evidence"), std::string::npos) << text;
    EXPECT_NE(text.find("mlp-1 and 2 more"), std::string::npos) << text;
    EXPECT_NE(text.find("the same of mlp-2, mlp-3"), std::string::npos) << text;
    EXPECT_NE(text.find("infra: no disk"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace rharness
