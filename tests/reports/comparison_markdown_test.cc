// The step summary of a comparison: complete, below GitHub's limit, inert with hostile text.
#include <gtest/gtest.h>

#include "reports/comparison_report.h"
#include "tests/reports/hostile.h"
#include "tests/reports/sample_comparison.h"
#include "tests/reports/text_parts.h"

namespace rharness {
namespace {

TEST(ComparisonMarkdown, OpensWithTheAnswerAndGoesOnToItsReasons) {
  const std::string text = WriteMarkdown(DocumentOf(RichComparison()));
  EXPECT_TRUE(text.starts_with(
      "## ✗ drifted — lm loss leaves its band at step 1010, and 28 of 290 tensors differ.\n"));
  EXPECT_TRUE(Contains(text, "- likely, environment: Another cuBLAS"));
  EXPECT_TRUE(Contains(text, "  - To confirm: <code>rharness probe diff "));
  EXPECT_TRUE(Contains(text,
                       "| <code>library.cublas</code> | environment | context | "
                       "<code>13.0.2.14</code> | <code>13.1.0.3</code> |"));
  EXPECT_TRUE(Contains(text, "- ✗ weights model.safetensors: 28 of 290 tensors differ"));
  EXPECT_TRUE(Contains(text, "| <code>lm loss</code> | loss | ✗ beyond its band |"));
  EXPECT_TRUE(Contains(text, "n = 6, k = 4, power 0.91"));
  EXPECT_TRUE(Contains(text, "exit code 1"));
}

TEST(ComparisonMarkdown, OfASetItListsThePairsAndFoldsDetails) {
  const std::string text = WriteMarkdown(DocumentOf(PairsComparison(95)));
  EXPECT_TRUE(Contains(text, "## 2 of 95 pairs drifted."));
  EXPECT_TRUE(Contains(text, "✗ drifted **2**"));
  EXPECT_TRUE(Contains(text, "| gpt3-weekly-dgx-h100-40 | ✗ drifted |"));
  EXPECT_TRUE(Contains(text, "| library changed | 2 of 8 | environment |"));
  std::size_t details = 0;
  for (std::size_t at = 0; (at = text.find("<details>", at)) != std::string::npos; ++at) ++details;
  EXPECT_EQ(details, 8U);
}

TEST(ComparisonMarkdown, StaysBelowTheLimitOfAStepSummary) {
  const std::string text = WriteMarkdown(DocumentOf(LargeComparison(1'000)));
  EXPECT_LT(text.size(), 1'048'576U);
  EXPECT_TRUE(Contains(text, "more rows are in comparison.json._"));
  EXPECT_LT(WriteMarkdown(DocumentOf(CrowdedComparison(3'000))).size(), 1'048'576U);
}

TEST(ComparisonMarkdown, HostileTextBecomesNoMarkup) {
  for (const std::string& text : HostileTexts()) {
    for (const ComparisonSet& set : {HostileComparison(text), HostilePairs(text)}) {
      const std::string out = WriteMarkdown(DocumentOf(set));
      EXPECT_LT(out.size(), 1'048'576U);
      for (const char* markup :
           {"<script", "<img", "\x1b", "\u202E", "@everyone", " #123", "://"}) {
        EXPECT_FALSE(Contains(out, markup)) << markup;
      }
    }
  }
}

}  // namespace
}  // namespace rharness
