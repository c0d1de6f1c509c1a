// A drill's families in every format, and back from report.json.
#include "reports/families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/metrics.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/sample_report.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

FamilyComparison FamilyOf(Verdict verdict, std::string name) {
  MetricDecision metric{.name = "val_loss", .history = {1.2, 1.3}, .reruns = {1.2, 1.3}};
  metric.pairs = 24;
  metric.reruns[0] += 6e-8;
  metric.difference = 6e-8;
  metric.standard_deviation = 3e-7;
  metric.standard_error = 6e-8;
  metric.seed_deviation = 0.0282;
  metric.ci_low = -4e-8;
  metric.ci_high = 1.6e-7;
  metric.margin = 0.01;
  return {.name = name,
          .family = name,
          .verdict = verdict,
          .headline = "val_loss of the family, in a sentence",
          .runs = {"mlp-1", "mlp-2", "mlp-3"},
          .metrics = {metric}};
}

Report WithFamily(Verdict verdict) {
  Report report = LargeReport(3, 0);
  report.families = {FamilyOf(verdict, "mlp")};
  Tally(&report);
  return report;
}

TEST(Families, AreInEveryFormat) {
  const Report report = WithFamily(Verdict::kEquivalent);
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_THAT(WriteTerminal(DocumentOf(report, true), 100, false),
              HasSubstr("≈ family mlp, 3 runs: equivalent: val_loss of the family"));
  EXPECT_THAT(WriteTerminal(DocumentOf(report), 100, false),
              HasSubstr("The family mlp is equivalent."));
  EXPECT_THAT(WriteMarkdown(DocumentOf(report)), HasSubstr("### Families"));
  EXPECT_THAT(WriteMarkdown(DocumentOf(report)), HasSubstr("3e-07, of seeds 0.0282"));
  EXPECT_THAT(WriteJunit(DocumentOf(report)), HasSubstr("name=\"the family mlp together\""));
  EXPECT_THAT(WriteMetrics(report), HasSubstr("verdict=\"equivalent\"} 1"));
  const std::string page = WriteHtml(DocumentOf(report));
  EXPECT_THAT(page, HasSubstr("<h2>Families</h2>"));
  EXPECT_THAT(page, HasSubstr("val_loss of the family, in a sentence"));
  EXPECT_LT(page.find("<h2>Families</h2>"), page.find("<h2>Runs</h2>"));
  EXPECT_EQ(CheckHtml(page).error, "");
}

// A test has floors where nothing moved; they are not shown as if they had been measured.
TEST(Families, ThatAreEqualThroughoutShowNoShiftAndNoSpread) {
  Report report = WithFamily(Verdict::kIdentical);
  MetricDecision& metric = report.families[0].metrics[0];
  metric.history = metric.reruns = {0.5, 0.25, 0.75};
  EXPECT_EQ(ShiftOf(metric), "none, each is equal to its record");
  EXPECT_EQ(SpreadOf(metric), "none, of seeds 0.0282");
  metric.reruns[1] += 1e-6;
  EXPECT_THAT(ShiftOf(metric), HasSubstr("[-4e-08, 1.6e-07]"));
}

TEST(Families, SurviveTheJsonForm) {
  Report report = WithFamily(Verdict::kInconclusive);
  report.families[0].more_runs = 14;
  report.families[0].apart = {"mlp-2"};
  const Result<Report> again = ParseReport(ToJson(report), "report.json");
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  ASSERT_EQ(again->families.size(), 1U);
  EXPECT_EQ(again->families[0].more_runs, 14);
  EXPECT_EQ(again->families[0].metrics[0].seed_deviation, 0.0282);
  EXPECT_EQ(ToJson(*again).Dump(), ToJson(report).Dump());
  EXPECT_EQ(WriteHtml(DocumentOf(*again)), WriteHtml(DocumentOf(report)));
}

TEST(Families, CountForTheExitCode) {
  EXPECT_EQ(WithFamily(Verdict::kDrifted).exit_code, 1);
  EXPECT_EQ(WithFamily(Verdict::kInconclusive).exit_code, 3);
  Report report = WithFamily(Verdict::kDrifted);
  report.exit_code = 0;
  EXPECT_FALSE(ParseReport(ToJson(report), "report.json").ok());
}

TEST(Families, AreAskedForRunsOfOtherSeedsAndNotForReruns) {
  Report report = WithFamily(Verdict::kInconclusive);
  report.families[0].more_runs = 14;
  EXPECT_THAT(FamilyNextStep(report), HasSubstr("Drill 14 more runs of mlp with other seeds"));
  EXPECT_THAT(WriteTerminal(DocumentOf(report), 200, false), HasSubstr("Next: Drill 14 more runs"));
  EXPECT_THAT(WriteTerminal(DocumentOf(report), 200, false), Not(HasSubstr("--reruns")));
}

TEST(Families, OfStrangersAreShownAsTheyAre) {
  Report report = WithFamily(Verdict::kEquivalent);
  report.families[0].name = "<script>|`\x1b[2J";
  report.families[0].headline = "<b>&";
  EXPECT_EQ(CheckHtml(WriteHtml(DocumentOf(report))).error, "");
  EXPECT_THAT(WriteHtml(DocumentOf(report)), Not(HasSubstr("<script>|")));
  EXPECT_THAT(WriteTerminal(DocumentOf(report), 100, false), Not(HasSubstr("\x1b")));
}

TEST(Families, AreAbsentWhereThereAreNone) {
  Report report = LargeReport(3, 0);
  EXPECT_THAT(WriteHtml(DocumentOf(report)), Not(HasSubstr("Families</h2>")));
  EXPECT_THAT(WriteMarkdown(DocumentOf(report)), Not(HasSubstr("### Families")));
  EXPECT_EQ(FamilyAnswer(report), "");
}

TEST(Families, ThatDriftedNameWhatAllOfThemHaveInCommon) {
  Report report = WithFamily(Verdict::kDrifted);
  report.families[0].causes = {{"library_changed",
                                Layer::kEnvironment,
                                Strength::kLikely,
                                "Libraries <changed>.",
                                {"numpy: 1 in A, 2 in B", "scipy"},
                                "rerun with A's"}};
  EXPECT_THAT(
      FamilyNextStep(report),
      HasSubstr("in all of them: Libraries <changed>. (numpy: 1 in A, 2 in B, and 1 more)"));
  EXPECT_THAT(WriteHtml(DocumentOf(report)), HasSubstr("Libraries &lt;changed&gt;."));
  EXPECT_EQ(CheckHtml(WriteHtml(DocumentOf(report))).error, "");
  EXPECT_THAT(WriteJunit(DocumentOf(report)), HasSubstr("likely cause in all runs that moved"));
  const Result<Report> again = ParseReport(ToJson(report), "report.json");
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(ToJson(*again).Dump(), ToJson(report).Dump());
}

}  // namespace
}  // namespace rharness
