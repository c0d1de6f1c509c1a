// A planned rerun, and the resources that all reruns share.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_PLANNED_RERUN_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_PLANNED_RERUN_H_

#include <cstdint>
#include <string>

#include "harness/records/manifest/manifest.h"

namespace rharness {

// The machine's resources for the whole drill.
struct Slots {
  int cpus = 1;
  std::uint64_t memory_bytes = 0;  // 0: not limited
  int gpus = 0;
};

struct PlannedRerun {
  std::string run_id;
  int rerun = 1;
  std::string job;      // "RUN.1"
  Resources resources;  // with every default filled in; of a gang: of each node
  int nodes = 1;
  double expected_seconds = 0.0;
  std::string node;   // of a cluster, the required one; empty: any
  int replicate = 0;  // 1, 2, ...: with the smallest change planted; 0: as recorded

  // Of all nodes together: what it takes of the slots.
  Resources Whole() const {
    Resources whole = resources;
    whole.cpus *= nodes;
    whole.gpus *= nodes;
    whole.memory_bytes *= static_cast<std::uint64_t>(nodes);
    return whole;
  }
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_PLANNED_RERUN_H_
