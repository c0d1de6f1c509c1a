// The loop that submits reruns from the queue and settles finished ones.
#include "harness/execution/dispatch/scheduler.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace rharness {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);

class Loop {
 public:
  Loop(JobQueue* queue, Dispatcher* dispatcher, const SchedulerHooks& hooks, Clock* clock)
      : queue_(*queue),
        dispatcher_(*dispatcher),
        hooks_(hooks),
        clock_(*clock),
        began_(clock->Monotonic()) {}

  Status Run() {
    while (!queue_.Done()) {
      if (error_ || ShouldStop()) queue_.Stop();
      const bool may_start = !hooks_.may_start || hooks_.may_start();
      if (may_start) RETURN_IF_ERROR(Start());
      Report();
      ASSIGN_OR_RETURN(std::vector<AttemptEnd> ended, WaitForChange());
      for (AttemptEnd& end : ended) Settle(std::move(end));
    }
    Report();
    if (error_) return *error_;
    return {};
  }

 private:
  Status Start() {
    std::vector<Attempt> attempts;
    while (const auto start = queue_.Next(clock_.Monotonic())) {
      attempts.push_back({start->index, hooks_.ticket(queue_.rerun(start->index), *start)});
      running_.insert(start->index);
    }
    if (attempts.empty()) return {};
    return dispatcher_.Submit(std::move(attempts));
  }

  // Running reruns wake us; a back-off wait alone is slept through on the clock.
  Result<std::vector<AttemptEnd>> WaitForChange() {
    if (queue_.Done()) return std::vector<AttemptEnd>();
    if (queue_.running() > 0) return dispatcher_.Wait(kTick);
    const auto wake_up = queue_.NextWakeUp();
    const auto now = clock_.Monotonic();
    // None is known of reruns that may not start yet: their time of day is asked for, tick by tick.
    const MonotonicTime wait = !wake_up || *wake_up <= now ? MonotonicTime(kTick) : *wake_up - now;
    clock_.SleepFor(std::min<MonotonicTime>(wait, kTick));
    return std::vector<AttemptEnd>();
  }

  void Settle(AttemptEnd end) {
    const MonotonicTime now = clock_.Monotonic();
    running_.erase(end.index);
    if (!end.failure.ok()) {
      if (!error_) error_ = end.failure.error();
      queue_.Finish(end.index);
      return;
    }
    switch (end.kind) {
      case AttemptEnd::Kind::kFinal:
        queue_.Learn(queue_.rerun(end.index).expected_seconds, queue_.RanFor(end.index, now));
        queue_.Finish(end.index);
        break;
      case AttemptEnd::Kind::kCutShort:
        queue_.Finish(end.index);
        break;
      case AttemptEnd::Kind::kInfrastructure:
        queue_.Retry(end.index, now);
        break;
      case AttemptEnd::Kind::kPreempted:
        queue_.Retry(end.index, now, false);
        break;
    }
    const PlannedRerun& rerun = queue_.rerun(end.index);
    const bool blames_nobody = end.kind == AttemptEnd::Kind::kInfrastructure;
    if (hooks_.storm != nullptr) {
      hooks_.storm->Add(rerun.run_id, blames_nobody ? ReasonOf(end.evidence) : "");
    }
    if (hooks_.ended) hooks_.ended(rerun, std::move(end));
  }

  bool ShouldStop() const {
    return (hooks_.storm != nullptr && hooks_.storm->Raging()) ||
           (hooks_.should_stop && hooks_.should_stop());
  }

  static std::string ReasonOf(const Evidence& evidence) {
    return evidence.obstacle.empty() ? evidence.outcome.ToString() : evidence.obstacle;
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
    for (const std::size_t index : running_) progress.jobs.push_back(queue_.rerun(index).job);
    hooks_.progress(progress);
  }

  JobQueue& queue_;
  Dispatcher& dispatcher_;
  const SchedulerHooks& hooks_;
  Clock& clock_;
  const std::chrono::nanoseconds began_;
  std::optional<Error> error_;
  std::set<std::size_t> running_;
};

}  // namespace

Status RunQueue(JobQueue* queue, Dispatcher* dispatcher, const SchedulerHooks& hooks,
                Clock* clock) {
  return Loop(queue, dispatcher, hooks, clock).Run();
}

}  // namespace rharness
