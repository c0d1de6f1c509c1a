// The page of a comparison: well-formed, closed to the outside, small, and safe with hostile text.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "reports/comparison_report.h"
#include "tests/reports/hostile.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/sample_comparison.h"
#include "tests/reports/text_parts.h"

namespace rharness {
namespace {

std::vector<ComparisonSet> Samples() {
  return {RichComparison(),  IdenticalComparison(), InconclusiveComparison(),
          EmptyComparison(), PairsComparison(95),   CrowdedComparison(300)};
}

TEST(ComparisonHtml, IsWellFormedWithUniqueIdsAndNoDeadLinks) {
  for (const ComparisonSet& set : Samples()) {
    const HtmlFacts facts = CheckHtml(WriteHtml(DocumentOf(set)));
    EXPECT_EQ(facts.error, "") << set.title;
    EXPECT_EQ(std::set<std::string>(facts.ids.begin(), facts.ids.end()).size(), facts.ids.size());
    EXPECT_EQ(facts.elements.at("h1"), 1);
    for (const std::string& href : facts.hrefs) {
      ASSERT_TRUE(href.starts_with("#")) << href;
      EXPECT_EQ(std::count(facts.ids.begin(), facts.ids.end(), href.substr(1)), 1) << href;
    }
  }
}

TEST(ComparisonHtml, ReachesNothingOutsideItself) {
  for (const ComparisonSet& set : Samples()) {
    const std::string html = WriteHtml(DocumentOf(set));
    for (const char* reach : {"http://", "https://", "src=", "@import", "url(", "<link"}) {
      EXPECT_FALSE(Contains(html, reach)) << reach;
    }
    EXPECT_TRUE(Contains(html, "default-src 'none'"));
  }
}

TEST(ComparisonHtml, OpensWithTheAnswerAndTheLikelyCause) {
  const std::string html = WriteHtml(DocumentOf(RichComparison()));
  EXPECT_TRUE(Contains(html,
                       "<h1>lm loss leaves its band at step 1010, and 28 of 290 tensors differ."
                       "</h1>"));
  const HtmlFacts facts = CheckHtml(html);
  EXPECT_LT(facts.text.find("Likely cause: Another cuBLAS"), facts.text.find("What was found"));
  EXPECT_LT(facts.text.find("What was found"), facts.text.find("Causes, the most suspicious"));
}

TEST(ComparisonHtml, KeepsItsHeadingToOneLineAndTheWholeAnswerBelowIt) {
  ComparisonSet set = RichComparison();
  set.comparisons[0].headline =
      "acc moved by -0.3; neither a shift nor equivalence is shown (how much runs differ among "
      "themselves is not known)";
  const std::string html = WriteHtml(DocumentOf(set));
  EXPECT_TRUE(Contains(html, "<h1>acc moved by -0.3</h1>"));
  EXPECT_TRUE(Contains(html, "themselves is not known)</p>"));
  set.comparisons[0].headline = std::string(40, 'a') + " " + std::string(80, 'b');
  EXPECT_TRUE(Contains(WriteHtml(DocumentOf(set)), "…</h1>"));
}

TEST(ComparisonHtml, OffersToCopyNothingButCommands) {
  ComparisonSet set = RichComparison();
  std::vector<Cause>& causes = set.comparisons[0].causes;
  causes.resize(1);
  causes[0].confirm = "git diff 1234 5678";
  EXPECT_TRUE(Contains(WriteHtml(DocumentOf(set)), "<pre class=\"cmd\">git diff 1234 5678</pre>"));
  causes[0].confirm = "run `rharness hash DATA` on both machines";
  EXPECT_EQ(CountOf(WriteHtml(DocumentOf(set)), "<pre class=\"cmd\">"), 0);
}

TEST(ComparisonHtml, ShowsCodesAsWords) {
  ComparisonSet set = RichComparison();
  set.comparisons[0].findings[0].code = "bits_differ_now";
  EXPECT_TRUE(Contains(WriteHtml(DocumentOf(set)), ">bits differ now</th>"));
}

TEST(ComparisonHtml, OffersCommandsToCopyAndLeavesAdviceAsText) {
  const std::string html = WriteHtml(DocumentOf(RichComparison()));
  EXPECT_TRUE(Contains(html, "<pre class=\"cmd\">rharness probe diff runs/a/fingerprint.json"));
  EXPECT_EQ(CountOf(html, "<pre class=\"cmd\">"), 2);
  EXPECT_TRUE(Contains(html, "data-l=\"To confirm\">Set the seed of the loader"));
}

TEST(ComparisonHtml, MarksOnlyTheWordsThatDiffer) {
  const std::string html = WriteHtml(DocumentOf(RichComparison()));
  EXPECT_TRUE(Contains(html, "<code class=\"name\">NVIDIA <mark>H100 80GB HBM3</mark></code>"));
  EXPECT_TRUE(Contains(html, "<code class=\"name\">NVIDIA <mark>H200</mark></code>"));
  EXPECT_TRUE(Contains(html, "<code class=\"name\">13.<mark>0.2.14</mark></code>"));
}

TEST(ComparisonHtml, ListsLayersThatDifferWithClassFactsFirst) {
  const std::string html = WriteHtml(DocumentOf(RichComparison()));
  EXPECT_LT(html.find("<span class=\"b\">hardware</span>"),
            html.find("<span class=\"b\">environment</span>"));
  EXPECT_FALSE(Contains(html, "<span class=\"b\">code</span>"));
  EXPECT_TRUE(Contains(html, "code: same (3 compared, 2 not observed)"));
}

TEST(ComparisonHtml, PicturesWhatDiffersWithTitlesAndDescriptions) {
  const std::string html = WriteHtml(DocumentOf(RichComparison()));
  const HtmlFacts facts = CheckHtml(html);
  // Histogram and strip of the weights; both pictures of lm loss and grad norm; two metrics.
  EXPECT_EQ(facts.elements.at("svg"), 8);
  EXPECT_EQ(facts.elements.at("desc"), 8);
  EXPECT_EQ(CountOf(html, "role=\"img\" aria-labelledby="), 8);
  EXPECT_TRUE(Contains(html, "first beyond 1010"));
}

TEST(ComparisonHtml, EveryColumnHeadSaysWhatItHeads) {
  for (const ComparisonSet& set : Samples()) {
    const std::string html = WriteHtml(DocumentOf(set));
    EXPECT_EQ(CountOf(html, "<th"), CountOf(html, "scope=\"") + CountOf(html, "<thead"));
  }
}

TEST(ComparisonHtml, ASetHasARowForEveryPairAndTheCausesTheyShare) {
  const std::string html = WriteHtml(DocumentOf(PairsComparison(95)));
  const HtmlFacts facts = CheckHtml(html);
  EXPECT_EQ(CountOf(html, "<tr class=\"d\">"), 95);
  EXPECT_TRUE(Contains(facts.text, "Causes that pairs share"));
  EXPECT_TRUE(Contains(facts.text, "2 of 8"));
  EXPECT_TRUE(Contains(html, "<option value=\"not_comparable\">"));
  EXPECT_LT(html.find("gpt3-weekly-dgx-h100-41"), html.find("gpt3-weekly-dgx-h100-50"));
}

TEST(ComparisonHtml, AThousandPairsStayBelowFiveMegabytes) {
  const std::string large = WriteHtml(DocumentOf(LargeComparison(1'000)));
  EXPECT_LE(large.size(), 5'000'000U);
  EXPECT_EQ(CheckHtml(large).error, "");
  EXPECT_TRUE(Contains(large, "of this pair are left out to keep this page small"));
  EXPECT_TRUE(Contains(large, "<svg"));
  const std::string pairs = WriteHtml(DocumentOf(PairsComparison(1'000)));
  EXPECT_LE(pairs.size(), 5'000'000U);
  EXPECT_EQ(CountOf(pairs, "<tr class=\"d\">"),
            8);  // those that neither are identical nor equivalent
}

TEST(ComparisonHtml, LongCurvesAreThinnedOnThePage) {
  ComparisonSet set = InconclusiveComparison();
  const std::size_t before = WriteHtml(DocumentOf(set)).size();
  CurveComparison& curve = set.comparisons[0].curves[0];
  curve.steps.clear();
  curve.a.clear();
  curve.b.clear();
  for (int i = 0; i < 100'000; ++i) {
    curve.steps.push_back(i);
    curve.a.push_back(1.0 + i % 7);
    curve.b.push_back(1.0 + i % 7 + (i == 77'777 ? 0.5 : 1e-7));
  }
  curve.differing = 100'000;
  const std::string html = WriteHtml(DocumentOf(set));
  EXPECT_LT(html.size(), before + 20'000);
  EXPECT_TRUE(Contains(html, "the largest distance of each stretch"));
}

TEST(ComparisonHtml, CrowdedComparisonsAreCutWithACount) {
  const std::string html = WriteHtml(DocumentOf(CrowdedComparison(3'000)));
  EXPECT_LT(html.size(), 400'000U);
  EXPECT_TRUE(Contains(html, "2,953 more are in comparison.json."));  // 3,003 findings, 50 shown
  EXPECT_TRUE(Contains(html, "2,978 more are in comparison.json."));  // 3,028 tensors, 50 shown
}

TEST(ComparisonHtml, KeepsHostileTextAsText) {
  const int bodies = CheckHtml(WriteHtml(DocumentOf(HostilePairs("x")))).elements.at("tbody");
  for (const std::string& text : HostileTexts()) {
    const HtmlFacts single = CheckHtml(WriteHtml(DocumentOf(HostileComparison(text))));
    const HtmlFacts pairs = CheckHtml(WriteHtml(DocumentOf(HostilePairs(text))));
    for (const HtmlFacts& facts : {single, pairs}) {
      EXPECT_EQ(facts.error, "");
      EXPECT_EQ(facts.elements.at("script"), 1);
      EXPECT_FALSE(facts.elements.contains("img"));
      for (const std::string& href : facts.hrefs) EXPECT_TRUE(href.starts_with("#")) << href;
      for (const std::string& name : facts.attribute_names) EXPECT_FALSE(name.starts_with("on"));
      EXPECT_FALSE(Contains(facts.text, "\x1b"));
      EXPECT_FALSE(Contains(facts.text, "\u202E"));
      EXPECT_LT(facts.text.size(), 2'000'000U);
    }
    EXPECT_EQ(pairs.elements.at("tbody"), bodies);
  }
}

TEST(ComparisonHtml, SaysThatThereWasNoPair) {
  const HtmlFacts facts = CheckHtml(WriteHtml(DocumentOf(EmptyComparison())));
  EXPECT_TRUE(Contains(facts.text, "Nothing was compared, so nothing was shown."));
  EXPECT_FALSE(facts.elements.contains("script"));
}

}  // namespace
}  // namespace rharness
