// Which rerun starts next: the scheduling decision, without threads, processes or waiting.
//
// Role: the pure heart of the scheduler. Time comes in as an argument.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_QUEUE_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_QUEUE_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "harness/execution/dispatch/planned_rerun.h"

namespace rharness {

using MonotonicTime = std::chrono::nanoseconds;

struct RetryPolicy {
  int attempts = 3;  // in all, for infrastructure failures
  std::chrono::nanoseconds first_wait = std::chrono::seconds(2);
  double factor = 2.0;    // of each further wait
  int preemptions = 100;  // do not count as attempts
  int storm = 20;         // attempts that StormWatch looks at; 0: off
};

// A rerun that may start now, with its resources.
struct Start {
  std::size_t index = 0;  // into the list given to the queue
  int attempt = 1;
  std::vector<int> gpus;  // indices of the GPUs it may use
};

// Reruns in the order given, started as resources allow. A large rerun at the head that does not
// fit yet reserves the machine: only reruns expected to end before it could start may overtake it,
// so that small ones cannot starve it.
class JobQueue {
 public:
  JobQueue(std::vector<PlannedRerun> reruns, Slots slots, int jobs, RetryPolicy retry);

  // Adds a rerun at the end of the queue; returns its index.
  std::size_t Add(PlannedRerun rerun);
  // The next rerun to start at `now`; takes its resources. Empty: none may start now.
  std::optional<Start> Next(MonotonicTime now);
  // The rerun came to a final end: its resources are free again.
  void Finish(std::size_t index);
  // It failed for reasons of infrastructure: frees its resources and queues it again after a wait.
  // Returns false when its attempts are used up (it is then finished). A preemption does not count
  // as an attempt.
  bool Retry(std::size_t index, MonotonicTime now, bool counts = true);
  // No further rerun starts: the others count as finished, and as dropped.
  void Stop();

  bool Done() const;                                // nothing waits, nothing runs
  std::optional<MonotonicTime> NextWakeUp() const;  // end of the shortest back-off wait
  int running() const { return running_; }
  int finished() const { return finished_; }
  int dropped() const { return dropped_; }
  bool stopped() const { return stopped_; }
  int total() const { return static_cast<int>(entries_.size()); }
  const PlannedRerun& rerun(std::size_t index) const { return entries_[index].rerun; }
  // How long a running rerun has been at it.
  MonotonicTime RanFor(std::size_t index, MonotonicTime now) const;
  // A rerun with this expected duration (0: not known) took that long: scales later estimates by
  // the durations seen so far.
  void Learn(double expected_seconds, MonotonicTime took);
  // Estimated time from `now` until everything is done, with the current parallelism. A rerun that
  // exceeds its expected time is assumed to need another tenth of it.
  MonotonicTime Remaining(MonotonicTime now) const;

 private:
  enum class State { kWaiting, kRunning, kFinished };
  struct Entry {
    PlannedRerun rerun;
    State state = State::kWaiting;
    int attempt = 0;
    int preempted = 0;
    MonotonicTime not_before{0};
    MonotonicTime started{0};
    std::vector<int> gpus;
  };

  bool Fits(const Resources& needs) const;
  MonotonicTime Estimate(const PlannedRerun& rerun) const;
  // When the blocked head could start, if every running rerun ends as expected.
  MonotonicTime ReservedFrom(const Resources& needs, MonotonicTime now) const;
  Start Take(std::size_t index, MonotonicTime now);
  void Release(Entry* entry);

  std::vector<Entry> entries_;
  Slots free_;
  bool memory_limited_;
  int jobs_;
  RetryPolicy retry_;
  std::vector<bool> gpu_taken_;
  int running_ = 0;
  int finished_ = 0;
  int dropped_ = 0;
  bool stopped_ = false;
  struct {
    int reruns = 0;
    double expected_seconds = 0.0;  // of reruns with a known expectation...
    double took_seconds = 0.0;      // ...and what these took
    double all_seconds = 0.0;       // what all took
  } learned_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_QUEUE_H_
