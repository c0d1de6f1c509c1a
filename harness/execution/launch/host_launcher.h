// Runs a job's command unchanged, on this machine, with the job's environment and nothing else.
#ifndef RHARNESS_HARNESS_EXECUTION_LAUNCH_HOST_LAUNCHER_H_
#define RHARNESS_HARNESS_EXECUTION_LAUNCH_HOST_LAUNCHER_H_

#include "harness/execution/launch/job.h"

namespace rharness {

class HostLauncher : public Launcher {
 public:
  std::string_view name() const override { return "host"; }
  // unsupported for any kind of image but "host": the host cannot replace an image.
  Status Prepare(const Image& image) override;
  // Errors: invalid_input for an empty command, a working directory that leaves the workspace, or a
  // mount whose target is not its source (the host cannot mount it elsewhere).
  Result<ProcessSpec> BuildCommand(const Job& job) const override;
  Status HandOver(const Job&) const override { return {}; }
  Result<ImageProof> Finish(const Job& job, Outcome* outcome) override;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_LAUNCH_HOST_LAUNCHER_H_
