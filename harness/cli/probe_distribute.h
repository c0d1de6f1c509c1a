// `rharness probe run --distribute`: one fingerprint a node of a Slurm cluster, for `gate fleet`.
#ifndef RHARNESS_HARNESS_CLI_PROBE_DISTRIBUTE_H_
#define RHARNESS_HARNESS_CLI_PROBE_DISTRIBUTE_H_

#include <string>
#include <vector>

#include "harness/cli/command.h"

namespace rharness {

struct DistributeOptions {
  bool asked = false;  // --distribute
  std::string dispatch = "local";
  std::vector<std::string> sbatch;
  double wait_seconds = 3600.0;
  bool waits = false;  // it was given
  bool json = false;
};
void AddDistributeOptions(Command* run, DistributeOptions* options);

// Runs `rharness probe run ARGUMENTS --out FILE` on every node and writes out/NODE.json for each;
// returns the exit code: 0 where every node gave a fingerprint and no probe failed, else 4.
int DistributeProbe(const DistributeOptions& options, const std::vector<std::string>& arguments,
                    const std::string& out, double timeout_seconds);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_PROBE_DISTRIBUTE_H_
