// What a finished run left in its workspace, measured and brought home.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_COLLECT_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_COLLECT_H_

#include <filesystem>

#include "harness/base/result.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

// Reads the outputs that the manifest declares, below the workspace only: hashes artifacts, digests
// checkpoints, moves weights and optimizer state to `keep`/PATH (the rest stays), shards beside
// their index, reads metrics and curves. What is missing or unreadable becomes a remark
// "output_missing" or "output_unreadable"; members of the metrics file that cannot be used, and of
// which the manifest does not speak already, "output_left_out". Artifact locations are written
// relative to `drill_folder`. Errors: io: also where it is the machine that cannot read what is
// there.
Status CollectOutputs(const Manifest& manifest, const Workspace& workspace,
                      const std::filesystem::path& keep, const std::filesystem::path& drill_folder,
                      Evidence* evidence);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_COLLECT_H_
