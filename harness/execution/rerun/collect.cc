// Collecting outputs. Everything here was written by somebody else's program.
#include "harness/execution/rerun/collect.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "compare/weights/loaded_files.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/names_of_rerun.h"
#include "harness/execution/rerun/outputs_before.h"
#include "harness/execution/rerun/record_items.h"
#include "harness/execution/rerun/tensor_records.h"
#include "harness/records/logs/run_log.h"
#include "harness/records/manifest/artifact.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kKeptMode = 0644;
constexpr char kNotWritten[] =
    "the run did not write it; what lies there is the commit's, or of its data";

Finding OutputRemark(std::string_view code, std::string_view path, const std::string& why) {
  return Finding{.code = std::string(code),
                 .subject = fmt::format("output '{}'", path),
                 .message = fmt::format("output '{}': {}", path, why)};
}

Finding RemarkOf(std::string_view path, const Error& error) {
  const bool missing = error.code == ErrorCode::kNotFound;
  return OutputRemark(missing ? "output_missing" : "output_unreadable", path,
                      missing ? "the run did not write it" : error.ToString());
}

// Moves a checkpoint out of the workspace, to a file of ours with a mode of ours. Moves only a file
// without further names; else copies it, so that no file elsewhere is touched.
Status BringHome(const HeldFolder& folder, const fs::path& relative, const fs::path& to) {
  ASSIGN_OR_RETURN(const HeldFolder from, folder.OpenFolder(relative.parent_path()));
  ASSIGN_OR_RETURN(const OpenedFile file, from.OpenFile(relative.filename()));
  RETURN_IF_ERROR(MakeDirectories(to.parent_path()));
  struct stat info {};
  if (::fstat(file.descriptor.get(), &info) != 0) {
    return IoErrorFromErrno("cannot stat", errno, to.string());
  }
  const bool ours = info.st_nlink == 1 && (info.st_uid == ::geteuid() || ::geteuid() == 0);
  if (ours && ::fchown(file.descriptor.get(), ::geteuid(), ::getegid()) == 0 &&
      ::fchmod(file.descriptor.get(), kKeptMode) == 0 &&
      ::renameat(from.fd(), relative.filename().c_str(), AT_FDCWD, to.c_str()) == 0) {
    struct stat kept {};
    if (::lstat(to.c_str(), &kept) == 0 && kept.st_dev == info.st_dev &&
        kept.st_ino == info.st_ino) {
      return {};
    }
    return IntegrityError("was replaced while it was collected", (from.path() / relative).string());
  }
  std::error_code error;
  fs::copy_file(fmt::format("/proc/self/fd/{}", file.descriptor.get()), to,
                fs::copy_options::overwrite_existing, error);
  if (error) return IoError("cannot keep: " + error.message(), to.string());
  if (::chmod(to.c_str(), kKeptMode) != 0) {
    return IoErrorFromErrno("cannot set mode", errno, to.string());
  }
  return {};
}

bool IsInput(const Manifest& manifest, const Workspace& workspace, const fs::path& path) {
  const auto is_below = [&](const DataItem& item) {
    const fs::path rest = path.lexically_relative(item.path);
    return !rest.empty() && *rest.begin() != "..";
  };
  return std::ranges::find(workspace.checkout, path.string(), &TreeFile::path) !=
             workspace.checkout.end() ||
         std::ranges::find(manifest.code.files, path.string(), &CodeFile::path) !=
             manifest.code.files.end() ||
         std::ranges::any_of(manifest.data, is_below);
}

// Files that a loader reads with this checkpoint: those of the record, and others that the run
// wrote.
std::vector<ArtifactPart> LoadedWith(const Manifest& manifest, const Workspace& workspace,
                                     const HeldFolder& folder, const Artifact& recorded) {
  std::vector<ArtifactPart> loaded;
  std::ranges::copy_if(recorded.parts, std::back_inserter(loaded), &ArtifactPart::loaded);
  const fs::path home = fs::path(recorded.path).parent_path();
  const auto counts = [&](const std::string& name) {
    const bool known = std::ranges::find(loaded, name, &ArtifactPart::path) != loaded.end();
    const fs::path place = (fs::path(manifest.working_directory) / home / name).lexically_normal();
    return !known && !IsInput(manifest, workspace, place) && folder.OpenFile(home / name).ok();
  };
  for (std::string& name : LoadedFilesBeside(folder.through() / recorded.path, counts)) {
    loaded.push_back({.path = std::move(name), .sha256 = {}, .loaded = true});
  }
  return loaded;
}

// Measures one declared artifact; the error names the fault of the run's output.
Result<Artifact> Measure(const Manifest& manifest, const Workspace& workspace,
                         const Artifact& recorded, const HeldFolder& folder) {
  Artifact seen{.role = recorded.role, .path = recorded.path};
  ASSIGN_OR_RETURN(const FileDigest digest, folder.HashFile(recorded.path));
  seen.sha256 = digest.sha256;
  seen.size_bytes = digest.size_bytes;
  if (!IsCheckpoint(recorded)) return seen;
  if (recorded.role == "weights") seen.parts = LoadedWith(manifest, workspace, folder, recorded);
  const Status read = ReadTensorRecords(folder, &seen);
  // What could not be read when it was recorded either is compared as a file.
  const bool expected = !recorded.tensor_digest.empty() || recorded.sha256.empty();
  if (!read.ok() && (expected || IsTrouble(read.error()))) return read.error();
  return seen;
}

// Once all are measured: a file may be of two, a shard of an index and an output itself.
Status KeepCheckpoints(const HeldFolder& folder, const fs::path& keep, const fs::path& drill_folder,
                       Evidence* evidence) {
  std::set<fs::path> kept;
  for (Artifact& artifact : evidence->artifacts) {
    if (!IsCheckpoint(artifact)) continue;
    for (const fs::path& file : FilesOf(artifact)) {
      if (kept.insert(file).second) RETURN_IF_ERROR(BringHome(folder, file, keep / file));
    }
    artifact.location = (keep / artifact.path).lexically_relative(drill_folder).string();
  }
  return {};
}

// A file of the commit or of the data is no output of the run, even if it matches the record:
// reports the first of these that the run did not write.
bool TellOfUnwritten(const Manifest& manifest, const Workspace& workspace,
                     const std::vector<fs::path>& files, Evidence* evidence) {
  for (const fs::path& file : files) {
    if (!IsAsBeforeTheRun(workspace, fs::path(manifest.working_directory) / file)) continue;
    evidence->remarks.push_back(OutputRemark("output_missing", file.string(), kNotWritten));
    return true;
  }
  return false;
}

// Remarks of the recording on this file are not repeated for each rerun.
Status CollectMetrics(const Manifest& manifest, const Workspace& workspace,
                      const HeldFolder& folder, Evidence* evidence) {
  if (manifest.metrics_path.empty()) return {};
  if (TellOfUnwritten(manifest, workspace, {manifest.metrics_path}, evidence)) return {};
  const auto counts = [&](const fs::path& file) {
    return !IsAsBeforeTheRun(workspace, fs::path(manifest.working_directory) / file);
  };
  // Other forms leave nothing unread: what a record lists so was read as rharness's own.
  const bool own = manifest.unread_metrics && !manifest.unread_metrics->empty();
  auto log = ReadRunLog(folder, manifest.metrics_path, counts,
                        own ? ReadLogAs::kOwn : ReadLogAs::kItsContent, manifest.metrics_step);
  if (!log.ok()) {
    if (IsTrouble(log.error())) return log.error();
    evidence->remarks.push_back(RemarkOf(manifest.metrics_path, log.error()));
    return {};
  }
  SalvagedMetrics* read = &log->read;
  for (const std::string& sentence : read->left_out) {
    if (std::ranges::find(manifest.notes, sentence) != manifest.notes.end()) continue;
    evidence->remarks.push_back(OutputRemark("output_left_out", manifest.metrics_path, sentence));
  }
  evidence->metrics = std::move(read->metrics);
  evidence->unread_metrics = std::move(read->unread);
  for (const auto& [name, version] : evidence->metrics.software) {
    evidence->environment.software[name] = version;
  }
  return {};
}

// What is kept of items is a text of ours; its means are metrics.
Result<Artifact> CollectItems(const Manifest& manifest, const Workspace& workspace,
                              const HeldFolder& folder, const Artifact& recorded,
                              const fs::path& keep, std::map<std::string, double>* means) {
  Artifact seen{.role = recorded.role, .path = recorded.path};
  const auto counts = [&](const fs::path& file) {
    return !IsAsBeforeTheRun(workspace, fs::path(manifest.working_directory) / file);
  };
  ASSIGN_OR_RETURN(MeasuredItems measured, MeasureItems(folder, counts, &seen));
  const fs::path home = keep / (recorded.path + ".items.jsonl");
  RETURN_IF_ERROR(MakeDirectories(home.parent_path()));
  RETURN_IF_ERROR(WriteFileAtomic(home, measured.text));
  seen.location = home.string();
  means->merge(measured.means);
  return seen;
}

}  // namespace

Status CollectOutputs(const Manifest& manifest, const Workspace& workspace, const fs::path& keep,
                      const fs::path& drill_folder, Evidence* evidence) {
  if (!workspace.folder->IsInPlace()) {
    evidence->remarks.push_back(RemarkOf(
        workspace.path.filename().string(),
        IntegrityError("the run moved or replaced its workspace", workspace.path.string())));
    return {};
  }
  const auto found = workspace.folder->OpenFolder(manifest.working_directory);
  if (!found.ok()) {
    if (IsTrouble(found.error())) return found.error();
    evidence->remarks.push_back(RemarkOf(manifest.working_directory, found.error()));
    return {};
  }
  const HeldFolder& folder = *found;
  ASSIGN_OR_RETURN(std::vector<Finding> renamed, TakeRecordedNames(manifest, workspace, folder));
  std::ranges::move(renamed, std::back_inserter(evidence->remarks));
  std::map<std::string, double> means;
  for (const Artifact& recorded : manifest.artifacts) {
    if (recorded.role == kModelOfTracker) continue;
    if (TellOfUnwritten(manifest, workspace, FilesOf(recorded), evidence)) continue;
    const bool items = recorded.role == kItemsRole;
    auto seen = items ? CollectItems(manifest, workspace, folder, recorded, keep, &means)
                      : Measure(manifest, workspace, recorded, folder);
    if (!seen.ok()) {
      if (IsTrouble(seen.error())) return seen.error();
      evidence->remarks.push_back(RemarkOf(recorded.path, seen.error()));
      continue;
    }
    if (items) seen->location = fs::path(seen->location).lexically_relative(drill_folder).string();
    evidence->artifacts.push_back(std::move(*seen));
  }
  RETURN_IF_ERROR(KeepCheckpoints(folder, keep, drill_folder, evidence));
  RETURN_IF_ERROR(CollectMetrics(manifest, workspace, folder, evidence));
  evidence->metrics.metrics.merge(means);
  return {};
}

}  // namespace rharness
