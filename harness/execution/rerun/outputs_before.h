// Outputs that exist in a workspace before its run, since the commit or its data have a file of
// that name.
//
// Role: a file that a run does not write is not its output, and a file that it writes there is no
// change of its code. Not here: reading outputs (collect.h).
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_OUTPUTS_BEFORE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_OUTPUTS_BEFORE_H_

#include <filesystem>

#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Before the run, which may read them: notes regular files that the manifest declares as outputs in
// workspace->outputs_before, and removes those of the checkout from workspace->checkout. Sets their
// time two seconds back, so that every write changes it; except for a file with another name
// elsewhere.
void SetOutputsApart(const Manifest& manifest, Workspace* workspace);

// After the run: whether this file existed before and was neither written nor replaced. `path`:
// relative to the workspace.
bool IsAsBeforeTheRun(const Workspace& workspace, const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_OUTPUTS_BEFORE_H_
