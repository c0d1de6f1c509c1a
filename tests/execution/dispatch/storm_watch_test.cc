// When failures of infrastructure are a storm.
#include "harness/execution/dispatch/storm_watch.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

std::string RunId(int i) { return "run-" + std::string(1, static_cast<char>('a' + i)); }

TEST(StormWatch, RagesWhenFourFifthsFailInTheSameWay) {
  StormWatch storm(10);
  for (int i = 0; i < 2; ++i) storm.Add(RunId(i), "");
  for (int i = 0; i < 7; ++i) {
    storm.Add(RunId(i % 4),
              "cannot pull image, attempt " + std::to_string(7 * i) + " of " + RunId(i % 4));
    EXPECT_FALSE(storm.Raging()) << i;
  }
  storm.Add(RunId(3), "cannot pull image, attempt 1234 of " + RunId(3));
  ASSERT_TRUE(storm.Raging());
  EXPECT_EQ(*storm.Raging(),
            "8 of the last 10 attempts, of 4 runs, failed in the same way: cannot pull image, "
            "attempt 1234 of run-d; nothing more is started");
}

TEST(StormWatch, CalmsDownWhenAttemptsSucceed) {
  StormWatch storm(5);
  for (int i = 0; i < 5; ++i) storm.Add(RunId(i), "no space");
  EXPECT_TRUE(storm.Raging());
  for (int i = 0; i < 2; ++i) storm.Add(RunId(i), "");
  EXPECT_FALSE(storm.Raging());
}

TEST(StormWatch, BlamesRunsThatFailEachInItsWayOrAlone) {
  StormWatch ways(6);
  const char* reasons[] = {"no space", "no image", "lost node"};
  for (int i = 0; i < 6; ++i) ways.Add(RunId(i), reasons[i % 3]);
  EXPECT_FALSE(ways.Raging());
  StormWatch alone(6);
  for (int i = 0; i < 6; ++i) alone.Add(RunId(i % 2), "no space");
  EXPECT_FALSE(alone.Raging()) << "two runs";
}

TEST(StormWatch, LooksAtNothingWithoutAWindow) {
  StormWatch storm(0);
  for (int i = 0; i < 100; ++i) storm.Add(RunId(i % 20), "no space");
  EXPECT_FALSE(storm.Raging());
}

}  // namespace
}  // namespace rharness
