// The loop around the queue, with work that takes no time and a clock that sleeps at once.
#include "harness/execution/dispatch/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>

#include "harness/execution/dispatch/local_dispatcher.h"

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

Evidence Ended(bool well) {
  Evidence evidence;
  evidence.outcome.kind = OutcomeKind::kExited;
  evidence.outcome.exit_code = well ? 0 : 1;
  return evidence;
}

// Counts attempts by job; `fails` says how many attempts of each fail.
class Workshop {
 public:
  explicit Workshop(int fails) : fails_(fails) {}
  Result<RerunResult> Work(const Ticket& ticket) {
    const std::scoped_lock lock(mutex_);
    ++attempts_[ticket.job()];
    EXPECT_EQ(attempts_[ticket.job()], ticket.attempt);
    return RerunResult{Ended(true), ticket.attempt <= fails_};
  }
  std::map<std::string, int> attempts() const { return attempts_; }

 private:
  const int fails_;
  std::mutex mutex_;
  std::map<std::string, int> attempts_;
};

SchedulerHooks Hooks() {
  return {.ticket = [](const PlannedRerun& rerun, const Start& start) {
    Ticket ticket{.rerun = rerun.rerun, .attempt = start.attempt};
    ticket.manifest.run_id = rerun.run_id;
    return ticket;
  }};
}

Status RunAll(JobQueue* queue, Workshop* workshop, Clock* clock,
              const SchedulerHooks& hooks = Hooks()) {
  LocalDispatcher dispatcher([=](const Ticket& ticket) { return workshop->Work(ticket); });
  return RunQueue(queue, &dispatcher, hooks, clock);
}

TEST(Scheduler, RunsEveryRerunOnce) {
  JobQueue queue(Reruns(50), Slots{.cpus = 4}, 0, {});
  Workshop workshop(0);
  FakeClock clock;
  ASSERT_TRUE(RunAll(&queue, &workshop, &clock).ok());
  EXPECT_EQ(workshop.attempts().size(), 50U);
  for (const auto& [job, attempts] : workshop.attempts()) EXPECT_EQ(attempts, 1) << job;
}

TEST(Scheduler, RetriesInfrastructureFailuresAfterBackOff) {
  JobQueue queue(Reruns(3), Slots{.cpus = 1}, 0,
                 RetryPolicy{.attempts = 3, .first_wait = std::chrono::seconds(2)});
  Workshop workshop(2);
  FakeClock clock;
  ASSERT_TRUE(RunAll(&queue, &workshop, &clock).ok());
  for (const auto& [job, attempts] : workshop.attempts()) EXPECT_EQ(attempts, 3) << job;
  EXPECT_GE(clock.Monotonic(), std::chrono::seconds(6)) << "2 s, then 4 s";
}

TEST(Scheduler, GivesUpAfterTheLastAttempt) {
  JobQueue queue(Reruns(1), Slots{.cpus = 1}, 0, RetryPolicy{.attempts = 2});
  Workshop workshop(1000);
  FakeClock clock;
  ASSERT_TRUE(RunAll(&queue, &workshop, &clock).ok());
  EXPECT_EQ(workshop.attempts().at("r0.1"), 2);
}

TEST(Scheduler, StopsAtAnErrorOfItsOwnWhereverItStrikes) {
  for (int bad = 0; bad < 5; ++bad) {
    JobQueue queue(Reruns(5), Slots{.cpus = 1}, 0, {});
    std::atomic<int> calls{0};
    LocalDispatcher dispatcher([&](const Ticket&) -> Result<RerunResult> {
      if (calls++ == bad) return IoError("disk full");
      return RerunResult{Ended(true)};
    });
    FakeClock clock;
    const Status status = RunQueue(&queue, &dispatcher, Hooks(), &clock);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message, "disk full");
    EXPECT_EQ(calls.load(), bad + 1);
  }
}

TEST(Scheduler, StopsInAStorm) {
  JobQueue queue(Reruns(100), Slots{.cpus = 1}, 0, RetryPolicy{.attempts = 3});
  std::atomic<int> calls{0};
  LocalDispatcher dispatcher([&](const Ticket& ticket) {
    ++calls;
    Evidence evidence = Ended(false);
    evidence.obstacle = "cannot pull for " + ticket.job();
    return RerunResult{evidence, true};
  });
  StormWatch storm(10);
  SchedulerHooks hooks = Hooks();
  hooks.storm = &storm;
  FakeClock clock;
  ASSERT_TRUE(RunQueue(&queue, &dispatcher, hooks, &clock).ok());
  EXPECT_EQ(calls.load(), 10);
  EXPECT_EQ(queue.dropped(), 100);
}

TEST(Scheduler, WaitsWhileNothingMayStart) {
  JobQueue queue(Reruns(3), Slots{.cpus = 1}, 0, {});
  Workshop workshop(0);
  FakeClock clock;
  SchedulerHooks hooks = Hooks();
  hooks.may_start = [&] { return clock.Monotonic() >= std::chrono::hours(10); };
  ASSERT_TRUE(RunAll(&queue, &workshop, &clock, hooks).ok());
  EXPECT_EQ(workshop.attempts().size(), 3U);
  EXPECT_GE(clock.Monotonic(), std::chrono::hours(10));
}

TEST(Scheduler, StartsNothingOnceItShouldStop) {
  JobQueue queue(Reruns(5), Slots{.cpus = 1}, 0, {});
  std::atomic<int> calls{0};
  LocalDispatcher dispatcher([&](const Ticket&) {
    ++calls;
    return RerunResult{Ended(true)};
  });
  SchedulerHooks hooks = Hooks();
  hooks.should_stop = [&] { return calls > 0; };
  FakeClock clock;
  ASSERT_TRUE(RunQueue(&queue, &dispatcher, hooks, &clock).ok());
  EXPECT_EQ(calls.load(), 1);
}

TEST(Scheduler, ReportsNothingAsDoneThatItNeverStarted) {
  JobQueue queue(Reruns(5), Slots{.cpus = 1}, 0, {});
  std::atomic<int> calls{0};
  Progress last;
  LocalDispatcher dispatcher([&](const Ticket&) {
    ++calls;
    return RerunResult{Ended(true)};
  });
  SchedulerHooks hooks = Hooks();
  hooks.progress = [&](const Progress& progress) { last = progress; };
  hooks.should_stop = [&] { return calls > 0; };
  FakeClock clock;
  ASSERT_TRUE(RunQueue(&queue, &dispatcher, hooks, &clock).ok());
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
  LocalDispatcher dispatcher([](const Ticket&) { return RerunResult{Ended(false)}; });
  SchedulerHooks hooks = Hooks();
  hooks.progress = [&](const Progress& progress) {
    if (progress.finished == 2 && progress.running == 1) left.push_back(*progress.remaining);
  };
  FakeClock clock;
  ASSERT_TRUE(RunQueue(&queue, &dispatcher, hooks, &clock).ok());
  ASSERT_FALSE(left.empty());
  EXPECT_EQ(left.front(), std::chrono::seconds(100));
}

TEST(Scheduler, ReportsProgressUpToTheEnd) {
  JobQueue queue(Reruns(4), Slots{.cpus = 2}, 0, {});
  Workshop workshop(0);
  SchedulerHooks hooks = Hooks();
  Progress last;
  int reports = 0;
  hooks.progress = [&](const Progress& progress) {
    EXPECT_GE(progress.finished, last.finished);
    last = progress;
    ++reports;
  };
  FakeClock clock;
  ASSERT_TRUE(RunAll(&queue, &workshop, &clock, hooks).ok());
  EXPECT_GE(reports, 2);
  EXPECT_EQ(last.finished, 4);
  EXPECT_EQ(last.total, 4);
  EXPECT_EQ(last.running, 0);
}

}  // namespace
}  // namespace rharness
