// The workspaces of a gang's nodes: one that all share, or one each whose outputs come together.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_GANG_WORKSPACE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_GANG_WORKSPACE_H_

#include <filesystem>
#include <functional>

#include "harness/base/result.h"
#include "harness/execution/rerun/gang_notes.h"
#include "harness/execution/rerun/ticket.h"
#include "harness/execution/rerun/workspace.h"

namespace rharness {

// Node 0's workspace as another node sees it: its code and data are hashed through this node's view
// of the file system, unless this is the same machine. An obstacle if they are not the recorded
// ones here, or the folder is not visible. Errors: the machine's trouble.
Result<Workspace> AttachWorkspace(const Ticket& ticket, const NodeReady& head,
                                  const std::function<bool()>& should_cancel);

// Moves the files that a run wrote in another node's workspace into this one, by their paths, so
// that sharded outputs lie together. A file that both have stays; if they differ, and the manifest
// declares it, that is a remark "output_differs". Links are not followed. Errors: io.
Result<std::vector<Finding>> UniteWorkspaces(const Manifest& manifest, const Workspace& here,
                                             const std::filesystem::path& other,
                                             const std::string& node);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_GANG_WORKSPACE_H_
