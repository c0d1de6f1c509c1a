// Parses the answers of podman and docker strictly: pure functions over their output.
#ifndef RHARNESS_HARNESS_EXECUTION_LAUNCH_ENGINE_REPLY_H_
#define RHARNESS_HARNESS_EXECUTION_LAUNCH_ENGINE_REPLY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/execution/launch/job.h"

namespace rharness {

// A container as "container inspect" tells it.
struct ContainerState {
  std::string image_id;  // with its algorithm: "sha256:..."
  bool running = false;  // or paused, or stopping
  bool ended = false;    // it ran and has an exit code; neither: its command never started
  int exit_code = 0;
  bool out_of_memory = false;  // some engines never say so
};

// Empty: there is no such container. Errors: process for a reply of another shape.
Result<std::optional<ContainerState>> ParseContainerInspect(std::string_view json);

// Does an image that "image inspect" describes carry the pinned digest, by itself or as an entry
// of its repository digests? Returns the proof. Errors: not_found for an empty reply, integrity
// when the digest is missing, process for a reply of another shape.
Result<ImageProof> ProveImage(std::string_view json, const Image& image);

// The parts of an image, from its inspection.
struct ImageFacts {
  std::vector<std::string> layers;  // RootFS, the lowest first
  std::string base_name;            // label org.opencontainers.image.base.name
  std::string base_digest;          // label org.opencontainers.image.base.digest
};
// For the pinned image alone. Errors: those of ProveImage. Source of the labels: OCI image
// specification, "Pre-Defined Annotation Keys".
Result<ImageFacts> ParseImageFacts(std::string_view json, const Image& image);

// Why a pull failed. not_found: the registry answered that it has no such repository or digest;
// timeout; else process, with the engine's last line.
Error ExplainPullFailure(const Image& image, const ProcessResult& result);

// Decides the job's outcome from the ends of the engine's client and of its container.
// `memory_limited`: the container had a memory limit. An outcome that rharness itself caused (timed
// out, cancelled, a limit) stays.
void DecideOutcome(std::string_view engine, const std::optional<ContainerState>& container,
                   bool memory_limited, Outcome* outcome);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_LAUNCH_ENGINE_REPLY_H_
