// Drives a queue of reruns to its end with a dispatcher: start, wait, retry, stop.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_SCHEDULER_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_SCHEDULER_H_

#include <functional>

#include "harness/base/clock.h"
#include "harness/base/progress.h"
#include "harness/base/result.h"
#include "harness/execution/dispatch/dispatcher.h"
#include "harness/execution/dispatch/queue.h"
#include "harness/execution/dispatch/storm_watch.h"

namespace rharness {

struct SchedulerHooks {
  // What is handed to the dispatcher for it.
  std::function<Ticket(const PlannedRerun&, const Start&)> ticket;
  // An attempt ended, including one that will be retried. May be empty.
  std::function<void(const PlannedRerun&, AttemptEnd)> ended;
  std::function<void(const Progress&)> progress;  // may be empty
  std::function<bool()> should_stop;              // may be empty; no rerun starts once it is true
  std::function<bool()> may_start;  // may be empty; while false none starts, and all wait
  StormWatch* storm = nullptr;      // may be none; sees every end, and stops the queue in a storm
};

// Returns when the queue is done or stopped. Blocks; calls everything on this thread. A failure of
// rharness itself stops the queue: it waits for running reruns, then returns the failure.
Status RunQueue(JobQueue* queue, Dispatcher* dispatcher, const SchedulerHooks& hooks, Clock* clock);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_SCHEDULER_H_
