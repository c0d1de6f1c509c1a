// Tickets as jobs, and their environment as evidence.
#include "harness/execution/rerun/rerun_job.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "harness/execution/rerun/observed_run.h"
#include "harness/records/manifest/lock_files.h"
#include "harness/records/manifest/packages.h"

namespace rharness {

namespace fs = std::filesystem;

Job BuildRerunJob(const Ticket& ticket, const Workspace& workspace, const fs::path& image_file,
                  std::string name, std::map<std::string, std::string> variables) {
  Job job{.name = std::move(name),
          .command = ticket.manifest.command,
          .workspace = fs::absolute(workspace.path),
          .working_directory = ticket.manifest.working_directory,
          .mounts = workspace.mounts,
          .environment = std::move(variables),
          .image = ticket.manifest.image,
          .image_file = image_file,
          .resources = ticket.resources,
          .container_root = ticket.container_root};
  job.limits.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(
      Seconds(ticket.resources.timeout_seconds));
  job.limits.memory_bytes = ticket.resources.memory_bytes;
  job.limits.processes = kMostProcesses;
  job.limits.disk_bytes = ticket.resources.disk_bytes;
  job.limits.disk_root = job.workspace;
  job.limits.footprint = RunsAmongUs(ticket);
  job.limits.footprint_variables = FootprintVariables();
  GivePython(ticket.manifest, workspace.python, ticket.environment, &job);
  return job;
}

void CaptureRerunEnvironment(const Ticket& ticket, const Workspace& workspace,
                             const std::map<std::string, std::string>& variables,
                             Evidence* evidence) {
  // Variables in the record, and those that the drill changes.
  std::set<std::string> named;
  for (const auto& [name, value] : ticket.manifest.environment.variables) named.insert(name);
  for (const auto& [name, value] : ticket.environment) named.insert(name);
  evidence->environment = CaptureEnvironment(&variables, named);
  evidence->environment.lock_files =
      FindLockFiles(workspace.path, ticket.manifest.working_directory);
  for (const auto& [name, value] : ticket.environment) {
    evidence->remarks.push_back(
        {.code = std::string(kEnvironmentOverridden),
         .subject = "variable " + name,
         .observed = value ? "set" : "unset",
         .message = fmt::format("the drill {} {} (--env)", value ? "set" : "unset", name)});
  }
  auto& software = evidence->environment.software;
  if (ticket.manifest.image.kind == ImageKind::kHost) {
    if (const std::string packages = HostPackagesSha256(); !packages.empty()) {
      software["host_packages"] = packages;
    }
  } else {
    software.erase("glibc");
    software.erase("os");
  }
}

}  // namespace rharness
