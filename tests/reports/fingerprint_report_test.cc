// What people and machines are shown of fingerprints: differences, the grid, fleets.
#include "reports/fingerprint_report.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "reports/fingerprint_grid.h"
#include "reports/schemas.h"
#include "tests/reports/sample_gate.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

Document DifferenceOf(const GateInput& input) {
  return DocumentOf(DiffFingerprints(input.baseline, input.candidate), input.baseline,
                    input.candidate, "1");
}

TEST(FingerprintHtml, IsWellFormedForDifferencesAndFleets) {
  const GateInput rich = RichInput();
  Checked(WriteHtml(DifferenceOf(rich)));
  for (const std::string& text : HostileTexts()) {
    const GateInput hostile = HostileInput(text);
    Checked(WriteHtml(DifferenceOf(hostile)));
    EXPECT_LE(std::ranges::count(WriteTerminal(DifferenceOf(hostile), 80, false, 4), '\n'), 4);
    const Fleet fleet = CompareFleet({{text + "a", hostile.baseline},
                                      {text + "b", hostile.baseline},
                                      {text + "c", hostile.candidate},
                                      {text, Fingerprint{.file = text, .suite = text}}});
    EXPECT_EQ(fleet.odd.size(), 1U);
    Checked(WriteHtml(DocumentOf(fleet, "1")));
    EXPECT_LE(std::ranges::count(WriteTerminal(DocumentOf(fleet, "1"), 80, false, 4), '\n'), 4);
  }
}

TEST(FingerprintDiff, SaysWhatChangedInEveryFormat) {
  const Document document = DifferenceOf(RichInput());
  EXPECT_EQ(document.exit_code, 1);
  const std::string page = WriteHtml(document), junit = WriteJunit(document);
  for (const std::string& text :
       {page, WriteTerminal(document, 140, false), WriteMarkdown(document), junit}) {
    for (const char* words :
         {"everything changed", "fp16", "≠ 1 of 2", "from 9 to 17 terms", "hardware path"}) {
      EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
    }
  }
  for (const std::string& text :
       {page, WriteTerminal(document, 140, false), WriteMarkdown(document)}) {
    EXPECT_NE(text.find("590.1"), std::string::npos) << text;
    EXPECT_NE(text.find("rharness gate says whether this may roll out"), std::string::npos);
  }
  EXPECT_EQ(junit.find("below"), std::string::npos) << "there is nothing below: " << junit;
  EXPECT_NE(junit.find("What changed: driver"), std::string::npos) << junit;
  EXPECT_EQ(junit.find("timestamp"), std::string::npos) << "of no time that is known";
  EXPECT_EQ(CheckHtml(page).elements.at("svg"), 2) << "one pair of trees";
  EXPECT_NE(page.find("Before: "), std::string::npos);
  const Document same = DifferenceOf(SameInput());
  EXPECT_EQ(same.exit_code, 0);
  EXPECT_NE(WriteTerminal(same, 100, false).find("Nothing."), std::string::npos);
  EXPECT_NE(WriteJunit(same).find("failures=\"0\""), std::string::npos);
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

TEST(FingerprintDiffSchema, DescribesExactlyWhatIsWritten) {
  const Json schema = FingerprintDiffSchema();
  const GateInput rich = RichInput(), same = SameInput();
  for (const GateInput* input : {&rich, &same}) {
    const Json json = ToJson(DiffFingerprints(input->baseline, input->candidate));
    Validator(schema).Check(json, schema, "$");
  }
}

// Three nodes, of which one has another variable and other bits.
Fleet OddFleet() {
  const FingerprintBuilder odd = SampleStack()
                                     .Stack("environment.OMP_NUM_THREADS", "3")
                                     .Probe("math_bits", "math")
                                     .Bits("expf", "odd");
  return CompareFleet({{"n1", SampleStack().Parse("n1.json")},
                       {"n2", SampleStack().Parse("n2.json")},
                       {"n3", odd.Parse("n3.json")}});
}

TEST(FleetReport, NamesNodeFactAndProbeOnTheScreenAndThePage) {
  const std::string screen = WriteTerminal(DocumentOf(OddFleet(), "1"), 120, false);
  for (const char* words : {"1 of 3 nodes on 1 hardware class differs from its majority: n3\n",
                            "environment.OMP_NUM_THREADS is 3 here and absent in the majority",
                            "      environment.OMP_NUM_THREADS: 3 here, (absent) in the majority\n",
                            "      shown by math_bits (rounding, epilogue or math)"}) {
    EXPECT_NE(screen.find(words), std::string::npos) << words << "\n" << screen;
  }
  const HtmlFacts page = Checked(WriteHtml(DocumentOf(OddFleet(), "1")));
  for (const char* words :
       {"What sets odd nodes apart", "environment.OMP_NUM_THREADS", "shown by math_bits"}) {
    EXPECT_NE(page.text.find(words), std::string::npos) << words;
  }
}

TEST(FleetReport, AsksForTheStackWhereNoMajorityShowsIt) {
  auto other = SampleStack();
  other.Probe("math_bits", "math").Bits("expf", "other");
  const Fleet fleet =
      CompareFleet({{"n1", SampleStack().Parse("n1.json")}, {"n2", other.Parse("n2.json")}});
  ASSERT_TRUE(fleet.odd.empty());
  EXPECT_EQ(DocumentOf(fleet, "1").next,
            "Decide which stack the nodes are to have: no majority shows it.");
  EXPECT_TRUE(DocumentOf(OddFleet(), "1").next.starts_with("Keep the odd nodes out"));
}

TEST(FleetSchema, DescribesExactlyWhatIsWritten) {
  const Json schema = FleetSchema();
  const FingerprintBuilder odd = SampleStack().Probe("math_bits", "math").Bits("expf", "odd");
  const Fleet fleet = CompareFleet({{"a", SampleStack().Parse()},
                                    {"b", SampleStack().Parse()},
                                    {"c", odd.Parse()},
                                    {"d", FingerprintBuilder().Parse()}});
  EXPECT_EQ(fleet.odd.size(), 1U);
  EXPECT_EQ(fleet.unusable.size(), 1U);
  Validator(schema).Check(ToJson(fleet), schema, "$");
  const Json apart = ToJson(OddFleet());
  Validator(schema).Check(apart, schema, "$");
  EXPECT_EQ(apart.Find("odd")->AsArray()[0].Find("facts")->AsArray().size(), 1U);
  Validator(schema).Check(ToJson(CompareFleet({})), schema, "$");
}

}  // namespace
}  // namespace rharness
