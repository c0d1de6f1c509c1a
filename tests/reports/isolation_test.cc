// A search for a cause in every format: nothing acts, nothing grows without bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "harness/base/json.h"
#include "reports/isolation_report.h"
#include "reports/schemas.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

IsolationReport Sample(int axes, int trials) {
  IsolationReport report{.run_id = "run",
                         .end = IsolationEnd::kNamed,
                         .headline = "A makes run drift",
                         .next = "set it back"};
  for (int i = 0; i < axes; ++i) {
    report.axes.push_back({.name = "env:A" + std::to_string(i), .recorded = "0", .drifted = "1"});
  }
  if (axes > 0) report.axes[0].cause = {1};
  for (int i = 0; i < trials; ++i) {
    report.trials.push_back(
        {.number = i + 1,
         .purpose = TrialPurpose::kSearch,
         .at = std::vector<int>(static_cast<std::size_t>(axes), i % 2),
         .answer = i % 2 == 1 ? TrialAnswer::kReproduces : TrialAnswer::kDoesNot,
         .seen = "metric m down",
         .evidence = "runs/run/" + std::to_string(i + 1)});
  }
  report.exit_code = 0;
  return report;
}

TEST(IsolationPage, ShowsTheSearchAndNoScript) {
  const std::string page = WriteHtml(DocumentOf(Sample(5, 7)));
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_THAT(page, HasSubstr("A makes run drift"));
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, HasSubstr("./runs/run/3/evidence.json"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST(IsolationPage, TellsLongNamesOfTheSearchApartAndHasRoomForThem) {
  IsolationReport report = Sample(2, 1);
  const std::string shared = "env:TRAINING_PIPELINE_WITH_A_LONG_NAME_";
  report.axes[0].name = shared + "OPTIMIZER_FUSED";
  report.axes[1].name = shared + "SCHEDULER_FUSED";
  const std::string drawing = SvgSearch(report, "s");
  EXPECT_THAT(drawing, HasSubstr("OPTIMIZER_FUSED<title>"));
  EXPECT_THAT(drawing, HasSubstr("SCHEDULER_FUSED<title>"));
  double width = 0.0;
  double height = 0.0;
  const auto at = drawing.find("viewBox=\"0 0 ");
  ASSERT_NE(at, drawing.npos);
  ASSERT_EQ(std::sscanf(drawing.c_str() + at, "viewBox=\"0 0 %lf %lf\"", &width, &height), 2);
  // 44 bold capitals of DejaVu Sans at 12 units are up to 370 long, and stand at 60 degrees.
  EXPECT_GE(height, 320.0);
}

TEST(IsolationPage, SaysHowSureTheAnswerIsAndWhy) {
  IsolationReport report = Sample(2, 4);
  EXPECT_THAT(Sureness(report), HasSubstr("reruns of one setting are equal"));
  report.bits = true;  // nobody saw two reruns of one setting
  EXPECT_THAT(Sureness(report), HasSubstr("every bit counts"));
  report.exact = false;
  report.wrong = 0.125;
  report.error_bound = 0.0421;
  EXPECT_THAT(Sureness(report), HasSubstr("12.5 % of cases"));
  EXPECT_THAT(WriteHtml(DocumentOf(report)), HasSubstr("at most 4.2 %"));
  EXPECT_THAT(WriteTerminal(DocumentOf(report), 200, false), HasSubstr("at most 4.2 %"));
  report.end = IsolationEnd::kUndecided;
  EXPECT_EQ(Sureness(report), "");
}

TEST(IsolationPage, TextOfStrangersOnlyShows) {
  IsolationReport report = Sample(3, 4);
  const std::string hostile = "<script>alert(1)</script>\x1b[31m\n\"'&\xff\u202e";
  report.headline = report.next = report.mitigation = report.run_id = hostile;
  report.target = report.branches = report.notes = report.shown_by = report.possible = {hostile};
  report.axes[1].name = report.axes[1].recorded = report.axes[1].drifted = hostile;
  report.axes[2].cannot_be_set = hostile;
  for (IsolationTrial& trial : report.trials) {
    trial.at.pop_back();
    trial.seen = hostile;
    trial.evidence = "../../" + hostile;
  }
  const std::string page = WriteHtml(DocumentOf(report));
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, Not(HasSubstr("\u202e")));
  EXPECT_THAT(page, Not(HasSubstr("\"../../")));
  const std::string text = WriteTerminal(DocumentOf(report), 100, false);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\u202e")));
  EXPECT_TRUE(ParseJson(ToJson(report).Dump(2), "isolation.json").ok());
}

TEST(IsolationPage, StaysSmallForManyAxesAndReruns) {
  const IsolationReport report = Sample(10000, 600);
  const std::string page = WriteHtml(DocumentOf(report));
  EXPECT_LT(page.size(), 4'900'000U);
  EXPECT_THAT(page, HasSubstr("isolation.json"));
  EXPECT_LT(WriteTerminal(DocumentOf(report), 100, false).size(), 60'000U);
  EXPECT_LT(SvgSearch(report, "s").size(), 4'000'000U);
}

TEST(IsolationSchema, DescribesExactlyWhatIsWritten) {
  const Json schema = IsolationSchema();
  IsolationReport rich = Sample(3, 4);
  rich.causes = {{"env:A0", "env:A1"}};
  rich.target = rich.shown_by = rich.branches = rich.possible = rich.notes = {"one"};
  rich.axes[0].set_back = true;
  rich.axes[2].cannot_be_set = "is not to be had";
  rich.trials[0].purpose = TrialPurpose::kAllChanged;
  rich.trials[1].answer = TrialAnswer::kSkipped;
  for (const IsolationReport& each : {rich, Sample(0, 0)}) {
    Validator(schema).Check(ToJson(each), schema, "$");
  }
}

TEST(IsolationPage, ASearchWithoutRerunsOrAxesIsNotDrawn) {
  EXPECT_EQ(SvgSearch(Sample(4, 0), "s"), "");
  EXPECT_EQ(SvgSearch(Sample(0, 3), "s"), "");
  EXPECT_THAT(WriteHtml(DocumentOf(Sample(0, 0))), Not(HasSubstr("<svg")));
}

}  // namespace
}  // namespace rharness
