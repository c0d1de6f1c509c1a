// Runs a job in a container of an image pinned by digest, with podman or docker.
//
// The container sees the image (read-only), the workspace under its own path (writable), the job's
// mounts (read-only), a /tmp of its own and no network. It runs as rharness's user, or, if that is
// root, as an unprivileged user; without capabilities, and its files grant none: set-user-ID bits
// and devices have no effect on its mounts. The command is complete: the image's entrypoint is not
// used.
#ifndef RHARNESS_HARNESS_EXECUTION_LAUNCH_CONTAINER_LAUNCHER_H_
#define RHARNESS_HARNESS_EXECUTION_LAUNCH_CONTAINER_LAUNCHER_H_

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/execution/launch/container_host.h"
#include "harness/execution/launch/engine_reply.h"
#include "harness/execution/launch/job.h"

namespace rharness {

// The differences between engines.
struct Engine {
  std::string_view name;  // of the program, too
  std::string_view gpus;  // gives all GPUs to the container
  bool maps_root;         // root in the container is the user outside
  std::vector<std::string_view> run_flags;
  std::string_view mount_options;  // of bind mounts, after a comma
};
// nullptr for an unknown name.
const Engine* FindEngine(std::string_view name);

// Unique on this machine among jobs with different workspaces; depends on the job alone.
std::string ContainerName(const Job& job);

class ContainerLauncher : public Launcher {
 public:
  explicit ContainerLauncher(const Engine& engine, ContainerHost host = DescribeContainerHost())
      : engine_(engine), host_(host) {}

  std::string_view name() const override { return engine_.name; }
  Status Prepare(const Image& image) override;
  Status HandOver(const Job& job) const override { return HandOverWorkspace(job, host_); }
  // Errors: invalid_input also for a variable's name or a path that the engine's command line
  // cannot express.
  Result<ProcessSpec> BuildCommand(const Job& job) const override;
  // Always removes the container, running or not. An empty proof when there never was one. Errors:
  // integrity when another image ran, process and timeout when the engine fails.
  Result<ImageProof> Finish(const Job& job, Outcome* outcome) override;
  // Of an image that the engine has; pulls nothing. Errors: not_found (it does not have it),
  // integrity, process and timeout when the engine fails or is missing.
  Result<ImageFacts> Describe(const Image& image) const;

 private:
  ProcessResult RunEngine(std::vector<std::string> arguments,
                          std::chrono::nanoseconds timeout) const;
  Result<ImageProof> Prove(const std::string& name, const Image& image) const;
  Result<std::optional<ContainerState>> Inspect(const std::string& container) const;
  Status Remove(const std::string& container, bool running) const;

  std::string UserOf(const Job& job) const;
  void AddResources(const Job& job, std::vector<std::string>* argv) const;

  const Engine& engine_;
  const ContainerHost host_;
  std::mutex pulling_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_LAUNCH_CONTAINER_LAUNCHER_H_
