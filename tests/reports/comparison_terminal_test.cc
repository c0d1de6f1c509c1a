// A comparison on one screen: rows, columns, what comes first and what is counted.
#include <gtest/gtest.h>

#include <sstream>

#include "reports/comparison_report.h"
#include "reports/comparison_summary.h"
#include "reports/text.h"
#include "tests/reports/hostile.h"
#include "tests/reports/sample_comparison.h"
#include "tests/reports/text_parts.h"

namespace rharness {
namespace {

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(ComparisonTerminal, FitsEveryScreen) {
  const std::vector<ComparisonSet> sets = {RichComparison(),         IdenticalComparison(),
                                           InconclusiveComparison(), EmptyComparison(),
                                           PairsComparison(95),      CrowdedComparison(300)};
  for (const ComparisonSet& set : sets) {
    for (const int rows : {2, 3, 5, 10, 16, 24, 50}) {
      for (const int columns : {40, 60, 80, 120, 300}) {
        const auto lines = LinesOf(WriteTerminal(DocumentOf(set), columns, false, rows));
        EXPECT_LE(lines.size(), static_cast<std::size_t>(rows)) << set.title << " " << columns;
        for (const std::string& line : lines) EXPECT_LE(DisplayWidth(line), columns) << line;
      }
    }
  }
}

TEST(ComparisonTerminal, CountsThePairsThatAgree) {
  ComparisonSet set = PairsComparison(2);
  for (Comparison& one : set.comparisons) one.verdict = Verdict::kEquivalent;
  EXPECT_NE(
      WriteTerminal(DocumentOf(set), 100, false, 30).find("agree: 0 identical, 2 equivalent."),
      std::string::npos);
  set.comparisons.resize(1);
  EXPECT_EQ(Summarize(set).answer, "The one pair agrees: 0 identical, 1 equivalent.");
}

TEST(ComparisonTerminal, SaysWhatWasRecordedOfAFactAndNoLimit) {
  ComparisonSet set = IdenticalComparison();
  Comparison& comparison = set.comparisons.front();
  comparison.verdict = Verdict::kNotComparable;
  comparison.headline = "seed.init is not the same on both sides";
  comparison.findings = {{.code = "randomness_differs",
                          .layer = Layer::kRandomness,
                          .subject = "seed.init",
                          .observed = "2",
                          .limit = "1",
                          .rule = "data, code, image and seeds must be the same",
                          .message = comparison.headline,
                          .decisive = true}};
  const std::string words =
      "rule: data, code, image and seeds must be the same (observed 2; recorded 1)";
  EXPECT_TRUE(Contains(WriteTerminal(DocumentOf(set), 120, false, 50), words));
  EXPECT_TRUE(Contains(WriteMarkdown(DocumentOf(set)), "| Limit or record |"));
  EXPECT_TRUE(Contains(WriteJunit(DocumentOf(set)), words));
  for (const std::string& text : {WriteTerminal(DocumentOf(set), 120, false, 50),
                                  WriteMarkdown(DocumentOf(set)), WriteJunit(DocumentOf(set))}) {
    EXPECT_FALSE(Contains(text, "imit 1") || Contains(text, "imit <code>1")) << text;
  }
}

TEST(ComparisonTerminal, OpensWithTheVerdictAndTheHeadline) {
  const auto lines = LinesOf(WriteTerminal(DocumentOf(RichComparison()), 100, false, 40));
  EXPECT_EQ(lines[0], "✗ drifted  runs/2026-08-14/seed-3 against runs/2026-11-20/seed-3");
  EXPECT_EQ(lines[1], "lm loss leaves its band at step 1010, and 28 of 290 tensors differ.");
  EXPECT_TRUE(lines[2].starts_with("findings ✗ curve_beyond: lm loss is further apart"))
      << lines[2];
}

TEST(ComparisonTerminal, ShowsThreeCausesWithTheirCommandsAndCountsTheRest) {
  const std::string text = WriteTerminal(DocumentOf(RichComparison()), 100, false, 50);
  EXPECT_TRUE(Contains(text, "→ rharness probe diff runs/a/fingerprint.json"));
  EXPECT_TRUE(Contains(text, "possible, environment: The driver differs."));
  EXPECT_FALSE(Contains(text, "The run went to another node."));
  EXPECT_TRUE(Contains(text, "… and 1 more cause\n"));
}

TEST(ComparisonTerminal, SaysWhereWeightsDifferFirstAndHowFar) {
  const std::string text = WriteTerminal(DocumentOf(RichComparison()), 100, false, 50);
  EXPECT_TRUE(Contains(text, "first tensor model.layers.4.mlp.up_proj.weight[5]\n"));
  // 28 tensors of 7 bins up to 127 ULP; the farthest has 2e-7 exp(0.22 * 31) of distance.
  EXPECT_TRUE(Contains(text, "max abs 0.000183, max 127 ULP\n"));
  EXPECT_TRUE(Contains(text, " 2^6\n"));
  // Layers 0 to 3 are equal.
  EXPECT_TRUE(Contains(text, "layers ····▂"));
}

TEST(ComparisonTerminal, ListsDecidingCurvesAndCountsTheOthers) {
  const std::string text = WriteTerminal(DocumentOf(RichComparison()), 100, false, 50);
  EXPECT_TRUE(Contains(text, "curves   ✗ lm loss: "));
  EXPECT_TRUE(Contains(text, "… and 3 more curves\n"));
  EXPECT_FALSE(Contains(text, "iteration-time"));
}

TEST(ComparisonTerminal, ShowsLayersOnlyWhereTheyDifferClassFactsFirst) {
  const std::string text = WriteTerminal(DocumentOf(RichComparison()), 100, false, 50);
  const std::size_t hardware = text.find("≠ hardware");
  const std::size_t environment = text.find("≠ environment");
  ASSERT_NE(hardware, std::string::npos);
  EXPECT_LT(hardware, environment);
  EXPECT_TRUE(Contains(text, "library.cublas: 13.0.2.14 → 13.1.0.3\n"));
  EXPECT_TRUE(Contains(text, "17 → (absent)"));
  EXPECT_FALSE(Contains(text, "code"));
}

TEST(ComparisonTerminal, ASmallScreenKeepsTheFirstFindingAndTheFirstCause) {
  const std::string text = WriteTerminal(DocumentOf(CrowdedComparison(300)), 80, false, 16);
  EXPECT_TRUE(Contains(text, "findings ✗ curve_beyond: lm loss is further apart"));
  EXPECT_TRUE(Contains(text, "causes   likely, environment: Another cuBLAS"));
  EXPECT_TRUE(Contains(text, "… and 303 more causes"));
}

TEST(ComparisonTerminal, SaysWhatToDoWhereNoCauseIsKnown) {
  EXPECT_TRUE(Contains(WriteTerminal(DocumentOf(InconclusiveComparison()), 100, false, 24),
                       "next     Provide"));
  EXPECT_FALSE(Contains(WriteTerminal(DocumentOf(IdenticalComparison()), 100, false, 24), "next"));
}

TEST(ComparisonTerminal, OfASetTheWorstPairsAreListedAndTheRestCounted) {
  const auto lines = LinesOf(WriteTerminal(DocumentOf(PairsComparison(95)), 100, false, 24));
  EXPECT_EQ(lines[0], "2 of 95 pairs drifted.");
  const std::string text = WriteTerminal(DocumentOf(PairsComparison(95)), 100, false, 24);
  EXPECT_TRUE(Contains(
      text, "\n5 identical, 82 equivalent, 2 drifted, 5 inconclusive, 1 not comparable\n"));
  EXPECT_TRUE(Contains(text, "\n  gpt3-weekly-dgx-h100-40  ✗ drifted         lm loss leaves"));
  EXPECT_TRUE(Contains(text, "\n  gpt3-weekly-dgx-h100-71  ? inconclusive    lm loss differs"));
  EXPECT_TRUE(Contains(text, "and 87 more (5 identical, 82 equivalent), in comparison.json\n"));
  ComparisonSet same = PairsComparison(95);
  for (Comparison& pair : same.comparisons) {
    if (pair.verdict != Verdict::kDrifted) pair.verdict = Verdict::kEquivalent;
  }
  TallySample(&same);
  EXPECT_TRUE(
      Contains(WriteTerminal(DocumentOf(same), 100, false, 24), "and 93 more (93 equivalent), in"));
}

TEST(ComparisonTerminal, ColoursAreOptionalAndAllThatColouringAdds) {
  for (const ComparisonSet& set : {RichComparison(), PairsComparison(95)}) {
    const std::string plain = WriteTerminal(DocumentOf(set), 100, false, 40);
    const std::string coloured = WriteTerminal(DocumentOf(set), 100, true, 40);
    EXPECT_FALSE(Contains(plain, "\x1b"));
    EXPECT_TRUE(Contains(coloured, "\x1b[1;31m✗ drifted") ||
                Contains(coloured, "\x1b[1;31m  gpt3-weekly-dgx-h100-40  ✗ drifted"));
    EXPECT_EQ(SafeText(coloured, 100'000, Lines::kKeep), plain);  // SafeText drops colours
  }
}

TEST(ComparisonTerminal, HostileTextMovesNoCursorAndFits) {
  for (const std::string& text : HostileTexts()) {
    for (const ComparisonSet& set : {HostileComparison(text), HostilePairs(text)}) {
      const std::string out = WriteTerminal(DocumentOf(set), 80, false, 40);
      for (const char c : out) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
      EXPECT_FALSE(Contains(out, "\u202E"));
      for (const std::string& line : LinesOf(out)) EXPECT_LE(DisplayWidth(line), 80) << line;
      EXPECT_LE(LinesOf(out).size(), 40U);
    }
  }
}

}  // namespace
}  // namespace rharness
