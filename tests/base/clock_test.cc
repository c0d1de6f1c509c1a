// Times as text, against dates whose distance from the epoch is known.
#include "harness/base/clock.h"

#include <gtest/gtest.h>

#include <limits>

namespace rharness {
namespace {

using std::chrono::milliseconds;

long long Millis(WallTime time) { return time.time_since_epoch().count(); }

TEST(ParseTime, KnowsTimesWhoseEpochIsPublished) {
  EXPECT_EQ(Millis(*ParseTime("1970-01-01T00:00:00.000Z")), 0);
  EXPECT_EQ(Millis(*ParseTime("2001-09-09T01:46:40Z")), 1000000000000);
  EXPECT_EQ(Millis(*ParseTime("2009-02-13T23:31:30.123Z")), 1234567890123);
  EXPECT_EQ(Millis(*ParseTime("2038-01-19T03:14:07Z")), 2147483647000);
  EXPECT_EQ(Millis(*ParseTime("1969-12-31T23:59:59.999Z")), -1);
}

TEST(ParseTime, AppliesOffsetsAndCutsLongFractions) {
  EXPECT_EQ(Millis(*ParseTime("1970-01-01T05:30:00+05:30")), 0);
  EXPECT_EQ(Millis(*ParseTime("1969-12-31T16:00:00-08:00")), 0);
  EXPECT_EQ(Millis(*ParseTime("1970-01-01t00:00:00.5z")), 500);
  EXPECT_EQ(Millis(*ParseTime("1970-01-01 00:00:00.0019999999999999999999Z")), 1);
  EXPECT_EQ(Millis(*ParseTime("1970-01-01T00:00:60Z")), 60000);
}

TEST(ParseTime, KnowsLeapYears) {
  EXPECT_TRUE(ParseTime("2024-02-29T00:00:00Z").ok());
  EXPECT_TRUE(ParseTime("2000-02-29T00:00:00Z").ok());
  EXPECT_FALSE(ParseTime("1900-02-29T00:00:00Z").ok());
  EXPECT_FALSE(ParseTime("2023-02-29T00:00:00Z").ok());
}

TEST(ParseTime, RefusesWhatIsNoTime) {
  for (const char* text : {"",
                           "2026",
                           "2026-11-20",
                           "2026-11-20T08:03:00",
                           "2026-11-20T08:03Z",
                           "2026-13-01T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-04-31T00:00:00Z",
                           "2026-01-01T24:00:00Z",
                           "2026-01-01T00:60:00Z",
                           "2026-01-01T00:00:61Z",
                           "2026-01-01T00:00:00.Z",
                           "2026-01-01T00:00:00Z ",
                           " 2026-01-01T00:00:00Z",
                           "2026-01-01T00:00:00+24:00",
                           "2026-01-01T00:00:00+00:60",
                           "2026-01-01T00:00:00+",
                           "-026-01-01T00:00:00Z",
                           "2026-1-01T00:00:00Z",
                           "20260-01-01T00:00:00Z",
                           "0000-01-01T00:00:00+01:00",
                           "9999-12-31T23:59:59-00:01"}) {
    EXPECT_EQ(ParseTime(text).error().code, ErrorCode::kInvalidInput) << text;
  }
}

TEST(ParseTime, DoesNotRepeatALongTextInItsError) {
  EXPECT_LT(ParseTime(std::string(1000000, '2')).error().message.size(), 200U);
}

TEST(FormatTime, WritesUtcWithMilliseconds) {
  EXPECT_EQ(FormatTime(WallTime(milliseconds(1234567890123))), "2009-02-13T23:31:30.123Z");
  EXPECT_EQ(FormatTime(WallTime(milliseconds(-1))), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(FormatTime(WallTime(milliseconds(-62167219200000))), "0000-01-01T00:00:00.000Z");
}

TEST(FormatTime, IsReadBackExactly) {
  for (long long value = -62167219200000; value < 253402300800000; value += 98765432109) {
    EXPECT_EQ(Millis(*ParseTime(FormatTime(WallTime(milliseconds(value))))), value);
  }
}

TEST(FormatDuration, ChoosesUnitsForPeople) {
  EXPECT_EQ(FormatDuration(Seconds(0)), "0.0 s");
  EXPECT_EQ(FormatDuration(Seconds(0.0004)), "1 ms");
  EXPECT_EQ(FormatDuration(Seconds(0.017)), "17 ms");
  EXPECT_EQ(FormatDuration(Seconds(0.44)), "0.4 s");
  EXPECT_EQ(FormatDuration(Seconds(9.94)), "9.9 s");
  EXPECT_EQ(FormatDuration(Seconds(9.96)), "10 s");
  EXPECT_EQ(FormatDuration(Seconds(59.6)), "1 min 0 s");
  EXPECT_EQ(FormatDuration(Seconds(185)), "3 min 5 s");
  EXPECT_EQ(FormatDuration(Seconds(7800)), "2 h 10 min");
  EXPECT_EQ(FormatDuration(Seconds(3 * 86400 + 4 * 3600)), "3 d 4 h");
}

TEST(FormatDuration, AdmitsWhatItDoesNotKnow) {
  for (const double value : {-1.0, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(), 1e300}) {
    EXPECT_EQ(FormatDuration(Seconds(value)), "unknown");
  }
}

TEST(FakeClock, MovesOnlyWhenToldOrSleptOn) {
  FakeClock clock(WallTime(milliseconds(1000)));
  EXPECT_EQ(Millis(clock.Now()), 1000);
  clock.SleepFor(std::chrono::seconds(2));
  clock.Advance(milliseconds(5));
  EXPECT_EQ(Millis(clock.Now()), 3005);
  EXPECT_EQ(clock.Monotonic(), milliseconds(2005));
}

}  // namespace
}  // namespace rharness
