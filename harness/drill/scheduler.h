// Drives a queue of reruns to its end on threads: start, wait, retry, stop.
#ifndef RHARNESS_HARNESS_DRILL_SCHEDULER_H_
#define RHARNESS_HARNESS_DRILL_SCHEDULER_H_

#include <functional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/progress.h"
#include "harness/base/result.h"
#include "harness/drill/queue.h"

namespace rharness {

enum class AttemptEnd {
  kFinal,           // the rerun ran to its end, and has its answer, whatever it is
  kCutShort,        // it has its answer without that, and does not tell how long reruns take
  kInfrastructure,  // it may be tried again
};

struct SchedulerHooks {
  // Does one attempt; called on a thread of its own. An error ends the drill: running reruns are
  // waited for, no other starts.
  std::function<Result<AttemptEnd>(const PlannedRerun&, int attempt, const std::vector<int>& gpus)>
      work;
  std::function<void(const Progress&)> progress;  // may be empty; called on the calling thread
  std::function<bool()> should_stop;              // may be empty; no rerun starts once it is true
};

// Returns when the queue is done or stopped. Blocks. The clock is used on this thread only.
Status RunQueue(JobQueue* queue, const SchedulerHooks& hooks, Clock* clock);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SCHEDULER_H_
