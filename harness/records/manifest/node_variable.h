// The variable that names this machine's node in a pod of a cluster (environment.h, ThisMachine).
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_NODE_VARIABLE_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_NODE_VARIABLE_H_

namespace rharness {

// As SLURMD_NODENAME has it in a task of Slurm's.
inline constexpr char kNodeVariable[] = "RHARNESS_NODE";

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_NODE_VARIABLE_H_
