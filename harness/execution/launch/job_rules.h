// The checks of every launcher on a job before it builds a command line.
#ifndef RHARNESS_HARNESS_EXECUTION_LAUNCH_JOB_RULES_H_
#define RHARNESS_HARNESS_EXECUTION_LAUNCH_JOB_RULES_H_

#include <filesystem>

#include "harness/execution/launch/job.h"

namespace rharness {

// The command is not empty, the workspace is absolute, mounts go from an absolute path to an
// absolute normal one that is not "/". Errors: invalid_input.
Status CheckJob(const Job& job);

// workspace/working_directory, or the workspace. Errors: invalid_input when it would leave it.
Result<std::filesystem::path> WorkingDirectory(const Job& job);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_LAUNCH_JOB_RULES_H_
