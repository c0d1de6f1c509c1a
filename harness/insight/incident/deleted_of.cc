// Missing files held to deletion lists.
#include "harness/insight/incident/deleted_of.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "harness/trust/approval/deleted_files.h"

namespace rharness {
namespace {

std::map<std::string, std::string> DigestsOf(const Manifest& manifest) {
  std::map<std::string, std::string> digests;
  for (const Artifact& artifact : manifest.artifacts) {
    digests[artifact.path] = artifact.sha256;
    const std::filesystem::path folder = std::filesystem::path(artifact.path).parent_path();
    for (const ArtifactPart& part : artifact.parts) {
      digests[(folder / part.path).generic_string()] = part.sha256;
    }
  }
  return digests;
}

}  // namespace

Status TellDeletions(const Manifest& manifest, WallTime now, HistoryStore* store,
                     HeldFiles* files) {
  ASSIGN_OR_RETURN(const auto deleted, DeletedFilesOf(manifest.run_id, nullptr, now, store));
  if (deleted.empty()) return {};
  const std::map<std::string, std::string> digests = DigestsOf(manifest);
  for (IncidentFile& file : files->files) {
    const auto digest = digests.find(file.path);
    if (file.state != FileState::kMissing || digest == digests.end() || digest->second.empty())
      continue;
    const auto one = std::ranges::find(deleted, digest->second,
                                       [](const DeletedFile& each) { return each.file.sha256; });
    if (one == deleted.end()) continue;
    const std::string words = DeletedWords(*one);
    file.words = "it was " + words;
    if (files->damage == "its file " + file.path + " is gone") {
      files->damage = "its file " + file.path + " was " + words;
    }
  }
  return {};
}

}  // namespace rharness
