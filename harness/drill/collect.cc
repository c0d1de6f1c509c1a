// Collecting outputs. Everything here was written by somebody else's program.
#include "harness/drill/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/drill/record_parts.h"
#include "harness/drill/tensor_records.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMetricsFileBytes = std::uint64_t{256} << 20;

Remark OutputRemark(std::string_view code, std::string_view path, const std::string& why) {
  return Remark{.code = std::string(code),
                .subject = fmt::format("output '{}'", path),
                .message = fmt::format("output '{}': {}", path, why)};
}

Remark RemarkOf(std::string_view path, const Error& error) {
  const bool missing = error.code == ErrorCode::kNotFound;
  return OutputRemark(missing ? "output_missing" : "output_unreadable", path,
                      missing ? "the run did not write it" : error.ToString());
}

// Moves a checkpoint out of the workspace; rename where the file system allows it.
Status BringHome(const fs::path& from, const fs::path& to) {
  RETURN_IF_ERROR(MakeDirectories(to.parent_path()));
  std::error_code error;
  fs::rename(from, to, error);
  if (!error) return {};
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error) return IoError("cannot keep: " + error.message(), from.string());
  return {};
}

// Measures one declared artifact; the error says what is wrong with the run's output.
Result<Artifact> Measure(const Artifact& recorded, const fs::path& folder) {
  ASSIGN_OR_RETURN(const fs::path path, ResolveBelow(folder, recorded.path));
  Artifact seen{.role = recorded.role, .path = recorded.path};
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(path));
  seen.sha256 = digest.sha256;
  seen.size_bytes = digest.size_bytes;
  if (IsCheckpoint(recorded)) {
    RETURN_IF_ERROR(ReadTensorRecords(path, &seen));
  }
  return seen;
}

// What the recording said already of this file need not be said again of each rerun.
Status CollectMetrics(const Manifest& manifest, const fs::path& folder, Evidence* evidence) {
  if (manifest.metrics_path.empty()) return {};
  const auto path = ResolveBelow(folder, manifest.metrics_path);
  const auto text =
      path.ok() ? ReadFile(*path, kMetricsFileBytes) : Result<std::string>(path.error());
  auto read = text.ok() ? SalvageRunMetrics(*text, manifest.metrics_path)
                        : Result<SalvagedMetrics>(text.error());
  if (!read.ok()) {
    if (IsTrouble(read.error())) return read.error();
    evidence->remarks.push_back(RemarkOf(manifest.metrics_path, read.error()));
    return {};
  }
  for (const std::string& sentence : read->left_out) {
    if (std::ranges::find(manifest.notes, sentence) != manifest.notes.end()) continue;
    evidence->remarks.push_back(OutputRemark("output_left_out", manifest.metrics_path, sentence));
  }
  evidence->metrics = std::move(read->metrics);
  for (const auto& [name, version] : evidence->metrics.software) {
    evidence->environment.software[name] = version;
  }
  return {};
}

}  // namespace

Status CollectOutputs(const Manifest& manifest, const Workspace& workspace, const fs::path& keep,
                      const fs::path& drill_folder, Evidence* evidence) {
  // Resolved from the drill's folder on: a run may have put a link in the place of any folder of
  // its.
  const auto found = ResolveBelow(
      drill_folder, (workspace.path / manifest.working_directory).lexically_relative(drill_folder));
  if (!found.ok()) {
    if (IsTrouble(found.error())) return found.error();
    evidence->remarks.push_back(RemarkOf(manifest.working_directory, found.error()));
    return {};
  }
  const fs::path& folder = *found;
  for (const Artifact& recorded : manifest.artifacts) {
    auto seen = Measure(recorded, folder);
    if (!seen.ok()) {
      if (IsTrouble(seen.error())) return seen.error();
      evidence->remarks.push_back(RemarkOf(recorded.path, seen.error()));
      continue;
    }
    if (IsCheckpoint(recorded)) {
      const fs::path home = keep / recorded.path;
      ASSIGN_OR_RETURN(const fs::path path, ResolveBelow(folder, recorded.path));
      RETURN_IF_ERROR(BringHome(path, home));
      seen->location = home.lexically_relative(drill_folder).string();
    }
    evidence->artifacts.push_back(std::move(*seen));
  }
  return CollectMetrics(manifest, folder, evidence);
}

}  // namespace rharness
