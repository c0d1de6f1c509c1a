// Threads that carry out reruns, and the list of finished ones.
#include "harness/execution/dispatch/local_dispatcher.h"

#include <exception>
#include <utility>

namespace rharness {

// Nothing may leave a thread: without memory, the drill ends with an error instead.
Result<RerunResult> LocalDispatcher::Work(const Ticket& ticket) const {
  try {
    return work_(ticket);
  } catch (const std::exception& failure) {
    return InternalError(failure.what(), ticket.job());
  }
}

Status LocalDispatcher::Submit(std::vector<Attempt> attempts) {
  for (Attempt& attempt : attempts) {
    threads_[attempt.index] = std::jthread([this, attempt = std::move(attempt)] {
      AttemptEnd end = EndOf(attempt.index, Work(attempt.ticket));
      const std::scoped_lock lock(mutex_);
      ended_.push_back(std::move(end));
      changed_.notify_one();
    });
  }
  return {};
}

Result<std::vector<AttemptEnd>> LocalDispatcher::Wait(std::chrono::nanoseconds longest) {
  std::vector<AttemptEnd> ended;
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, longest, [this] { return !ended_.empty(); });
    ended.swap(ended_);
  }
  for (const AttemptEnd& end : ended) threads_.erase(end.index);  // joins
  return ended;
}

}  // namespace rharness
