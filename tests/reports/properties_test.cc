// Properties in every format: what is lost stands out, and text of strangers only shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "reports/properties_report.h"
#include "reports/schemas.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

PropertyResult ResultOf(const std::string& name, PropertyState state) {
  PropertyResult result{.run_id = "run", .family = "f", .name = name, .claim = "claimed so"};
  result.state = state;
  result.headline = "because";
  result.legs = {"runs/run/3: gone on after step 4"};
  if (state == PropertyState::kHeld) return result;
  result.reasons = {{"metric loss", "metric loss: 1 and 2", 1.0, 0.5},
                    {"weights w", "weights w: another shape",
                     std::numeric_limits<double>::infinity(), std::nullopt}};
  return result;
}

PropertiesReport Sample() {
  PropertiesReport report{.drill_id = "20261124T000000Z-1",
                          .made = {},
                          .version = "1",
                          .host = "",
                          .headline = "1 of 4 properties lost",
                          .next = "look",
                          .results = {},
                          .notes = {"straight runs differ"}};
  report.results = {ResultOf("repeated", PropertyState::kHeld),
                    ResultOf("resumed@4", PropertyState::kLost),
                    ResultOf("processes", PropertyState::kHeldWithin),
                    ResultOf("accumulated", PropertyState::kNotJudged)};
  PropertyResult& lost = report.results[1];
  lost.newly_lost = true;
  lost.last_state = PropertyState::kHeld;
  lost.last_drill = "before-1";
  lost.last_time = *ParseTime("2026-11-20T08:03:00Z");
  report.legs = 7;
  report.exit_code = 1;
  return report;
}

TEST(PropertiesReport, SaysOfALostOneWhenItHeld) {
  const PropertiesReport report = Sample();
  const std::string text = WriteTerminal(DocumentOf(report), 100, false);
  EXPECT_THAT(text, ContainsRegex("resumed@4 +✗ lost"));
  EXPECT_THAT(text, HasSubstr("it held on 2026-11-20 08:03 UTC (drill before-1)"));
  EXPECT_THAT(text, HasSubstr("Note: straight runs differ"));
  const std::string page = WriteHtml(DocumentOf(report));
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_THAT(page, HasSubstr("Lost since: it held on 2026-11-20 08:03 UTC"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST(PropertiesReport, HasACaseAPropertyInJunit) {
  PropertiesReport report = Sample();
  const std::string junit = WriteJunit(DocumentOf(report));
  EXPECT_THAT(junit, HasSubstr("tests=\"4\""));
  EXPECT_THAT(junit, HasSubstr("failures=\"1\""));
  EXPECT_THAT(junit, HasSubstr("skipped=\"1\""));
  // A skipped case is no success: the answer fails.
  report.results.erase(report.results.begin() + 1);
  report.exit_code = 3;
  EXPECT_THAT(WriteJunit(DocumentOf(report)), HasSubstr("tests=\"4\""));
}

TEST(PropertiesReport, IsAsItsSchemaSays) {
  const Json schema = PropertiesSchema();
  Validator(schema).Check(ToJson(Sample()), schema, "$");
}

TEST(PropertiesReport, TextOfStrangersOnlyShows) {
  PropertiesReport report = Sample();
  const std::string hostile = "<script>alert(1)</script>\x1b[31m\n\"'&\xff\u202e";
  report.headline = report.next = report.drill_id = report.host = hostile;
  report.notes = {hostile};
  for (PropertyResult& result : report.results) {
    result.run_id = result.name = result.claim = result.headline = hostile;
    result.last_drill = hostile;
    result.notes = result.legs = {hostile};
    for (PropertyReason& reason : result.reasons) reason.message = reason.subject = hostile;
  }
  const std::string page = WriteHtml(DocumentOf(report));
  EXPECT_EQ(CheckHtml(page).error, "");
  for (const std::string& text :
       {page, WriteTerminal(DocumentOf(report), 80, false), WriteJunit(DocumentOf(report))}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\u202e")));
  }
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace rharness
