// Runs a job in a container of an image that is a file, pinned by its hash: a SIF with Apptainer, a
// squashfs with enroot (as pyxis uses it under Slurm). No daemon, no registry, no pull.
//
// A container sees its image, read-only; the workspace under its own path, writable; the job's
// mounts, read-only; the job's variables. The client becomes the job, as our user and in our
// control groups, so that its limits and its end are those of a host run. Apptainer disables the
// network and runs root without privileges; enroot does neither.
//
// It uses enroot and not `srun --container-image`: a node's rerun starts it as its own child, which
// it can limit and end; a step of srun belongs to slurmd.
//
// Sources: apptainer.org/docs/user/latest, "apptainer exec", "Environment and Metadata" and "Bind
// Paths and Mounts"; github.com/NVIDIA/enroot, doc/cmd/start.md and doc/image-format.md. Tested by
// argument vector and with stand-ins for both programs, never with the programs themselves.
#ifndef RHARNESS_HARNESS_EXECUTION_LAUNCH_FILE_IMAGE_LAUNCHER_H_
#define RHARNESS_HARNESS_EXECUTION_LAUNCH_FILE_IMAGE_LAUNCHER_H_

#include <string_view>

#include "harness/execution/launch/job.h"

namespace rharness {

class ApptainerLauncher : public Launcher {
 public:
  // `rootful`: this process is the machine's root.
  explicit ApptainerLauncher(bool rootful);
  ApptainerLauncher();

  std::string_view name() const override { return "apptainer"; }
  // Whether it is a pinned SIF. The finder of the file has proved it (Job::image_file).
  Status Prepare(const Image& image) override;
  Status HandOver(const Job&) const override { return {}; }
  // Errors: invalid_input, also for a path or a variable's name that the command line cannot
  // express.
  Result<ProcessSpec> BuildCommand(const Job& job) const override;
  // Apptainer exits with 255 if it cannot start a container: kNotStarted.
  Result<ImageProof> Finish(const Job& job, Outcome* outcome) override;

 private:
  bool rootful_;
};

class EnrootLauncher : public Launcher {
 public:
  std::string_view name() const override { return "enroot"; }
  Status Prepare(const Image& image) override;
  // Writes the container's start script into the workspace's folder for temporary files, in place
  // of the image's entrypoint.
  Status HandOver(const Job& job) const override;
  // Errors: as above; paths may contain only letters, digits and "._-+@=/", since enroot's own
  // scripts split them, and values of variables no control characters.
  Result<ProcessSpec> BuildCommand(const Job& job) const override;
  // A container that did not reach its start script counts as not started.
  Result<ImageProof> Finish(const Job& job, Outcome* outcome) override;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_LAUNCH_FILE_IMAGE_LAUNCHER_H_
