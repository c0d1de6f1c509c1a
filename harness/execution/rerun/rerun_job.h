// The job of a rerun: its ticket and workspace as a launcher needs them, and what its evidence says
// of the environment.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RERUN_JOB_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RERUN_JOB_H_

#include <filesystem>
#include <map>
#include <string>

#include "harness/execution/launch/job.h"
#include "harness/execution/rerun/ticket.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

// `variables`: complete. `image_file`: of an image that is a file, proved. Pure except for paths.
Job BuildRerunJob(const Ticket& ticket, const Workspace& workspace,
                  const std::filesystem::path& image_file, std::string name,
                  std::map<std::string, std::string> variables);

// What the command sees, or would have seen. The host's packages are the run's own only when it
// runs on the host.
void CaptureRerunEnvironment(const Ticket& ticket, const Workspace& workspace,
                             const std::map<std::string, std::string>& variables,
                             Evidence* evidence);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RERUN_JOB_H_
