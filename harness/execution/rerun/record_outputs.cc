// The outputs written by a run, separated from older files, hashed and read.
#include "harness/execution/rerun/record_outputs.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/loaded_files.h"
#include "harness/base/clean_text.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/execution/rerun/record_items.h"
#include "harness/execution/rerun/record_logs.h"
#include "harness/execution/rerun/tensor_records.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/observe/files_seen.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestKernelName = 200;

// As IdentityOfFile, for a folder of its checkpoint.
std::optional<std::string> IdentityOf(const fs::path& named) {
  const auto inside = MainFileOf(named);
  return IdentityOfFile(inside.ok() ? *inside : named);
}

Status TakeKernels(std::string_view text, std::string_view source, Recording* out) {
  ASSIGN_OR_RETURN(out->kernels, FamiliesOfKernels(text, source));
  if (out->kernels->unknown.empty()) return {};
  out->remarks.push_back(
      fmt::format("{} of {} kernels tell no family of probes, such as '{}': the run counts as "
                  "depending on all of them",
                  out->kernels->unknown.size(), out->kernels->kernels,
                  out->kernels->unknown.front().substr(0, kLongestKernelName)));
  return {};
}

Status MeasureKernels(const RecordRequest& request, const fs::path& folder, Recording* out) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(folder / request.kernel_list));
  return TakeKernels(text, request.kernel_list, out);
}

// In the place of a list, if all of them were seen: not inside of graphs.
void TakeSeenKernels(Recording* out) {
  if (!out->observation || !out->observation->kernels || !out->observation->kernels->is_all) return;
  std::string names;
  for (const SeenKernel& kernel : out->observation->kernels->launched) {
    if (kernel.name == kSeenGraphLaunch) return;
    names += kernel.name + "\n";
  }
  if (!names.empty()) (void)TakeKernels(names, "the observed kernels", out);
}

// Files beside a checkpoint that the run wrote, and that a loader loads with it.
void FindLoaded(const fs::path& path, Artifact* artifact, Recording* out) {
  const auto written = [&](const std::string& name) {
    return SafeRelativePath(name, "").ok() &&
           IsChangedSince(path.parent_path() / name, out->started);
  };
  for (std::string& name : LoadedFilesBeside(path, written)) {
    artifact->parts.push_back({.path = std::move(name), .sha256 = {}, .loaded = true});
  }
  if (artifact->parts.size() < kMaxLoadedFiles) return;
  out->remarks.push_back(
      fmt::format("{}: the run wrote many files that are loaded with it; the first {} are recorded",
                  artifact->path, kMaxLoadedFiles));
}

Status MeasureArtifact(const Artifact& artifact, const fs::path& folder, Recording* out) {
  Artifact seen = artifact;
  ASSIGN_OR_RETURN(const fs::path path, MainFileOf(folder / artifact.path));
  if (path != folder / artifact.path) {
    seen.path = (fs::path(artifact.path) / path.filename()).string();
    out->remarks.push_back(
        fmt::format("{} {} is a folder: {} is recorded of it; name further files that a rerun is "
                    "held to (`--artifact other=PATH`)",
                    artifact.role, artifact.path, seen.path));
  }
  ASSIGN_OR_RETURN(FileDigest digest, HashFile(path));
  seen.sha256 = std::move(digest.sha256);
  seen.size_bytes = digest.size_bytes;
  if (seen.role == "weights") FindLoaded(path, &seen, out);
  if (seen.role == "weights" || seen.role == "optimizer") {
    const Status read = ReadTensorRecords(path, &seen);
    if (!read.ok()) {
      out->remarks.push_back("no tensor digest: " + read.error().ToString());
    }
  }
  out->artifacts.push_back(std::move(seen));
  return {};
}

}  // namespace

OutputIdentities IdentifyOutputs(const RecordRequest& request, const fs::path& folder) {
  OutputIdentities identities;
  for (const Artifact& artifact : request.artifacts) {
    if (artifact.role == kItemsRole) {
      IdentifyLogs(artifact.path, folder, &identities);
      continue;
    }
    identities[artifact.path] = IdentityOf(folder / artifact.path);
  }
  if (!request.kernel_list.empty()) {
    identities[request.kernel_list] = IdentityOf(folder / request.kernel_list);
  }
  if (!request.metrics_path.empty()) IdentifyLogs(request.metrics_path, folder, &identities);
  // Whatever the run changes may be an output.
  if (request.find) IdentifyLogs(kFindMetrics, folder, &identities);
  return identities;
}

void MeasureOutputs(const RecordRequest& request, const fs::path& folder,
                    const OutputIdentities& before, Recording* out) {
  const auto measure = [&](const std::string& path, const std::function<Status()>& read) {
    const std::optional<std::string> now = IdentityOf(folder / path);
    const auto known = before.find(path);
    if (now && known != before.end() && now == known->second) {
      out->missing_outputs.push_back(
          fmt::format("output '{}' {}: it was there before the run and was not written by it", path,
                      kNotRecorded));
      return;
    }
    const Status status = read();
    if (!status.ok() && request.find && path == kFindMetrics) {
      out->found.fields.push_back(
          {"metrics", Grade::kMissing, CleanText(status.error().ToString())});
      out->metrics_path.clear();
      return;
    }
    if (!status.ok()) {
      out->missing_outputs.push_back(fmt::format(
          "output '{}' {}: {}", path, kNotRecorded,
          now || path == kFindMetrics ? status.error().ToString() : "the run did not write it"));
    }
  };
  for (const Artifact& artifact : request.artifacts) {
    measure(artifact.path, [&] {
      return artifact.role == kItemsRole ? RecordItems(request, folder, before, artifact, out)
                                         : MeasureArtifact(artifact, folder, out);
    });
  }
  if (!request.kernel_list.empty()) {
    measure(request.kernel_list, [&] { return MeasureKernels(request, folder, out); });
  } else {
    TakeSeenKernels(out);
  }
  if (request.metrics_path.empty()) return;
  measure(request.metrics_path, [&] { return MeasureMetrics(request, folder, before, out); });
}

}  // namespace rharness
