// Proving a workspace from another node, and bringing outputs of several nodes together.
#include "harness/execution/rerun/gang_workspace.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/found_data.h"
#include "harness/execution/rerun/gang_merge.h"

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
    const std::string other = OtherEmptyFolders(item.empty_folders, seen->empty_folders);
    if (!other.empty()) {
      return Blocked(Layer::kData, fmt::format("this node sees other folders of data '{}': it {}",
                                               item.name, other));
    }
  }
  return std::optional<Obstacle>();
}

bool IsBelow(const fs::path& path, const std::string& place) {
  const fs::path rest = path.lexically_relative(place);
  return !rest.empty() && *rest.begin() != "..";
}

bool IsDeclaredOutput(const Manifest& manifest, const fs::path& path) {
  return path == fs::path(manifest.metrics_path) ||
         std::ranges::any_of(manifest.artifacts, [&](const Artifact& artifact) {
           return IsBelow(path, artifact.path);
         });
}

bool IsInput(const Manifest& manifest, const fs::path& path) {
  return std::ranges::any_of(manifest.data,
                             [&](const DataItem& item) { return IsBelow(path, item.path); }) ||
         std::ranges::any_of(manifest.code.files,
                             [&](const CodeFile& file) { return path == file.path; });
}

// A link that the run left in the way could lead anywhere.
Status MoveInto(const fs::path& from, const fs::path& workspace, const fs::path& path) {
  RETURN_IF_ERROR(MakeDirectoriesBelow(workspace, path.parent_path()));
  ASSIGN_OR_RETURN(const HeldFolder held, HeldFolder::Open(workspace));
  std::optional<HeldFolder> below;
  if (path.has_parent_path()) {
    ASSIGN_OR_RETURN(below, held.OpenFolder(path.parent_path()));
  }
  const int to = below ? below->fd() : held.fd();
  if (::renameat(AT_FDCWD, from.c_str(), to, path.filename().c_str()) == 0) return {};
  return IoErrorFromErrno("cannot be moved", errno, from.string());
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

Result<std::vector<Finding>> UniteWorkspaces(const Manifest& manifest, const NodeWorkspace& here,
                                             const NodeWorkspace& other) {
  std::vector<Finding> remarks;
  std::error_code error;
  for (fs::recursive_directory_iterator at(other.path, error), end; !error && at != end;
       at.increment(error)) {
    const fs::path path = at->path().lexically_relative(other.path);
    if (*path.begin() == ".tmp" || at->is_symlink() || !at->is_regular_file()) continue;
    if (IsInput(manifest, path)) continue;
    const fs::path place = here.path / path;
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(place, ignored))) {
      RETURN_IF_ERROR(MoveInto(at->path(), here.path, path));
      continue;
    }
    if (!IsDeclaredOutput(manifest, path)) continue;
    const auto ours = HashFile(place);
    const auto theirs = HashFile(at->path());
    if (ours.ok() && theirs.ok() && ours->sha256 == theirs->sha256) continue;
    const auto shown = [](const auto& hashed) {
      return hashed.ok() ? "sha256 " + hashed->sha256 : hashed.error().message;
    };
    remarks.push_back(
        {.code = std::string(kOutputDiffers),
         .subject = path.string(),
         .observed = shown(theirs),
         .limit = shown(ours),
         .message = fmt::format("{} and {} wrote different bytes as '{}': {}, and {}", here.name,
                                other.name, path.string(), shown(ours), shown(theirs))});
  }
  if (error) return IoErrorFromErrno("cannot be listed", error.value(), other.path.string());
  return remarks;
}

}  // namespace rharness
