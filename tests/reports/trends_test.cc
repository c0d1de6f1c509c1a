// Trends as a page, on a terminal and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "reports/schemas.h"
#include "reports/text.h"
#include "reports/trends_report.h"
#include "reports/trends_words.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kHostile[] = "a<b>\x1b[31m\"&\xff";

TrendCounts Counts(std::int64_t good, std::int64_t bad) {
  return {.good = good,
          .bad = bad,
          .open = 1,
          .rate = static_cast<double>(good) / static_cast<double>(good + bad),
          .low = 0.4,
          .high = 0.99};
}

WallTime Day(int day) { return WallTime(std::chrono::hours(24 * (20'000 + day))); }

TrendsReport Rich() {
  TrendsReport report{.at = Day(20),
                      .version = "1",
                      .history = "runs.db",
                      .verdicts = 60,
                      .headline = "what it says",
                      .next = "what to do",
                      .exit_code = 1};
  TrendSeries all{.by = "all", .counts = Counts(45, 15)};
  for (int week = 0; week < 3; ++week) {
    all.weeks.push_back({Day(7 * week), Counts(20 - 5 * week, 5 * week)});
  }
  TrendSeries family = all;
  family.by = "family";
  family.value = kHostile;
  family.changes = {{.week = Day(7),
                     .earliest = Day(7),
                     .latest = Day(14),
                     .before = 1.0,
                     .after = 0.6,
                     .p = 0.001,
                     .coincidences = {{.what = "driver",
                                       .before = kHostile,
                                       .after = "560",
                                       .before_runs = 0,
                                       .before_all = 20,
                                       .after_runs = 40,
                                       .after_all = 40,
                                       .detail = "<script>"}},
                     .words = "from <b> to worse"}};
  TrendSeries driver{.by = "driver", .value = "560"};
  report.series = {all, family, driver};
  report.survival = {
      {.family = "",
       .runs = 21,
       .ended = 9,
       .never_seen = 4,
       .oldest_days = 50,
       .median_days = 23.0,
       .steps = {{.days = 6, .at_risk = 21, .ended = 3, .share = 0.857, .low = 0.62, .high = 0.952},
                 {.days = 40, .at_risk = 1, .ended = 1, .share = 0.0}}}};
  report.only = {{.by = "node", .value = kHostile, .runs = 3, .families = {kHostile}}};
  report.last_chance = LastChance{.gone = {"driver=5*"},
                                  .runs = 40,
                                  .lost = 2,
                                  .unproven = 1,
                                  .kept = 30,
                                  .unknown = 7,
                                  .list = {{"run-1", kHostile, true, "why <not>"}}};
  report.notes = {kHostile};
  return report;
}

TEST(TrendsPage, IsWellFormedAndHasNoMarkupOfStrangers) {
  for (const TrendsReport& report : {Rich(), TrendsReport()}) {
    const std::string page = WriteHtml(DocumentOf(report));
    EXPECT_EQ(CheckHtml(page).error, "");
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("a<b>")));
  }
  const std::string page = WriteHtml(DocumentOf(Rich()));
  EXPECT_THAT(page, HasSubstr("coincides with driver"));
  EXPECT_THAT(page, HasSubstr("not yet a cause"));
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, HasSubstr("1 run is listed.")) << "of three";
}

TEST(TrendsTerminal, KeepsToItsColumnsAndEscapes) {
  for (const int columns : {40, 80, 200}) {
    const std::string text = WriteTerminal(DocumentOf(Rich()), columns, false);
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_EQ(ElideEnd(line, columns), line) << "too wide at " << columns;
    }
  }
  const std::string text = WriteTerminal(DocumentOf(Rich()), 200, false);
  EXPECT_THAT(text, HasSubstr("75 % (40 to 99)"));
  EXPECT_THAT(text, HasSubstr("(in 0 of 20 judged before, 40 of 40 after)"));
  EXPECT_THAT(text, HasSubstr("85.7 % after 30 days (62 to 95.2)"));
  EXPECT_THAT(text, HasSubstr("half after 23 days"));
  EXPECT_THAT(text, HasSubstr("  all runs"));
  EXPECT_THAT(text, HasSubstr("75 % (40 to 99)        60     1  10 of 20"));
  EXPECT_THAT(text, HasSubstr("Last week judged"));
  EXPECT_THAT(text, HasSubstr("Of 21 runs that were seen to reproduce, 9 did not any more"));
  EXPECT_THAT(WriteTerminal(DocumentOf(Rich()), 400, false),
              HasSubstr("4 runs that never reproduced since they were first judged are "
                        "left out"));
  EXPECT_THAT(text, HasSubstr("1 run is"));
  EXPECT_THAT(WriteTerminal(DocumentOf(Rich()), 200, true), HasSubstr("\x1b["));
}

TEST(TrendsDocument, SaysTheSameInEveryFormatAndFailsWhereRunsWouldBeLost) {
  const Document document = DocumentOf(Rich());
  EXPECT_EQ(document.tone, Verdict::kDrifted);
  for (const std::string& text :
       {WriteHtml(document), WriteTerminal(document, 300, false), WriteMarkdown(document)}) {
    for (const char* part : {"Without driver=5", "run-1", "to worse", "coincides with driver",
                             "Drivers", "560", "node", "half after 23 days"}) {
      EXPECT_THAT(text, HasSubstr(part));
    }
  }
  const std::string page = WriteHtml(document);
  EXPECT_EQ(CheckHtml(page).elements.at("svg"), 3) << "two rates and a survival";
  EXPECT_THAT(page, HasSubstr("<tr class=\"drifted\"><th scope=\"row\" class=\"name\">run-1</th>"));
  const std::string junit = WriteJunit(document);
  EXPECT_THAT(junit, HasSubstr("tests=\"1\" failures=\"1\""));
  EXPECT_THAT(junit, HasSubstr("classname=\"trends.Last chance\" name=\"run-1\""));
  EXPECT_EQ(DocumentOf(TrendsReport{.verdicts = 3}).tone, Verdict::kIdentical);
  EXPECT_EQ(DocumentOf(TrendsReport{.verdicts = 3, .exit_code = 3}).tone, Verdict::kInconclusive);
  TrendsReport bad{.verdicts = 3};
  bad.series.push_back({});
  bad.series.back().counts.rate = 0.0;
  EXPECT_EQ(DocumentOf(bad).tone, Verdict::kInconclusive) << "nothing changed, and nothing passed";
}

TEST(TrendsSchema, DescribesExactlyWhatIsWritten) {
  const Json schema = TrendsSchema();
  for (const TrendsReport& report : {Rich(), TrendsReport()}) {
    Validator(schema).Check(ToJson(report), schema, "$");
  }
}

TEST(TrendsPictures, AreNoneOfNothing) {
  EXPECT_EQ(SvgRates({}, "a"), "");
  EXPECT_EQ(SvgSurvival({}, "a"), "");
  EXPECT_THAT(SvgRates(Rich().series[1], "a"), HasSubstr("3 weeks from 2024-10-04"));
  EXPECT_THAT(SvgSurvival(Rich().survival[0], "a"), HasSubstr("21 runs; 9 stopped"));
}

// The last week in which any run was judged may be long ago.
TEST(TrendWords, SayHowLongAgoTheLastWeekWithVerdictsWas) {
  const TrendSeries all = Rich().series.front();  // the last one begins on day 14
  EXPECT_EQ(LastWeekWords(all, Day(14)), "10 of 20");
  EXPECT_EQ(LastWeekWords(all, Day(20)), "10 of 20");
  EXPECT_EQ(LastWeekWords(all, Day(21)), "10 of 20, 1 week ago");
  EXPECT_EQ(LastWeekWords(all, Day(14 + 7 * 40)), "10 of 20, 40 weeks ago");
  EXPECT_EQ(LastWeekWords({}, Day(20)), "-");
}

TEST(TrendWords, TellSpansOfLessThanADayInHoursAndMinutes) {
  EXPECT_EQ(SpanWords(23.0), "23 days");
  EXPECT_EQ(SpanWords(1.0), "1 day");
  EXPECT_EQ(SpanWords(0.25), "6 hours");
  EXPECT_EQ(SpanWords(1.0 / 1440.0), "1 minute");
  EXPECT_EQ(SpanWords(0.0005384), "less than a minute");
}

}  // namespace
}  // namespace rharness
