// The kind of an artifact, and its files.
#include "harness/records/manifest/artifact.h"

namespace rharness {

bool IsCheckpoint(const Artifact& artifact) {
  return artifact.role == "weights" || artifact.role == "optimizer";
}

std::string LoadedDigest(const Artifact& artifact) {
  if (artifact.tensor_digest.empty() || artifact.beside_digest.empty()) {
    return artifact.tensor_digest;
  }
  return artifact.tensor_digest + "+" + artifact.beside_digest;
}

std::vector<std::string> LoadedPartsOf(const Artifact& artifact) {
  std::vector<std::string> paths;
  for (const ArtifactPart& part : artifact.parts) {
    if (part.loaded) paths.push_back(part.path);
  }
  return paths;
}

std::vector<std::filesystem::path> FilesOf(const Artifact& artifact) {
  const std::filesystem::path path = artifact.path;
  std::vector<std::filesystem::path> files = {path};
  for (const ArtifactPart& part : artifact.parts) files.push_back(path.parent_path() / part.path);
  return files;
}

}  // namespace rharness
