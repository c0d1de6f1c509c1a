// Game days and what drills show of them, as pages and on terminals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/gameday_report.h"
#include "reports/model.h"
#include "reports/schemas.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

SensitivityRate RateOf(const std::string& words, int found, bool enough) {
  return {.name = "hyperparameter:" + words,
          .words = words,
          .trials = 14,
          .found = found,
          .low = found == 0 ? 0.0 : 0.7684,
          .high = found == 0 ? 0.2316 : 1.0,
          .enough = enough};
}

GamedayReport Day() {
  GamedayReport report{.headline = "what it says", .next = "what to do", .exit_code = 0};
  report.sensitivity.families.push_back(
      {.name = "a<b>\x1b[31m\"&", .family = "f", .declared = "statistical", .runs = 14});
  auto& family = report.sensitivity.families.front();
  family.faults = {RateOf("small", 0, true), RateOf("large</td><script>", 14, true)};
  family.faults.push_back({.name = "x", .words = "x", .cannot = "why <not>"});
  family.unchanged = {RateOf("nothing", 0, true)};
  return report;
}

TEST(GamedayPage, IsWellFormedAndHasNoMarkupOfStrangers) {
  for (const GamedayReport& report : {Day(), GamedayReport()}) {
    const std::string page = WriteHtml(DocumentOf(report));
    EXPECT_EQ(CheckHtml(page).error, "");
    EXPECT_THAT(page, Not(HasSubstr("<script")));
  }
  EXPECT_THAT(WriteHtml(DocumentOf(Day())), HasSubstr("why &lt;not&gt;"));
  EXPECT_THAT(WriteHtml(DocumentOf(GamedayReport())), HasSubstr("There are no trials"));
}

TEST(GamedayTerminal, KeepsToItsColumnsAndEscapes) {
  for (const int columns : {40, 80, 200}) {
    const std::string text = WriteTerminal(DocumentOf(Day()), columns, false);
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, HasSubstr("100 % (76-100) of"));
  }
}

// Every member, and those of a report that has hardly any.
TEST(GamedaySchema, DescribesExactlyWhatIsWritten) {
  GamedayReport rich = Day();
  rich.notes = {"one"};
  rich.sensitivity.host = "host";
  auto& family = rich.sensitivity.families.front();
  family.together = family.beside = 2;
  auto& rate = family.faults.front();
  rate.equal = rate.not_made = rate.more = 1;
  rate.example = "example";
  const Json day = GamedaySchema();
  const Json certificate = SensitivitySchema();
  for (const GamedayReport& report : {rich, GamedayReport()}) {
    Validator(day).Check(ToJson(report), day, "$");
    Validator(certificate).Check(ToJson(report.sensitivity), certificate, "$");
  }
}

TEST(TellingSentence, HasTheSmallestThatIsFoundAndTheLargestThatIsMissed) {
  SensitivityFamily family;
  EXPECT_EQ(TellingSentence(family), "");
  family.faults = {RateOf("tiny", 0, true), RateOf("small", 0, true), RateOf("large", 14, true),
                   RateOf("huge", 14, true)};
  EXPECT_EQ(TellingSentence(family),
            "large would have been found in 100 % (76-100) of 14 trials, small in 0 % (0-24) of 14 "
            "trials");
  for (SensitivityRate& rate : family.faults) rate.enough = false;
  EXPECT_EQ(TellingSentence(family), "") << "too few trials say nothing";
}

}  // namespace
}  // namespace rharness
