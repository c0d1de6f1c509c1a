// Hours of a day in which nothing starts.
#include "harness/execution/dispatch/quiet_hours.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace rharness {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

QuietHours Parsed(std::string_view text) {
  const auto quiet = ParseQuietHours(text);
  EXPECT_TRUE(quiet.ok()) << text;
  return quiet.ok() ? *quiet : QuietHours{};
}

TEST(QuietHours, HoldFromTheFirstMinuteToBeforeTheLast) {
  const std::vector<QuietHours> quiet = {Parsed("08:30-18:00")};
  EXPECT_FALSE(IsQuiet(quiet, hours(8) + minutes(29)));
  EXPECT_TRUE(IsQuiet(quiet, hours(8) + minutes(30)));
  EXPECT_TRUE(IsQuiet(quiet, hours(17) + minutes(59)));
  EXPECT_FALSE(IsQuiet(quiet, hours(18)));
  EXPECT_FALSE(IsQuiet({}, hours(12)));
}

TEST(QuietHours, GoOverMidnight) {
  const std::vector<QuietHours> quiet = {Parsed("22:00-06:00"), Parsed("12:00-13:00")};
  EXPECT_TRUE(IsQuiet(quiet, hours(23)));
  EXPECT_TRUE(IsQuiet(quiet, minutes(0)));
  EXPECT_TRUE(IsQuiet(quiet, hours(5)));
  EXPECT_FALSE(IsQuiet(quiet, hours(6)));
  EXPECT_TRUE(IsQuiet(quiet, hours(12)));
  EXPECT_TRUE(IsQuiet({Parsed("18:00-24:00")}, hours(23) + minutes(59)));
  EXPECT_FALSE(IsQuiet({Parsed("18:00-24:00")}, minutes(0)));
}

TEST(QuietHours, RefuseWhatIsNoTimes) {
  for (const char* text : {"", "8:00-18:00", "08:00", "08:00-25:00", "08:60-09:00", "24:00-08:00",
                           "08:00-08:00", "0a:00-08:00", "08:00-18:00-20:00", "-1:00-08:00"}) {
    const auto quiet = ParseQuietHours(text);
    ASSERT_FALSE(quiet.ok()) << text;
    EXPECT_NE(quiet.error().message.find("08:00-18:00"), std::string::npos);
  }
}

TEST(QuietHours, AreOfTheLocalDay) {
  const auto noon = ParseTime("2026-07-01T12:00:00Z");
  ASSERT_TRUE(noon.ok());
  ::setenv("TZ", "AAA-2", 1);
  ::tzset();
  EXPECT_EQ(LocalMinute(*noon), hours(14));
  ::unsetenv("TZ");
  ::tzset();
}

}  // namespace
}  // namespace rharness
