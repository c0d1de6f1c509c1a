// Runs one function on several threads at once.
//
// Role: the only code of this folder that starts threads. Not here: the division of work.
#ifndef RHARNESS_COMPARE_WEIGHTS_WORKERS_H_
#define RHARNESS_COMPARE_WEIGHTS_WORKERS_H_

#include <functional>
#include <mutex>
#include <optional>

#include "harness/base/result.h"

namespace rharness {

inline constexpr int kMaxWorkers = 64;  // bounds the memory of the workers' buffers

// `requested` 0 or less: one per core. Between 1 and kMaxWorkers.
int WorkerCount(int requested);

// Calls `work` on `count` threads, including the calling one, and returns when all calls have. If
// the system refuses threads, fewer run. `work` takes its share of a common task until none is
// left.
void RunOnWorkers(int count, const std::function<void()>& work);

// The first error of several threads.
class FirstError {
 public:
  // True when `status` is success and no thread has failed: continue.
  bool Check(const Status& status);
  Status status() const;  // after the threads have ended

 private:
  std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_WORKERS_H_
