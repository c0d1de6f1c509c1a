// The decision on a task without evidence of a run, from a scheduler's reports.
//
// Role: every reader of a scheduler's reports returns it, and its dispatcher acts on it.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_TASK_DECISION_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_TASK_DECISION_H_

#include <chrono>
#include <string>

namespace rharness {

struct TaskDecision {
  enum class Kind {
    kWait,         // `why`, if any, is worth reporting
    kRetry,        // infrastructure: `why`; not on node `avoid`, if set
    kPreempted,    // as above, and nobody's fault
    kRefused,      // it will never run: `why`
    kOutOfMemory,  // the run's own end: it exceeded its memory
  };
  Kind kind = Kind::kWait;
  std::string why;
  std::string avoid;
};

// Metadata of shared file systems lag: evidence may arrive this long after the task's end.
inline constexpr std::chrono::seconds kEvidenceLag{30};
// An unknown task is not done: wait for it this long.
inline constexpr std::chrono::seconds kUnknownLimit{120};
// Wait this long for a task's required node that is out of service: it may be booting.
inline constexpr std::chrono::seconds kOutLimit{600};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_TASK_DECISION_H_
