// Two ways to the same files.
#include "harness/records/intake/clearml_session.h"

#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/records/intake/weights_file.h"

namespace rharness {
namespace {

constexpr std::string_view kTask = "task.json";

Error NoTask(const std::filesystem::path& path) {
  return NotFound("has no task.json; expected an offline session of ClearML", path.string());
}

}  // namespace

Result<ClearmlSession> ClearmlSession::Open(const std::filesystem::path& path) {
  ClearmlSession session;
  session.path_ = path;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    ASSIGN_OR_RETURN(session.folder_, HeldFolder::Open(path));
    if (!session.folder_->OpenFile(kTask).ok()) return NoTask(path);
    return session;
  }
  ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  session.archive_ = std::make_shared<const InputFile>(std::move(file));
  ASSIGN_OR_RETURN(session.directory_, ReadZipDirectory(*session.archive_));
  if (session.directory_.Find(kTask) == nullptr) return NoTask(path);
  return session;
}

Result<std::string> ClearmlSession::Read(const std::string& relative, std::uint64_t most) const {
  if (folder_) return folder_->ReadFile(relative, most);
  const ZipMember* member = directory_.Find(relative);
  if (member == nullptr) return NotFound("is not in the archive", relative);
  return ReadZipMember(*archive_, *member, most);
}

Status ClearmlSession::Describe(const std::string& relative, Artifact* artifact,
                                std::optional<Error>* unread) const {
  if (!folder_) {
    ASSIGN_OR_RETURN(const std::string content, Read(relative, kMostZippedArtifact));
    artifact->sha256 = Sha256HexOf(content);
    artifact->size_bytes = content.size();
    return {};
  }
  Artifact here = *artifact;
  here.path = relative;
  RETURN_IF_ERROR(HashArtifact(*folder_, &here));
  here.location = (std::filesystem::absolute(path_) / relative).lexically_normal().string();
  if (here.role == "weights" || here.role == "optimizer") {
    const Status read = ReadWeights(*folder_, &here);
    if (!read.ok()) *unread = read.error();
  }
  here.path = std::move(artifact->path);
  *artifact = std::move(here);
  return {};
}

}  // namespace rharness
