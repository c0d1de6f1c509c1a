// Gathers an attempt's files for a log, and writes them to their usual places.
#include "harness/execution/rerun/framed_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/execution/rerun/framed_log.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMarker = "ended.json";
constexpr std::uint64_t kMargin = 1 << 16;  // for the marker, and for paths

fs::path EvidenceOf(const Ticket& ticket) {
  return RerunFolder({}, ticket.run_id(), ticket.rerun) / "evidence.json";
}

// Below the folder, each once; without the marker, which comes last.
std::set<std::string> PathsOf(const Ticket& ticket, const Evidence& evidence) {
  std::set<std::string> paths = {EvidenceOf(ticket).string()};
  for (const std::string& path : {evidence.stdout_path, evidence.stderr_path}) {
    if (!path.empty()) paths.insert(path);
  }
  for (const Artifact& artifact : evidence.artifacts) {
    if (artifact.location.empty()) continue;
    const fs::path home = artifact.location;
    paths.insert(home.string());
    for (const ArtifactPart& part : artifact.parts) {
      paths.insert((home.parent_path() / part.path).lexically_normal().string());
    }
  }
  return paths;
}

}  // namespace

Status KeepWhatALogCarries(const fs::path& folder, const Ticket& ticket, RerunResult* result) {
  std::uint64_t bytes = kMargin;
  for (const std::string& path : PathsOf(ticket, result->evidence)) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(folder / path, error);
    // A folder, or nothing: only files are carried.
    bytes += error ? kMostFramedBytes : std::min<std::uintmax_t>(size, kMostFramedBytes);
  }
  if (bytes <= kMostFramedBytes) return {};
  for (Artifact& artifact : result->evidence.artifacts) artifact.location.clear();
  return WriteJsonFile(folder / EvidenceOf(ticket), ToJson(result->evidence));
}

Result<std::string> FrameRerun(const fs::path& folder, const Ticket& ticket,
                               const RerunResult& result) {
  ASSIGN_OR_RETURN(const HeldFolder held, HeldFolder::Open(folder));
  std::vector<FramedFile> files;
  for (const std::string& path : PathsOf(ticket, result.evidence)) {
    ASSIGN_OR_RETURN(std::string content, held.ReadFile(path, kMostFramedBytes));
    files.push_back({path, std::move(content)});
  }
  ASSIGN_OR_RETURN(std::string marker, held.ReadFile(kMarker, kMargin));
  files.push_back({kMarker, std::move(marker)});
  return FrameFiles(TicketSha256(ticket), files);
}

Result<bool> UnpackRerun(std::string_view log, const Ticket& ticket, const fs::path& folder) {
  ASSIGN_OR_RETURN(const auto files, ParseFramedLog(log, TicketSha256(ticket)));
  if (!files) return false;
  const std::string home = RerunFolder({}, ticket.run_id(), ticket.rerun).string() + "/";
  for (const FramedFile& file : *files) {
    const bool last = &file == &files->back();
    if (last ? file.path == kMarker : file.path.starts_with(home)) continue;
    return IntegrityError(
        fmt::format("has {} where a file of the rerun, or last {}, should be", file.path, kMarker),
        "log");
  }
  RETURN_IF_ERROR(MakeDirectories(folder));
  for (const FramedFile& file : *files) {
    const fs::path path = file.path;
    RETURN_IF_ERROR(MakeDirectoriesBelow(folder, path.parent_path()));
    ASSIGN_OR_RETURN(const HeldFolder held, HeldFolder::Open(folder));
    RETURN_IF_ERROR(held.WriteFile(path, file.content));
  }
  return !files->empty();
}

}  // namespace rharness
