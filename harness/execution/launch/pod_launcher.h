// Runs a job's command in the pod that rharness itself is in, which was made of the job's image.
//
// Role: for runs recorded in an image, where the cluster pulled it by digest and started it: the
// pod is the container. What a host run is held to holds here.
#ifndef RHARNESS_HARNESS_EXECUTION_LAUNCH_POD_LAUNCHER_H_
#define RHARNESS_HARNESS_EXECUTION_LAUNCH_POD_LAUNCHER_H_

#include "harness/execution/launch/host_launcher.h"

namespace rharness {

// Of what image the pod was made, by whoever made it: "sha256:...".
inline constexpr char kPodImageVariable[] = "RHARNESS_POD_IMAGE";

class PodLauncher : public HostLauncher {
 public:
  std::string_view name() const override { return "pod"; }
  // integrity where this is no pod of that image.
  Status Prepare(const Image& image) override;
  // The digest by which the cluster was told to pull.
  Result<ImageProof> Finish(const Job& job, Outcome* outcome) override;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_LAUNCH_POD_LAUNCHER_H_
