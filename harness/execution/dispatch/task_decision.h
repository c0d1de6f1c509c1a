// What follows from all that a scheduler says of a task that has left no evidence of a run.
//
// Role: what every reader of a scheduler's words comes to, and what its dispatcher acts on.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_TASK_DECISION_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_TASK_DECISION_H_

#include <chrono>
#include <string>

namespace rharness {

struct TaskDecision {
  enum class Kind {
    kWait,         // `why`, if any, is worth telling
    kRetry,        // infrastructure: `why`; on another node where `avoid` names one
    kPreempted,    // as above, and nobody's fault
    kRefused,      // it will never run: `why`
    kOutOfMemory,  // the run's own end: it took more than it may
  };
  Kind kind = Kind::kWait;
  std::string why;
  std::string avoid;
};

// Metadata of shared file systems lag: evidence may come this long after the task's end.
inline constexpr std::chrono::seconds kEvidenceLag{30};
// What nobody knows of is not done: it is waited for this long.
inline constexpr std::chrono::seconds kUnknownLimit{120};
// The one node that a task is for, out of service, is waited for this long: it may be booting.
inline constexpr std::chrono::seconds kOutLimit{600};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_TASK_DECISION_H_
