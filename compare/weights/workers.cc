// Threads that share one task; the fence around std::thread's exceptions.
#include "compare/weights/workers.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

namespace rharness {

int WorkerCount(int requested) {
  const int wanted =
      requested > 0 ? requested : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(wanted, 1, kMaxWorkers);
}

void RunOnWorkers(int count, const std::function<void()>& work) {
  std::vector<std::thread> threads;
  try {
    while (static_cast<int>(threads.size()) < count - 1) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // The threads that did start, and this one, do all of the work.
  }
  work();
  for (std::thread& thread : threads) thread.join();
}

bool FirstError::Check(const Status& status) {
  const std::lock_guard lock(mutex_);
  if (!status.ok() && !error_) error_ = status.error();
  return !error_.has_value();
}

Status FirstError::status() const {
  if (error_) return *error_;
  return {};
}

}  // namespace rharness
