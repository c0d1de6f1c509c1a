// The workspaces of a gang's nodes: one that all share, or one each whose outputs come together.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_GANG_WORKSPACE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_GANG_WORKSPACE_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

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

// A node's workspace, and its name as in NodeInWords.
struct NodeWorkspace {
  std::filesystem::path path;
  std::string name;
};

// Moves the files that a run wrote in another node's workspace into `here`, by their paths, so that
// sharded outputs lie together. A file that both have stays; if they differ, and the manifest
// declares it or a folder above it, that is a remark kOutputDiffers. Links are not followed, on
// either side. Errors: io, integrity (a link of `here` is in the way).
Result<std::vector<Finding>> UniteWorkspaces(const Manifest& manifest, const NodeWorkspace& here,
                                             const NodeWorkspace& other);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_GANG_WORKSPACE_H_
