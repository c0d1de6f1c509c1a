// Proving a workspace from another node, and bringing outputs of several nodes together.
#include "harness/execution/rerun/gang_workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/found_data.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Why these bytes are not the recorded ones here; empty: they are.
std::string OtherHere(const std::string& name, const std::string& recorded,
                      const Result<TreeDigest>& seen) {
  if (seen.ok() && seen->sha256 == recorded) return "";
  return fmt::format("this node sees other bytes of {} than node 0: sha256 {}", name,
                     seen.ok() ? seen->sha256 : seen.error().ToString());
}

Result<std::optional<Obstacle>> Prove(const Manifest& manifest, const fs::path& workspace) {
  for (const CodeFile& file : manifest.code.files) {
    const auto seen = HashTree(workspace / file.path);
    if (!seen.ok() && IsTrouble(seen.error())) return seen.error();
    const std::string why = OtherHere("code file '" + file.path + "'", file.sha256, seen);
    if (!why.empty()) return Blocked(Layer::kCode, why);
  }
  for (const DataItem& item : manifest.data) {
    const auto seen = HashData(workspace / item.path, item);
    if (!seen.ok() && IsTrouble(seen.error())) return seen.error();
    const std::string why = OtherHere("data '" + item.name + "'", item.sha256, seen);
    if (!why.empty()) return Blocked(Layer::kData, why);
  }
  return std::optional<Obstacle>();
}

bool IsDeclaredOutput(const Manifest& manifest, const fs::path& path) {
  return path == fs::path(manifest.metrics_path) ||
         std::ranges::any_of(manifest.artifacts, [&](const Artifact& artifact) {
           return fs::path(artifact.path) == path;
         });
}

bool IsInput(const Manifest& manifest, const fs::path& path) {
  const auto is_below = [&](const std::string& place) {
    const fs::path rest = path.lexically_relative(place);
    return !rest.empty() && *rest.begin() != "..";
  };
  return std::ranges::any_of(manifest.data,
                             [&](const DataItem& item) { return is_below(item.path); }) ||
         std::ranges::any_of(manifest.code.files,
                             [&](const CodeFile& file) { return path == file.path; });
}

}  // namespace

Result<Workspace> AttachWorkspace(const Ticket& ticket, const NodeReady& head,
                                  const std::function<bool()>& should_cancel) {
  Workspace workspace{.path = head.workspace};
  auto folder = HeldFolder::Open(workspace.path);
  if (!folder.ok()) {
    workspace.obstacle = Obstacle{
        {},
        fmt::format("node 0's workspace {} is not visible here; expected a file system that "
                    "all nodes share",
                    head.workspace)};
    return workspace;
  }
  workspace.folder = std::make_shared<const HeldFolder>(std::move(*folder));
  workspace.mounts = head.mounts;
  if (ThisMachine().boot_id != head.machine.boot_id) {
    ASSIGN_OR_RETURN(workspace.obstacle, Prove(ticket.manifest, workspace.path));
    if (workspace.obstacle) return workspace;
  }
  ASSIGN_OR_RETURN(workspace.python, ChoosePython(ticket.manifest, ticket.places, should_cancel));
  workspace.remarks = workspace.python.remarks;
  workspace.obstacle = workspace.python.obstacle;
  return workspace;
}

Result<std::vector<Finding>> UniteWorkspaces(const Manifest& manifest, const Workspace& here,
                                             const fs::path& other, const std::string& node) {
  std::vector<Finding> remarks;
  std::error_code error;
  for (fs::recursive_directory_iterator at(other, error), end; !error && at != end;
       at.increment(error)) {
    const fs::path path = at->path().lexically_relative(other);
    if (*path.begin() == ".tmp" || at->is_symlink() || !at->is_regular_file()) continue;
    if (IsInput(manifest, path)) continue;
    const fs::path place = here.path / path;
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(place, ignored))) {
      fs::create_directories(place.parent_path(), error);
      if (!error) fs::rename(at->path(), place, error);
      if (error) return IoErrorFromErrno("cannot be moved", error.value(), at->path().string());
      continue;
    }
    if (!IsDeclaredOutput(manifest, path)) continue;
    const auto ours = HashFile(place);
    const auto theirs = HashFile(at->path());
    if (ours.ok() && theirs.ok() && ours->sha256 == theirs->sha256) continue;
    remarks.push_back(
        {.code = "output_differs",
         .subject = path.string(),
         .message = fmt::format("{} wrote another {} than node 0", node, path.string())});
  }
  if (error) return IoErrorFromErrno("cannot be listed", error.value(), other.string());
  return remarks;
}

}  // namespace rharness
