// The loop around the queue, with work that takes no time and a clock that sleeps at once.
#include "harness/drill/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>

namespace rharness {
namespace {

std::vector<PlannedRerun> Reruns(int count) {
  std::vector<PlannedRerun> reruns;
  for (int i = 0; i < count; ++i) {
    reruns.push_back(
        {.run_id = "r" + std::to_string(i), .rerun = 1, .job = "r" + std::to_string(i) + ".1"});
  }
  return reruns;
}

// Counts attempts by job; `fails` says how many attempts of each fail.
class Workshop {
 public:
  explicit Workshop(int fails) : fails_(fails) {}
  Result<AttemptEnd> Work(const PlannedRerun& rerun, int attempt) {
    const std::scoped_lock lock(mutex_);
    ++attempts_[rerun.job];
    EXPECT_EQ(attempts_[rerun.job], attempt);
    return attempt <= fails_ ? AttemptEnd::kInfrastructure : AttemptEnd::kFinal;
  }
  std::map<std::string, int> attempts() const { return attempts_; }

 private:
  const int fails_;
  std::mutex mutex_;
  std::map<std::string, int> attempts_;
};

SchedulerHooks HooksOf(Workshop* workshop) {
  return {.work = [workshop](const PlannedRerun& rerun, int attempt, const std::vector<int>&) {
    return workshop->Work(rerun, attempt);
  }};
}

TEST(Scheduler, RunsEveryRerunOnce) {
  JobQueue queue(Reruns(50), Slots{.cpus = 4}, 0, {});
  Workshop workshop(0);
  FakeClock clock;
  ASSERT_TRUE(RunQueue(&queue, HooksOf(&workshop), &clock).ok());
  EXPECT_EQ(workshop.attempts().size(), 50U);
  for (const auto& [job, attempts] : workshop.attempts()) EXPECT_EQ(attempts, 1) << job;
}

TEST(Scheduler, RetriesInfrastructureFailuresAfterBackOff) {
  JobQueue queue(Reruns(3), Slots{.cpus = 1}, 0,
                 RetryPolicy{.attempts = 3, .first_wait = std::chrono::seconds(2)});
  Workshop workshop(2);
  FakeClock clock;
  ASSERT_TRUE(RunQueue(&queue, HooksOf(&workshop), &clock).ok());
  for (const auto& [job, attempts] : workshop.attempts()) EXPECT_EQ(attempts, 3) << job;
  EXPECT_GE(clock.Monotonic(), std::chrono::seconds(6)) << "2 s, then 4 s";
}

TEST(Scheduler, GivesUpAfterTheLastAttempt) {
  JobQueue queue(Reruns(1), Slots{.cpus = 1}, 0, RetryPolicy{.attempts = 2});
  Workshop workshop(1000);
  FakeClock clock;
  ASSERT_TRUE(RunQueue(&queue, HooksOf(&workshop), &clock).ok());
  EXPECT_EQ(workshop.attempts().at("r0.1"), 2);
}

TEST(Scheduler, StopsAtAnErrorOfItsOwnWhereverItStrikes) {
  for (int bad = 0; bad < 5; ++bad) {
    JobQueue queue(Reruns(5), Slots{.cpus = 1}, 0, {});
    std::atomic<int> calls{0};
    SchedulerHooks hooks{
        .work = [&](const PlannedRerun&, int, const std::vector<int>&) -> Result<AttemptEnd> {
          if (calls++ == bad) return IoError("disk full");
          return AttemptEnd::kFinal;
        }};
    FakeClock clock;
    const Status status = RunQueue(&queue, hooks, &clock);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message, "disk full");
    EXPECT_EQ(calls.load(), bad + 1);
  }
}

TEST(Scheduler, StartsNothingOnceItShouldStop) {
  JobQueue queue(Reruns(5), Slots{.cpus = 1}, 0, {});
  std::atomic<int> calls{0};
  SchedulerHooks hooks{
      .work = [&](const PlannedRerun&, int, const std::vector<int>&) -> Result<AttemptEnd> {
        ++calls;
        return AttemptEnd::kFinal;
      }};
  hooks.should_stop = [&] { return calls > 0; };
  FakeClock clock;
  ASSERT_TRUE(RunQueue(&queue, hooks, &clock).ok());
  EXPECT_EQ(calls.load(), 1);
}

TEST(Scheduler, ReportsNothingAsDoneThatItNeverStarted) {
  JobQueue queue(Reruns(5), Slots{.cpus = 1}, 0, {});
  std::atomic<int> calls{0};
  Progress last;
  SchedulerHooks hooks{
      .work = [&](const PlannedRerun&, int, const std::vector<int>&) -> Result<AttemptEnd> {
        ++calls;
        return AttemptEnd::kFinal;
      },
      .progress = [&](const Progress& progress) { last = progress; },
      .should_stop = [&] { return calls > 0; }};
  FakeClock clock;
  ASSERT_TRUE(RunQueue(&queue, hooks, &clock).ok());
  EXPECT_EQ(last.finished, 1);
  EXPECT_EQ(last.total, 5);
  EXPECT_TRUE(last.stopping);
}

// Two of three reruns cannot be carried out and end at once: the third still takes its time.
TEST(Scheduler, LearnsNothingFromARerunThatWasCutShort) {
  std::vector<PlannedRerun> reruns = Reruns(3);
  for (PlannedRerun& rerun : reruns) rerun.expected_seconds = 100;
  JobQueue queue(std::move(reruns), Slots{.cpus = 1}, 0, {});
  std::vector<std::chrono::nanoseconds> left;
  SchedulerHooks hooks{
      .work = [](const PlannedRerun&, int, const std::vector<int>&) -> Result<AttemptEnd> {
        return AttemptEnd::kCutShort;
      },
      .progress =
          [&](const Progress& progress) {
            if (progress.finished == 2 && progress.running == 1)
              left.push_back(*progress.remaining);
          }};
  FakeClock clock;
  ASSERT_TRUE(RunQueue(&queue, hooks, &clock).ok());
  ASSERT_FALSE(left.empty());
  EXPECT_EQ(left.front(), std::chrono::seconds(100));
}

TEST(Scheduler, ReportsProgressUpToTheEnd) {
  JobQueue queue(Reruns(4), Slots{.cpus = 2}, 0, {});
  Workshop workshop(0);
  SchedulerHooks hooks = HooksOf(&workshop);
  Progress last;
  int reports = 0;
  hooks.progress = [&](const Progress& progress) {
    EXPECT_GE(progress.finished, last.finished);
    last = progress;
    ++reports;
  };
  FakeClock clock;
  ASSERT_TRUE(RunQueue(&queue, hooks, &clock).ok());
  EXPECT_GE(reports, 2);
  EXPECT_EQ(last.finished, 4);
  EXPECT_EQ(last.total, 4);
  EXPECT_EQ(last.running, 0);
}

}  // namespace
}  // namespace rharness
