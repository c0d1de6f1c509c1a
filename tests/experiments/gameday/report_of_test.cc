// What a game day's report says of rates.
#include <gmock/gmock.h>

#include "harness/experiments/gameday/gameday_report_of.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

GamedayReport ReportOf(std::vector<SensitivityRate> faults) {
  static const GamedaySettings settings;
  return BuildGamedayReport(
      {.settings = settings, .families = {{.name = "digits", .faults = std::move(faults)}}});
}

TEST(GamedayReport, NamesMarginsThatPassEveryPlantedFault) {
  const GamedayReport report =
      ReportOf({{.name = "a", .trials = 5}, {.name = "b", .trials = 3, .undecided = 1}});
  EXPECT_THAT(report.notes, Contains("digits: no planted fault was found, and 7 trials passed: its "
                                     "'equivalent' says nothing about these faults"));
  EXPECT_EQ(report.next, "Narrow the margins of digits: they pass every fault that was planted");
}

TEST(GamedayReport, SaysNothingOfMarginsThatFindSomeOrLeaveAllOpen) {
  for (const SensitivityRate& other : {SensitivityRate{.name = "b", .trials = 3, .found = 1},
                                       SensitivityRate{.name = "b", .trials = 3, .undecided = 3}}) {
    const GamedayReport report = ReportOf({{.name = "a", .trials = 2, .undecided = 2}, other});
    EXPECT_THAT(report.notes, IsEmpty());
    EXPECT_THAT(report.next, testing::Not(HasSubstr("Narrow")));
  }
}

}  // namespace
}  // namespace rharness
