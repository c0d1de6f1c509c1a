// A dispatcher carries out attempts: on this machine, or on those of a scheduler.
//
// Role: the interface between decisions (the queue, the drill) and machines. Asynchronous: one
// thread submits attempts and polls their ends. A dispatcher trusts evidence only; an attempt
// without it is not done.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_DISPATCHER_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_DISPATCHER_H_

#include <chrono>
#include <cstddef>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/execution/rerun/rerun.h"

namespace rharness {

// One attempt, as it is handed over.
struct Attempt {
  std::size_t index = 0;  // the caller's name for it
  Ticket ticket;
};

// What became of one.
struct AttemptEnd {
  enum class Kind {
    kFinal,           // the rerun ran to its end, with an answer of any kind
    kCutShort,        // has an answer without a full run, so its duration says nothing
    kInfrastructure,  // it may be tried again
    kPreempted,       // as above, and nobody's fault: does not count as an attempt
  };
  std::size_t index = 0;
  Kind kind = Kind::kFinal;
  Evidence evidence;
  Status failure;  // of rharness itself: ends the drill, without evidence
};

// By its evidence.
AttemptEnd EndOf(std::size_t index, Result<RerunResult> result);

class Dispatcher {
 public:
  virtual ~Dispatcher() = default;
  virtual std::string_view name() const = 0;  // "local", "slurm", "kubernetes"
  // Submits these attempts; returns before they are done. Errors end the drill.
  virtual Status Submit(std::vector<Attempt> attempts) = 0;
  // Those that ended since the last call; waits for one until `longest` has passed. Errors: the
  // results of running attempts will not be known.
  virtual Result<std::vector<AttemptEnd>> Wait(std::chrono::nanoseconds longest) = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_DISPATCHER_H_
