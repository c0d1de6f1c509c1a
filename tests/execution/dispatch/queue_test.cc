// The scheduling decision, with time as an argument and no process in sight.
#include "harness/execution/dispatch/queue.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace rharness {
namespace {

using std::chrono::seconds;

PlannedRerun Rerun(std::string run_id, double expected_seconds, int cpus = 1, int gpus = 0,
                   std::uint64_t memory_bytes = 0) {
  PlannedRerun rerun{.run_id = run_id, .rerun = 1, .job = run_id + ".1"};
  rerun.resources.cpus = cpus;
  rerun.resources.gpus = gpus;
  rerun.resources.memory_bytes = memory_bytes;
  rerun.expected_seconds = expected_seconds;
  return rerun;
}

// Starts everything that may start now; returns the run ids.
std::vector<std::string> StartAll(JobQueue* queue, MonotonicTime now) {
  std::vector<std::string> started;
  while (const auto start = queue->Next(now)) started.push_back(queue->rerun(start->index).run_id);
  return started;
}

TEST(JobQueue, StartsInOrderUntilTheCpusAreTaken) {
  JobQueue queue({Rerun("a", 1), Rerun("b", 1), Rerun("c", 1)}, Slots{.cpus = 2}, 0, {});
  EXPECT_EQ(StartAll(&queue, seconds(0)), (std::vector<std::string>{"a", "b"}));
  queue.Finish(0);
  EXPECT_EQ(StartAll(&queue, seconds(1)), (std::vector<std::string>{"c"}));
}

TEST(JobQueue, RunsNoMoreAtATimeThanJobsSays) {
  JobQueue queue({Rerun("a", 1), Rerun("b", 1)}, Slots{.cpus = 8}, 1, {});
  EXPECT_EQ(StartAll(&queue, seconds(0)).size(), 1U);
}

TEST(JobQueue, NeverSharesOutMoreMemoryThanThereIs) {
  JobQueue queue({Rerun("a", 1, 1, 0, 6), Rerun("b", 1, 1, 0, 6)},
                 Slots{.cpus = 8, .memory_bytes = 10}, 0, {});
  EXPECT_EQ(StartAll(&queue, seconds(0)), (std::vector<std::string>{"a"}));
}

TEST(JobQueue, GivesEachRerunGpusOfItsOwn) {
  JobQueue queue({Rerun("a", 1, 1, 2), Rerun("b", 1, 1, 1), Rerun("c", 1, 1, 1)},
                 Slots{.cpus = 8, .gpus = 3}, 0, {});
  const auto first = queue.Next(seconds(0));
  const auto second = queue.Next(seconds(0));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->gpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(second->gpus, (std::vector<int>{2}));
  EXPECT_FALSE(queue.Next(seconds(0)));
  queue.Finish(first->index);
  const auto third = queue.Next(seconds(1));
  ASSERT_TRUE(third);
  EXPECT_EQ(third->gpus, (std::vector<int>{0}));
}

TEST(JobQueue, LetsAShortRerunOvertakeABlockedOneOnlyIfItEndsInTime) {
  // "wide" needs both CPUs, of which one is busy until second 10.
  JobQueue queue({Rerun("busy", 10), Rerun("wide", 5, 2), Rerun("long", 20), Rerun("short", 4)},
                 Slots{.cpus = 2}, 0, {});
  EXPECT_EQ(StartAll(&queue, seconds(0)), (std::vector<std::string>{"busy", "short"}));
  queue.Finish(3);
  EXPECT_TRUE(StartAll(&queue, seconds(4)).empty()) << "'long' would delay 'wide'";
  queue.Finish(0);
  EXPECT_EQ(StartAll(&queue, seconds(10)), (std::vector<std::string>{"wide"}));
}

TEST(JobQueue, WaitsLongerBeforeEveryRetryAndGivesUpInTheEnd) {
  JobQueue queue({Rerun("a", 1)}, Slots{.cpus = 1}, 0,
                 RetryPolicy{.attempts = 3, .first_wait = seconds(2), .factor = 2.0});
  ASSERT_TRUE(queue.Next(seconds(0)));
  EXPECT_TRUE(queue.Retry(0, seconds(1)));
  EXPECT_FALSE(queue.Next(seconds(2)));
  EXPECT_EQ(queue.NextWakeUp(), MonotonicTime(seconds(3)));
  const auto second = queue.Next(seconds(3));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->attempt, 2);
  EXPECT_TRUE(queue.Retry(0, seconds(3)));
  EXPECT_EQ(queue.NextWakeUp(), MonotonicTime(seconds(7)));
  ASSERT_TRUE(queue.Next(seconds(7)));
  EXPECT_FALSE(queue.Retry(0, seconds(7)));
  EXPECT_TRUE(queue.Done());
}

TEST(JobQueue, FreesWhatARetryHeldWhileItWaits) {
  JobQueue queue({Rerun("a", 1), Rerun("b", 1)}, Slots{.cpus = 1}, 0, {});
  ASSERT_TRUE(queue.Next(seconds(0)));
  ASSERT_TRUE(queue.Retry(0, seconds(0)));
  EXPECT_EQ(StartAll(&queue, seconds(0)), (std::vector<std::string>{"b"}));
}

TEST(JobQueue, StartsNothingOnceStoppedAndIsDoneWhenTheRunningEnd) {
  JobQueue queue({Rerun("a", 1), Rerun("b", 1)}, Slots{.cpus = 1}, 0, {});
  ASSERT_TRUE(queue.Next(seconds(0)));
  queue.Stop();
  EXPECT_FALSE(queue.Done());
  queue.Finish(0);
  EXPECT_TRUE(queue.Done());
  EXPECT_FALSE(queue.Next(seconds(1)));
}

TEST(JobQueue, EstimatesWhatIsLeftFromExpectedAndElapsedTimes) {
  JobQueue queue({Rerun("a", 10), Rerun("b", 10), Rerun("c", 10)}, Slots{.cpus = 2}, 0, {});
  StartAll(&queue, seconds(0));
  // 4 s left of each of two running, 10 s waiting: 18 s of work on two.
  EXPECT_EQ(queue.Remaining(seconds(6)), MonotonicTime(seconds(10)));
  queue.Finish(0);
  EXPECT_EQ(queue.Remaining(seconds(6)), MonotonicTime(seconds(14)));
}

TEST(JobQueue, ScalesItsEstimateByWhatRerunsTook) {
  JobQueue queue({Rerun("a", 10), Rerun("b", 20), Rerun("c", 30)}, Slots{.cpus = 1}, 0, {});
  StartAll(&queue, seconds(0));
  queue.Learn(10, queue.RanFor(0, seconds(15)));
  queue.Finish(0);
  // Half as long again as recorded: 30 s and 45 s.
  EXPECT_EQ(queue.Remaining(seconds(15)), MonotonicTime(seconds(75)));
  StartAll(&queue, seconds(15));
  EXPECT_EQ(queue.Remaining(seconds(21)), MonotonicTime(seconds(69)));
}

TEST(JobQueue, TakesWhatHasNoRecordedDurationToBeAsLongAsTheOthers) {
  JobQueue queue({Rerun("a", 0), Rerun("b", 0), Rerun("c", 0)}, Slots{.cpus = 1}, 0, {});
  EXPECT_EQ(queue.Remaining(seconds(0)), MonotonicTime(0));
  queue.Learn(0, seconds(4));
  queue.Learn(0, seconds(8));
  EXPECT_EQ(queue.Remaining(seconds(0)), MonotonicTime(seconds(18)));
}

TEST(JobQueue, GivesARerunThatTakesLongerThanExpectedMoreTime) {
  JobQueue queue({Rerun("a", 10)}, Slots{.cpus = 1}, 0, {});
  StartAll(&queue, seconds(0));
  EXPECT_EQ(queue.Remaining(seconds(10)), MonotonicTime(seconds(1)));
  EXPECT_EQ(queue.Remaining(seconds(100)), MonotonicTime(seconds(10)));
}

TEST(JobQueue, CountsWhatItDroppedWhenStopped) {
  JobQueue queue({Rerun("a", 1), Rerun("b", 1), Rerun("c", 1)}, Slots{.cpus = 1}, 0, {});
  StartAll(&queue, seconds(0));
  EXPECT_FALSE(queue.stopped());
  queue.Stop();
  queue.Finish(0);
  EXPECT_TRUE(queue.stopped());
  EXPECT_EQ(queue.finished(), 3);
  EXPECT_EQ(queue.dropped(), 2);
}

TEST(JobQueue, EventuallyRunsEverythingWhateverTheMix) {
  std::vector<PlannedRerun> reruns;
  for (int i = 0; i < 200; ++i) {
    reruns.push_back(Rerun("r" + std::to_string(i), 1 + i % 7, 1 + i % 4, i % 3));
  }
  JobQueue queue(reruns, Slots{.cpus = 4, .gpus = 2}, 0, {});
  std::multimap<MonotonicTime, std::size_t> ends;
  std::set<std::size_t> seen;
  MonotonicTime now{0};
  while (!queue.Done()) {
    while (const auto start = queue.Next(now)) {
      EXPECT_TRUE(seen.insert(start->index).second);
      ends.emplace(now + std::chrono::seconds(1 + static_cast<int>(start->index) % 7),
                   start->index);
    }
    ASSERT_FALSE(ends.empty()) << "stuck with " << queue.finished() << " finished";
    now = ends.begin()->first;
    queue.Finish(ends.begin()->second);
    ends.erase(ends.begin());
  }
  EXPECT_EQ(seen.size(), reruns.size());
}

}  // namespace
}  // namespace rharness
