// Measures and collects the outputs of a finished run.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_COLLECT_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_COLLECT_H_

#include <filesystem>

#include "harness/base/result.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

// Reads the outputs that the manifest declares, below the workspace only: hashes artifacts, digests
// checkpoints, moves weights and optimizer state to `keep`/PATH (the rest stays), shards beside
// their index, reads metrics and curves. Missing or unreadable outputs become remarks
// "output_missing" or "output_unreadable"; unusable members of the metrics file that the manifest
// does not mention already, "output_left_out". Artifact locations are relative to `drill_folder`.
// Errors: io: also if the machine cannot read an existing output.
Status CollectOutputs(const Manifest& manifest, const Workspace& workspace,
                      const std::filesystem::path& keep, const std::filesystem::path& drill_folder,
                      Evidence* evidence);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_COLLECT_H_
