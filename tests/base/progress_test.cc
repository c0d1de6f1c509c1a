// What is said of progress, and how often a log hears of it.
#include "harness/base/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rharness {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Progress, SaysHowManyAreDoneAndHowLongItTakes) {
  const Progress progress{.finished = 5,
                          .running = 2,
                          .total = 12,
                          .elapsed = milliseconds(42900),
                          .remaining = milliseconds(69100),
                          .jobs = {"a.1", "b.1"}};
  EXPECT_EQ(FormatProgress(progress, 100),
            "5/12 reruns done, 2 running, 0:42 elapsed, about 1:10 left: a.1 b.1");
}

TEST(Progress, NeverPromisesThatNothingIsLeftWhileSomethingIs) {
  const Progress progress{.finished = 1, .running = 1, .total = 2, .remaining = milliseconds(0)};
  EXPECT_EQ(FormatProgress(progress, 100),
            "1/2 reruns done, 1 running, 0:00 elapsed, about 0:01 left");
}

TEST(Progress, CountsHoursOnlyWhereThereAreAny) {
  const Progress progress{
      .finished = 1, .total = 3, .elapsed = seconds(3599), .remaining = hours(11) + seconds(5)};
  EXPECT_EQ(FormatProgress(progress, 100), "1/3 reruns done, 59:59 elapsed, about 11:00:05 left");
}

TEST(Progress, DoesNotGuessWhatItCannotKnow) {
  const Progress start = CountProgress("probes done", 0, 4, seconds(2), "gemm_order");
  EXPECT_EQ(FormatProgress(start, 100), "0/4 probes done, 0:02 elapsed: gemm_order");
  const Progress later = CountProgress("probes done", 1, 4, seconds(2), "gemm_order");
  EXPECT_EQ(FormatProgress(later, 100),
            "1/4 probes done, 0:02 elapsed, about 0:06 left: gemm_order");
}

TEST(Progress, SaysThatItStopsAndNotHowLongItWouldHaveTaken) {
  const Progress progress{
      .finished = 1, .running = 1, .total = 9, .remaining = hours(2), .stopping = true};
  EXPECT_EQ(FormatProgress(progress, 100), "1/9 reruns done, 1 running, 0:00 elapsed, stopping");
}

TEST(Progress, IsCutToTheTerminalAndNeverWithinALetter) {
  Progress progress{.finished = 1, .running = 1, .total = 2, .remaining = seconds(9)};
  progress.jobs = {"größe-und-weite.1"};
  for (int columns = 21; columns < 100; ++columns) {
    const std::string text = FormatProgress(progress, columns);
    EXPECT_LT(text.size(), static_cast<std::size_t>(columns));
    EXPECT_EQ(text.find("\xc3..."), std::string::npos) << text;
  }
}

TEST(Progress, LetsNoNameOfARunMoveTheCursor) {
  Progress progress{.finished = 1, .running = 1, .total = 2};
  progress.jobs = {"evil\x1b[2Jname\rrun"};
  const std::string text = FormatProgress(progress, 200);
  EXPECT_EQ(text.find_first_of("\x1b\r\n"), std::string::npos) << text;
}

// The points at which a log gets a line when `total` pieces take `each`, looked at every 100 ms.
std::vector<Progress> Lines(int total, std::chrono::nanoseconds each) {
  ProgressPace pace;
  std::vector<Progress> lines;
  for (std::chrono::nanoseconds now{0}; now <= each * total; now += milliseconds(100)) {
    const Progress progress{
        .finished = static_cast<int>(now / each), .total = total, .elapsed = now};
    if (pace.Due(progress)) lines.push_back(progress);
  }
  return lines;
}

TEST(ProgressPace, GivesAShortDrillItsThreeQuarters) {
  const std::vector<Progress> lines = Lines(100, milliseconds(100));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].finished, 25);
  EXPECT_EQ(lines[1].finished, 50);
  EXPECT_EQ(lines[2].finished, 75);
}

TEST(ProgressPace, SaysEveryMinuteThatALongRerunStillRuns) {
  const std::vector<Progress> lines = Lines(1, minutes(10) + seconds(30));
  ASSERT_EQ(lines.size(), 10u);
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i].elapsed, minutes(i + 1));
}

TEST(ProgressPace, FloodsNoLogInANight) {
  const std::vector<Progress> lines = Lines(5000, seconds(6));  // 8 h 20 min
  EXPECT_GT(lines.size(), 20u);
  EXPECT_LT(lines.size(), 60u);
}

TEST(ProgressPace, ReachesNothingNewAtTheEnd) {
  ProgressPace pace;
  EXPECT_FALSE(pace.Due({.finished = 4, .total = 4, .elapsed = hours(1)}));
  EXPECT_FALSE(pace.Due({.finished = 0, .total = 0, .elapsed = hours(1)}));
}

TEST(ProgressPace, CountsQuartersOfTheMainWorkAlone) {
  ProgressPace pace;
  EXPECT_TRUE(pace.Due({.finished = 3, .total = 4}));
  EXPECT_FALSE(pace.Due({.what = "runs compared", .finished = 1, .total = 4}));
  EXPECT_TRUE(
      pace.Due({.what = "runs compared", .finished = 1, .total = 4, .elapsed = minutes(2)}));
}

TEST(ProgressPace, SaysAtOnceHowFarAResumedDrillIs) {
  ProgressPace pace;
  EXPECT_TRUE(pace.Due({.finished = 14, .total = 17}));
  EXPECT_FALSE(pace.Due({.finished = 15, .total = 17}));
}

}  // namespace
}  // namespace rharness
