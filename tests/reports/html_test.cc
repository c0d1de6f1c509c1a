// The page: well-formed, closed to the outside, and safe with hostile text.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "reports/html_escape.h"
#include "reports/model.h"
#include "tests/reports/hostile.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/sample_report.h"
#include "tests/reports/text_parts.h"

namespace rharness {
namespace {

TEST(HtmlEscape, EscapesEverythingThatHtmlGivesAMeaning) {
  EXPECT_EQ(HtmlText("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
}

TEST(HtmlEscape, AWordWithAHyphenIsKeptOnOneLine) {
  EXPECT_EQ(HtmlWords("python3 -m train --seed 7"),
            "python3 <span class=\"w\">-m</span> train <span class=\"w\">--seed</span> 7");
  EXPECT_EQ(HtmlWords("a  <-b> "), "a  <span class=\"w\">&lt;-b&gt;</span> ");
  EXPECT_EQ(HtmlWords("plain & simple"), "plain &amp; simple");
  EXPECT_EQ(HtmlWords(""), "");
  EXPECT_EQ(HtmlWords("\x1b\xff"), HtmlText("\x1b\xff"));
  EXPECT_EQ(HtmlWords(std::string(50, 'a') + "-", 20), HtmlText(std::string(50, 'a') + "-", 20));
}

TEST(HtmlEscape, LinksStayBelowThePageAndSpellNoScheme) {
  EXPECT_EQ(RelativeHref("runs/a b/1"), "./runs/a%20b/1");
  EXPECT_EQ(RelativeHref("javascript:alert(1)"), "./javascript%3Aalert%281%29");
  EXPECT_EQ(RelativeHref("../secret"), "");
  EXPECT_EQ(RelativeHref("/etc/passwd"), "");
  EXPECT_EQ(RelativeHref(""), "");
}

TEST(HtmlEscape, SpellsAPolicyHashInBase64) {
  // printf '' | sha256sum, and the same digest through `openssl base64`.
  EXPECT_EQ(CspHash("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

TEST(Html, IsWellFormedWithUniqueIds) {
  const HtmlFacts facts = CheckHtml(WriteHtml(DocumentOf(SampleReport())));
  EXPECT_EQ(facts.error, "");
  EXPECT_EQ(std::set<std::string>(facts.ids.begin(), facts.ids.end()).size(), facts.ids.size());
  EXPECT_EQ(facts.elements.at("main"), 1);
  EXPECT_EQ(facts.elements.at("h1"), 1);
}

TEST(Html, EveryInternalLinkHasItsTarget) {
  const HtmlFacts facts = CheckHtml(WriteHtml(DocumentOf(SampleReport())));
  int internal = 0;
  for (const std::string& href : facts.hrefs) {
    if (!href.starts_with("#")) continue;
    ++internal;
    EXPECT_EQ(std::count(facts.ids.begin(), facts.ids.end(), href.substr(1)), 1) << href;
  }
  EXPECT_EQ(internal, 8);  // the skip link and one a verdict
}

TEST(Html, OpensWithTheAnswerAndShowsEveryVerdictInWords) {
  const HtmlFacts facts = CheckHtml(WriteHtml(DocumentOf(SampleReport())));
  EXPECT_TRUE(Contains(facts.text, "3 of 12 runs drifted."));
  for (const char* label : {"✓ identical", "≈ equivalent", "✗ drifted", "? inconclusive",
                            "≠ not comparable", "! failed", "∅ infra"}) {
    EXPECT_TRUE(Contains(facts.text, label)) << label;
  }
}

TEST(Html, ShowsTheNumbersOfADecisionAndItsPicture) {
  const std::string html = WriteHtml(DocumentOf(SampleReport()));
  const HtmlFacts facts = CheckHtml(html);
  // Two metrics on each of the equivalent run and the two shifted ones, one on the inconclusive;
  // the curve of the run that breaks its promise, and how far it is apart.
  EXPECT_EQ(facts.elements.at("svg"), 9);
  EXPECT_TRUE(Contains(facts.text, "0.06133 nats per token"));
  EXPECT_TRUE(Contains(facts.text, "n = 6, mean 3.41233"));
  EXPECT_TRUE(Contains(facts.text, "2, for a decision with 80 % probability"));
  EXPECT_TRUE(Contains(facts.text, "88,213 of 101,770"));
}

TEST(Html, ExplainsAndDrawsARunAsAComparisonIs) {
  const HtmlFacts facts = CheckHtml(WriteHtml(DocumentOf(SampleReport())));
  EXPECT_TRUE(Contains(facts.text, "Causes, the most suspicious first"));
  EXPECT_TRUE(Contains(facts.text, "The driver changed between the recording and now."));
  EXPECT_TRUE(Contains(facts.text, "Recorded (A) is the broad line, Now (B) the thin dashed one"));
  EXPECT_EQ(std::ranges::count(facts.hrefs, "./runs/seed-3/comparison.html"), 1);
  EXPECT_TRUE(Contains(facts.text, "stderr"));
}

TEST(Html, ReachesNothingOutsideItself) {
  const std::string html = WriteHtml(DocumentOf(SampleReport()));
  for (const char* reach : {"http://", "https://", "src=", "@import", "url(", "<link", "<iframe"}) {
    EXPECT_FALSE(Contains(html, reach)) << reach;
  }
  EXPECT_TRUE(Contains(html, "default-src 'none'"));
  EXPECT_FALSE(Contains(html, "unsafe-inline"));
}

TEST(Html, KeepsHostileTextAsText) {
  const HtmlFacts plain = CheckHtml(WriteHtml(DocumentOf(HostileReport("x"))));
  for (const std::string& text : HostileTexts()) {
    const HtmlFacts facts = CheckHtml(WriteHtml(DocumentOf(HostileReport(text))));
    EXPECT_EQ(facts.error, "");
    EXPECT_EQ(facts.elements.at("script"), 1);
    EXPECT_FALSE(facts.elements.contains("img"));
    for (const std::string& href : facts.hrefs) {
      EXPECT_TRUE(href.starts_with("#") || href.starts_with("./")) << href;
      EXPECT_FALSE(Contains(href, "..")) << href;
    }
    for (const std::string& name : facts.attribute_names) EXPECT_FALSE(name.starts_with("on"));
    EXPECT_FALSE(Contains(facts.text, "\x1b"));
    EXPECT_FALSE(Contains(facts.text, "\u202E"));
    EXPECT_LT(facts.text.size(), 1'000'000U);
    EXPECT_EQ(facts.elements.at("tbody"), plain.elements.at("tbody"));
  }
}

TEST(Html, SaysThatNothingWasSelected) {
  const std::string html = WriteHtml(DocumentOf(EmptyReport()));
  const HtmlFacts facts = CheckHtml(html);
  EXPECT_EQ(facts.error, "");
  EXPECT_TRUE(Contains(facts.text, "No runs were selected"));
  EXPECT_FALSE(facts.elements.contains("script"));
}

TEST(Html, SaysThatTheBudgetLeftOutAllThatWasSelected) {
  Report report = EmptyReport();
  report.left_out = {"slow-1"};
  const HtmlFacts facts = CheckHtml(WriteHtml(DocumentOf(report)));
  EXPECT_FALSE(Contains(facts.text, "No runs were selected"));
  EXPECT_TRUE(Contains(facts.text, "No selected run was rerun"));
}

TEST(Html, TenThousandRunsStayBelowFiveMegabytes) {
  for (const int drifted_every : {0, 50, 1}) {
    const std::string html = WriteHtml(DocumentOf(LargeReport(10'000, drifted_every)));
    EXPECT_LE(html.size(), 5'000'000U) << drifted_every;
    EXPECT_TRUE(Contains(html, "are left out to keep this page small")) << drifted_every;
  }
}

TEST(Html, AnIndexRowTakesAtMostFiveHundredBytes) {
  const std::size_t ten = WriteHtml(DocumentOf(LargeReport(1'000, 0))).size();
  const std::size_t twenty = WriteHtml(DocumentOf(LargeReport(2'000, 0))).size();
  EXPECT_LE((twenty - ten) / 1'000, 500U);
}

TEST(Html, ALargeDrillKeepsTheDetailsOfWhatDrifted) {
  const HtmlFacts facts = CheckHtml(WriteHtml(DocumentOf(LargeReport(1'000, 100))));
  EXPECT_EQ(facts.error, "");
  EXPECT_EQ(facts.elements.at("details"), 21)
      << "of each its row, and the list of its tensors; and how outputs were compared";
}

}  // namespace
}  // namespace rharness
