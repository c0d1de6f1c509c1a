// Watches one started child to its end: output, limits, cancellation, and the end of its tree.
#ifndef RHARNESS_HARNESS_BASE_PROCESS_WATCH_H_
#define RHARNESS_HARNESS_BASE_PROCESS_WATCH_H_

#include <functional>
#include <string>

#include "harness/base/confinement.h"
#include "harness/base/descriptor.h"
#include "harness/base/subprocess.h"

namespace rharness {

struct StartedProcess {
  int pid = 0;         // a child of this process and leader of its own group, not yet waited for
  std::string marker;  // "NAME=VALUE" of kJobMarker in its environment
  bool group_only = false;
  const Confinement* confinement = nullptr;  // outlives the call
  Descriptor stdout_read;                    // reading end of a pipe; invalid: not captured
  Descriptor stderr_read;
  std::chrono::steady_clock::time_point started;
};

// Blocks until the child is reaped and its tree is gone. `on_failure`: see RunProcess.
ProcessResult WatchProcess(StartedProcess child, const ProcessLimits& limits,
                           const std::function<bool()>& should_cancel,
                           const std::function<void()>& on_failure);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_PROCESS_WATCH_H_
