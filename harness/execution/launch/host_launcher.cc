// The launcher without an engine.
#include "harness/execution/launch/host_launcher.h"

#include <fmt/format.h>

#include "harness/execution/launch/job_rules.h"

namespace rharness {

Status HostLauncher::Prepare(const Image& image) {
  if (image.kind == ImageKind::kHost) return {};
  return Unsupported(
      fmt::format("the host cannot run an image of kind '{}'; choose a launcher that does",
                  NameIn(kImageKindNames, image.kind)));
}

Result<ProcessSpec> HostLauncher::BuildCommand(const Job& job) const {
  RETURN_IF_ERROR(CheckJob(job));
  for (const Mount& mount : job.mounts) {
    std::error_code error;
    // A link is the file that it leads to.
    if (mount.source != mount.target &&
        !std::filesystem::equivalent(mount.source, mount.target, error)) {
      return InvalidInput(fmt::format("'{}' cannot appear as '{}' on the host",
                                      mount.source.string(), mount.target),
                          job.name);
    }
  }
  ProcessSpec spec;
  ASSIGN_OR_RETURN(spec.working_directory, WorkingDirectory(job));
  spec.argv = job.command;
  spec.environment = job.environment;
  spec.own_cgroup = true;
  for (const Mount& mount : job.mounts) spec.read_only.push_back(mount.source);
  return spec;
}

Result<ImageProof> HostLauncher::Finish(const Job&, Outcome*) { return ImageProof{}; }

}  // namespace rharness
