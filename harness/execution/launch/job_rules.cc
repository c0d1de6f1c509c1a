// Rules of a job for every launcher.
#include "harness/execution/launch/job_rules.h"

#include <fmt/format.h>

#include "harness/base/files.h"

namespace rharness {
namespace {

// Where something can be mounted.
bool IsTarget(const std::filesystem::path& target) {
  return target.is_absolute() && target != "/" && target.lexically_normal() == target;
}

}  // namespace

Status CheckJob(const Job& job) {
  if (job.command.empty() || job.command.front().empty()) {
    return InvalidInput("the command is empty; expected a program and its arguments", job.name);
  }
  if (!job.workspace.is_absolute()) {
    return InvalidInput(
        fmt::format("workspace '{}': expected an absolute path", job.workspace.string()), job.name);
  }
  for (const Mount& mount : job.mounts) {
    if (!mount.source.is_absolute() || !IsTarget(mount.target)) {
      return InvalidInput(
          fmt::format("mount of '{}' at '{}': expected absolute paths, the second in normal form",
                      mount.source.string(), TerminalSafe(mount.target)),
          job.name);
    }
  }
  if (job.scratch && !IsTarget(job.scratch->target)) {
    return InvalidInput(fmt::format("folder in memory at '{}': expected an absolute path in normal "
                                    "form",
                                    TerminalSafe(job.scratch->target)),
                        job.name);
  }
  return {};
}

Result<std::filesystem::path> WorkingDirectory(const Job& job) {
  if (job.working_directory.empty() || job.working_directory == ".") return job.workspace;
  ASSIGN_OR_RETURN(const std::filesystem::path relative,
                   SafeRelativePath(job.working_directory, job.name));
  return job.workspace / relative;
}

}  // namespace rharness
