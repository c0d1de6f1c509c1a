// Offline sessions of ClearML: a folder or a zip archive, or a folder of them.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "harness/records/intake/clean.h"
#include "harness/records/intake/clearml_session.h"
#include "harness/records/intake/clearml_task.h"
#include "harness/records/intake/importers.h"
#include "harness/records/intake/local_files.h"
#include "harness/records/intake/loose_json.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostTaskBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostEventBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMostSessions = 100'000;
constexpr std::size_t kMostSessionArtifacts = 10'000;

bool IsSessionName(const std::string& name) { return name.starts_with("offline-"); }

bool HasTask(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(folder / "task.json", error));
}

Result<Json> ReadTask(const ClearmlSession& session) {
  const std::string where = (session.path() / "task.json").string();
  ASSIGN_OR_RETURN(const std::string text, session.Read("task.json", kMostTaskBytes));
  ASSIGN_OR_RETURN(Json task, ParseLooseJson(text, where));
  if (LooseText(task, "id").empty() || task.Find("offline_folder") == nullptr) {
    return InvalidInput("expected a task with id and offline_folder, as ClearML writes it offline",
                        where);
  }
  return task;
}

// Itself, or those in it; prefers a folder to ClearML's archive of it.
Result<std::vector<fs::path>> SessionsOf(const fs::path& source) {
  std::error_code error;
  if (!fs::is_directory(source, error) || HasTask(source)) return std::vector<fs::path>{source};
  std::vector<fs::path> folders, archives;
  fs::directory_iterator at(source, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    const fs::file_status status = at->symlink_status(error);
    if (error) break;
    if (!IsSessionName(name)) continue;
    if (folders.size() + archives.size() >= kMostSessions) {
      return Unsupported(fmt::format("more than {} sessions", kMostSessions), source.string());
    }
    if (fs::is_directory(status) && HasTask(at->path())) folders.push_back(at->path());
    if (fs::is_regular_file(status) && name.ends_with(".zip")) archives.push_back(at->path());
  }
  if (error) return IoError("cannot be listed: " + error.message(), source.string());
  std::ranges::sort(folders);
  std::ranges::sort(archives);
  folders.insert(folders.end(), archives.begin(), archives.end());
  return folders;
}

void AddSessionArtifact(const ClearmlArtifact& from, const ClearmlSession& session,
                        const ImportRequest& request, ImportedRun* run) {
  constexpr std::string_view kArtifacts = "/artifacts/";
  if (from.file.empty()) {
    return run->Remark(fmt::format("artifacts: {} was put to {}, and was left out",
                                   QuotedShort(from.key), QuotedShort(from.uri)));
  }
  Artifact artifact;
  const auto at = from.file.rfind(kArtifacts);
  artifact.path = at == from.file.npos ? from.file : from.file.substr(at + kArtifacts.size());
  artifact.role = RoleByName(artifact.path);
  artifact.size_bytes = from.size_bytes;
  const std::string where = "execution.artifacts " + from.key;
  if (!request.artifacts) {
    return run->AddArtifact(std::move(artifact), Hint(where, "not looked for (--no-artifacts)"));
  }
  std::optional<Error> unread;  // its tensors
  const Status status = session.Describe(from.file, &artifact, &unread);
  if (!status.ok()) {
    run->Remark(fmt::format("artifacts: {}: {}", QuotedShort(artifact.path),
                            Unread(request, status.error()).message));
    return run->AddArtifact(std::move(artifact), Hint(where, "it could not be read"));
  }
  if (unread) {
    run->Remark(fmt::format("{}: its tensors were not read: {}", QuotedShort(artifact.path),
                            Unread(request, *unread).message));
  }
  const bool same = artifact.sha256 == from.sha256;
  if (!same) {
    run->Remark(
        fmt::format("artifacts: {} has sha256 {}, and ClearML noted {}, which may be of a "
                    "part of it",
                    QuotedShort(artifact.path), artifact.sha256, QuotedShort(from.sha256)));
  }
  run->AddArtifact(std::move(artifact),
                   same ? Exact(where + ".hash") : Hint(where, "as it is today"));
}

ImportedRun RunOfSession(const ClearmlSession& session, const Json& task,
                         const ImportRequest& request) {
  ImportedRun run("clearml", request.source, LooseText(task, "id"));
  AddClearmlTask(task, &run);
  ClearmlEvents events;
  for (const char* name : {"metrics.jsonl", "log.jsonl"}) {
    const auto text = session.Read(name, kMostEventBytes);
    if (text.ok()) {
      events.Add(*text, name);
    } else if (text.error().code != ErrorCode::kNotFound) {
      run.Remark(fmt::format("{}: {}", name, Unread(request, text.error()).message));
    }
  }
  events.AddTo(&run);
  const std::vector<ClearmlArtifact> artifacts = ClearmlArtifactsOf(task);
  if (!artifacts.empty()) {
    run.Remark("artifacts: paths are those at ClearML, not where the run wrote them");
  }
  for (std::size_t i = 0; i < std::min(artifacts.size(), kMostSessionArtifacts); ++i) {
    AddSessionArtifact(artifacts[i], session, request, &run);
  }
  if (artifacts.size() > kMostSessionArtifacts) {
    run.Remark(fmt::format("artifacts: those beyond {} were left out", kMostSessionArtifacts));
  }
  return run;
}

}  // namespace

bool IsClearml(const std::string& source) {
  const auto sessions = SessionsOf(source);
  if (!sessions.ok() || sessions->empty()) return false;
  const fs::path& first = sessions->front();
  if (!HasTask(first) && first.extension() != ".zip") return false;
  const auto session = ClearmlSession::Open(first);
  return session.ok() && ReadTask(*session).ok();
}

Status ImportClearml(const ImportRequest& request, const ImportSink& sink) {
  ASSIGN_OR_RETURN(const std::vector<fs::path> sessions, SessionsOf(request.source));
  std::set<std::string> ids;
  for (const fs::path& path : sessions) {
    if (request.should_cancel && request.should_cancel()) return {};
    const auto session = ClearmlSession::Open(path);
    const auto task = session.ok() ? ReadTask(*session) : Result<Json>(session.error());
    if (!task.ok()) {
      sink.refuse(path.string(), task.error());
      continue;
    }
    const std::string id = LooseText(*task, "id");
    if (!request.Wants(id) || !ids.insert(id).second) continue;
    RETURN_IF_ERROR(sink.take(RunOfSession(*session, *task, request)));
  }
  if (ids.empty()) return NotFound("holds no such offline session of ClearML", request.source);
  return {};
}

}  // namespace rharness
