// Runs a job's command in the pod of rharness itself, which was made from the job's image.
//
// Role: for runs recorded in an image, where the cluster pulled it by digest and started it: the
// pod is the container. The limits of a host run apply.
#ifndef RHARNESS_HARNESS_EXECUTION_LAUNCH_POD_LAUNCHER_H_
#define RHARNESS_HARNESS_EXECUTION_LAUNCH_POD_LAUNCHER_H_

#include "harness/execution/launch/host_launcher.h"

namespace rharness {

// The image of the pod, set by its creator: "sha256:...".
inline constexpr char kPodImageVariable[] = "RHARNESS_POD_IMAGE";

class PodLauncher : public HostLauncher {
 public:
  std::string_view name() const override { return "pod"; }
  // integrity if this is no pod of that image.
  Status Prepare(const Image& image) override;
  // The digest that the cluster pulled.
  Result<ImageProof> Finish(const Job& job, Outcome* outcome) override;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_LAUNCH_POD_LAUNCHER_H_
