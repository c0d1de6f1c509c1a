// Carries out attempts on this machine, each on a thread of its own.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_LOCAL_DISPATCHER_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_LOCAL_DISPATCHER_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/execution/dispatch/dispatcher.h"

namespace rharness {

// How many run at once is the queue's to say.
class LocalDispatcher : public Dispatcher {
 public:
  // `work` is CarryOut with the state that reruns share; called from several threads at once.
  explicit LocalDispatcher(std::function<Result<RerunResult>(const Ticket&)> work)
      : work_(std::move(work)) {}

  std::string_view name() const override { return "local"; }
  Status Submit(std::vector<Attempt> attempts) override;
  Result<std::vector<AttemptEnd>> Wait(std::chrono::nanoseconds longest) override;

 private:
  Result<RerunResult> Work(const Ticket& ticket) const;

  std::function<Result<RerunResult>(const Ticket&)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<AttemptEnd> ended_;
  std::map<std::size_t, std::jthread> threads_;  // last member: joined before the rest goes
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_LOCAL_DISPATCHER_H_
