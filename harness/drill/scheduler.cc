// The loop that starts what the queue offers and listens for ends.
#include "harness/drill/scheduler.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace rharness {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);

struct Ended {
  std::size_t index = 0;
  Result<AttemptEnd> end;
};

class Loop {
 public:
  Loop(JobQueue* queue, const SchedulerHooks& hooks, Clock* clock)
      : queue_(*queue), hooks_(hooks), clock_(*clock), began_(clock->Monotonic()) {}

  Status Run() {
    while (!queue_.Done()) {
      if (error_ || (hooks_.should_stop && hooks_.should_stop())) queue_.Stop();
      while (const auto start = queue_.Next(clock_.Monotonic())) Launch(*start);
      Report();
      WaitForChange();
      while (auto ended = Pop()) Settle(*ended);
    }
    Report();
    if (error_) return *error_;
    return {};
  }

 private:
  // Nothing may leave a thread: without memory, the drill ends with an error instead.
  Result<AttemptEnd> Work(const PlannedRerun& rerun, const Start& start) const {
    try {
      return hooks_.work(rerun, start.attempt, start.gpus);
    } catch (const std::exception& failure) {
      return InternalError(failure.what(), rerun.job);
    }
  }

  void Launch(const Start& start) {
    const PlannedRerun& rerun = queue_.rerun(start.index);
    threads_[start.index] = std::jthread([this, start, rerun] {
      Result<AttemptEnd> end = Work(rerun, start);
      const std::scoped_lock lock(mutex_);
      ended_.push_back(Ended{start.index, std::move(end)});
      changed_.notify_one();
    });
  }

  // Running reruns wake us; a back-off wait alone is slept through on the clock.
  void WaitForChange() {
    if (queue_.Done()) return;
    if (queue_.running() == 0) {
      const auto wake_up = queue_.NextWakeUp();
      const auto now = clock_.Monotonic();
      const auto wait = wake_up && *wake_up > now ? *wake_up - now : MonotonicTime(0);
      clock_.SleepFor(std::min<MonotonicTime>(wait, kTick));
      return;
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kTick, [this] { return !ended_.empty(); });
  }

  std::optional<Ended> Pop() {
    const std::scoped_lock lock(mutex_);
    if (ended_.empty()) return std::nullopt;
    Ended ended = std::move(ended_.front());
    ended_.pop_front();
    return ended;
  }

  void Settle(const Ended& ended) {
    threads_.erase(ended.index);  // joins
    const MonotonicTime now = clock_.Monotonic();
    if (!ended.end.ok()) {
      if (!error_) error_ = ended.end.error();
      queue_.Finish(ended.index);
    } else if (*ended.end == AttemptEnd::kFinal) {
      queue_.Learn(queue_.rerun(ended.index).expected_seconds, queue_.RanFor(ended.index, now));
      queue_.Finish(ended.index);
    } else if (*ended.end == AttemptEnd::kCutShort) {
      queue_.Finish(ended.index);
    } else {
      queue_.Retry(ended.index, now);
    }
  }

  void Report() {
    if (!hooks_.progress) return;
    const auto now = clock_.Monotonic();
    Progress progress{.finished = queue_.finished() - queue_.dropped(),
                      .running = queue_.running(),
                      .total = queue_.total(),
                      .elapsed = now - began_,
                      .remaining = queue_.Remaining(now),
                      .stopping = queue_.stopped()};
    for (const auto& [index, thread] : threads_) progress.jobs.push_back(queue_.rerun(index).job);
    hooks_.progress(progress);
  }

  JobQueue& queue_;
  const SchedulerHooks& hooks_;
  Clock& clock_;
  const std::chrono::nanoseconds began_;
  std::optional<Error> error_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Ended> ended_;
  std::map<std::size_t, std::jthread> threads_;  // last member: joined before the rest goes
};

}  // namespace

Status RunQueue(JobQueue* queue, const SchedulerHooks& hooks, Clock* clock) {
  return Loop(queue, hooks, clock).Run();
}

}  // namespace rharness
