// Runs that one change moved, in every format of a drill, and back from report.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/metrics.h"
#include "reports/model.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/sample_report.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kNote[] = "11 of 12 runs of mlp that differ moved up";

Report WithSiblings() {
  Report report = LargeReport(3, 0);
  report.siblings = {{.name = "mlp",
                      .pairs = 12,
                      .up = 11,
                      .down = 1,
                      .middle = 0.81,
                      .middle_shift = 0.0023,
                      .room = 1.0,
                      .note = kNote},
                     {.name = "gpt with <dropout>", .pairs = 20, .up = 9, .down = 11}};
  report.notes = NotesOf(report.siblings);
  Tally(&report);
  return report;
}

TEST(SiblingsInAReport, AreInEveryFormat) {
  const Report report = WithSiblings();
  const std::string page = WriteHtml(DocumentOf(report));
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_THAT(page, HasSubstr("<h2>Siblings</h2>"));
  EXPECT_THAT(page, HasSubstr("gpt with &lt;dropout&gt;"));
  EXPECT_THAT(page, HasSubstr(kNote));
  EXPECT_THAT(WriteMarkdown(DocumentOf(report)),
              HasSubstr("| mlp | 12 | 11 up, 1 down | +0.23 % | 0.81 | 1 |"));
  EXPECT_THAT(WriteMarkdown(DocumentOf(report)), HasSubstr(kNote));
  EXPECT_THAT(WriteTerminal(DocumentOf(report), 100, false), HasSubstr(kNote));
  EXPECT_THAT(WriteJunit(DocumentOf(report)), HasSubstr(kNote));
  const std::string metrics = WriteMetrics(report);
  EXPECT_THAT(metrics, testing::ContainsRegex("rharness_sibling_groups[{][^}]*[}] 2"));
  EXPECT_THAT(metrics, testing::ContainsRegex("rharness_sibling_groups_one_way[{][^}]*[}] 1"));
}

TEST(SiblingsInAReport, SurviveTheJsonForm) {
  const Report report = WithSiblings();
  const Result<Report> again = ParseReport(ToJson(report), "report.json");
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(ToJson(*again).Dump(), ToJson(report).Dump());
  EXPECT_EQ(WriteHtml(DocumentOf(*again)), WriteHtml(DocumentOf(report)));
}

TEST(SiblingsInAReport, AreAbsentWhereThereAreNone) {
  const Report report = LargeReport(3, 0);
  EXPECT_THAT(WriteHtml(DocumentOf(report)), Not(HasSubstr("Siblings</h2>")));
  EXPECT_THAT(WriteMarkdown(DocumentOf(report)), Not(HasSubstr("### Siblings")));
}

}  // namespace
}  // namespace rharness
