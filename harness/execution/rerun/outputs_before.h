// Outputs that lie in a workspace before its run, since the commit or its data have a file of that
// name.
//
// Role: what a run does not write is none of its outputs, and what it writes there is no change of
// its code. Not here: reading outputs (collect.h).
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_OUTPUTS_BEFORE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_OUTPUTS_BEFORE_H_

#include <filesystem>

#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Before the run, which may read them: notes regular files that the manifest declares as outputs in
// workspace->outputs_before, and takes those of the checkout out of workspace->checkout. Their time
// is set two seconds back, so that whatever writes to one changes it; not that of a file that has
// another name elsewhere.
void SetOutputsApart(const Manifest& manifest, Workspace* workspace);

// After the run: whether this file was there before and nothing has written to it or replaced it.
// `path`: relative to the workspace.
bool IsAsBeforeTheRun(const Workspace& workspace, const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_OUTPUTS_BEFORE_H_
