// Files are identified by inode, size and time of writing: a change of owner, as before a container
// starts, writes nothing.
#include "harness/execution/rerun/outputs_before.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <set>
#include <string>
#include <vector>

#include "harness/base/source_folder.h"
#include "harness/records/logs/run_log.h"
#include "harness/records/manifest/artifact.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr long kSecondsBack = 2;
constexpr std::size_t kMostLogs = 200'000;

// What lies in a folder of logs and may be one, relative to the workspace.
std::vector<std::string> LogsBelow(const HeldFolder& folder, const Manifest& manifest) {
  std::vector<std::string> files;
  if (manifest.metrics_path.empty()) return files;
  const fs::path path =
      (fs::path(manifest.working_directory) / manifest.metrics_path).lexically_normal();
  const auto logs = SourceFolder::OpenBelow(folder, path);
  if (!logs.ok() || !logs->file().empty()) return files;
  // What cannot be listed is missing for the reader of logs too, which says so.
  (void)logs->ForEachFile([&](const std::string& relative, EntryKind) -> Result<bool> {
    if (MayBeRunLog(relative)) files.push_back((path / relative).lexically_normal().string());
    return files.size() < kMostLogs;
  });
  return files;
}

std::set<std::string> DeclaredOutputs(const Manifest& manifest) {
  std::set<std::string> paths;
  const auto add = [&](const fs::path& path) {
    paths.insert((fs::path(manifest.working_directory) / path).lexically_normal().string());
  };
  if (!manifest.metrics_path.empty()) add(manifest.metrics_path);
  for (const Artifact& artifact : manifest.artifacts) {
    for (const fs::path& file : FilesOf(artifact)) add(file);
  }
  return paths;
}

// Empty: no regular file lies there.
std::string WrittenState(const HeldFolder& folder, const std::string& path) {
  const auto file = folder.OpenFile(path);
  struct stat info {};
  if (!file.ok() || ::fstat(file->descriptor.get(), &info) != 0) return {};
  return fmt::format("{}:{}:{}:{}.{}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

void SetBack(const HeldFolder& folder, const std::string& path) {
  const auto file = folder.OpenFile(path);
  struct stat info {};
  if (!file.ok() || ::fstat(file->descriptor.get(), &info) != 0 || info.st_nlink > 1) return;
  timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, info.st_mtim};
  times[1].tv_sec -= kSecondsBack;
  (void)::futimens(file->descriptor.get(), times);
}

}  // namespace

void SetOutputsApart(const Manifest& manifest, Workspace* workspace) {
  const auto note = [&](const std::string& path) {
    SetBack(*workspace->folder, path);
    const std::string state = WrittenState(*workspace->folder, path);
    if (!state.empty()) workspace->outputs_before.emplace(path, state);
  };
  for (const std::string& path : DeclaredOutputs(manifest)) note(path);
  std::erase_if(workspace->checkout, [&](const TreeFile& file) {
    return !file.link && workspace->outputs_before.contains(file.path);
  });
  // These may be code, which stays under watch.
  std::vector<std::string> logs = LogsBelow(*workspace->folder, manifest);
  for (const std::string& path : logs) note(path);
  // Runs that a log holds already are there as before, and have no state of their own.
  if (!manifest.metrics_path.empty()) {
    logs.push_back((fs::path(manifest.working_directory) / manifest.metrics_path).string());
  }
  for (const std::string& path : logs) {
    for (const fs::path& run : RunsInLog(*workspace->folder, path)) {
      workspace->outputs_before.emplace(run.lexically_normal().string(), "");
    }
  }
}

bool IsAsBeforeTheRun(const Workspace& workspace, const fs::path& path) {
  const auto before = workspace.outputs_before.find(path.lexically_normal().string());
  return before != workspace.outputs_before.end() &&
         WrittenState(*workspace.folder, before->first) == before->second;
}

}  // namespace rharness
