// A dispatcher carries attempts out somewhere: on this machine, or on those of a scheduler.
//
// Role: the seam between what decides (the queue, the drill) and where things run. Asynchronous:
// one thread hands attempts over and asks what became of them. A dispatcher believes evidence only;
// what it does not know is not done.
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
    kFinal,           // the rerun ran to its end, and has its answer, whatever it is
    kCutShort,        // it has its answer without that, and does not tell how long reruns take
    kInfrastructure,  // it may be tried again
    kPreempted,       // as above, and nobody's fault: it counts for no attempt
  };
  std::size_t index = 0;
  Kind kind = Kind::kFinal;
  Evidence evidence;
  Status failure;  // rharness's own: it ends the drill, and there is no evidence
};

// By its evidence.
AttemptEnd EndOf(std::size_t index, Result<RerunResult> result);

class Dispatcher {
 public:
  virtual ~Dispatcher() = default;
  virtual std::string_view name() const = 0;  // "local", "slurm", "kubernetes"
  // Takes these attempts; returns before they are done. Errors end the drill.
  virtual Status Submit(std::vector<Attempt> attempts) = 0;
  // Those that ended since the last call; waits for one until `longest` has passed. Errors: nothing
  // will be known of those that run.
  virtual Result<std::vector<AttemptEnd>> Wait(std::chrono::nanoseconds longest) = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_DISPATCHER_H_
