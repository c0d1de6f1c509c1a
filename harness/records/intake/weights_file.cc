// From the vocabulary of compare/weights to that of the manifest.
#include "harness/records/intake/weights_file.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "compare/weights/checkpoint.h"
#include "compare/weights/tensor_digest.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// The files that an index lists beside it, and the size of all of them.
Result<std::uint64_t> HashCheckpointParts(const std::shared_ptr<const HeldFolder>& folder,
                                          Artifact* artifact) {
  const fs::path path = folder->path() / artifact->path;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, PartsOfCheckpoint(path, folder));
  std::uint64_t stored_bytes = artifact->size_bytes;
  const fs::path home = fs::path(artifact->path).parent_path();
  artifact->parts.clear();
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(FileDigest digest, folder->HashFile(home / name));
    stored_bytes += digest.size_bytes;
    artifact->parts.push_back({name, digest.size_bytes, std::move(digest.sha256)});
  }
  return stored_bytes;
}

Status CheckUnpackedSize(const Checkpoint& checkpoint, std::uint64_t stored_bytes,
                         const std::string& path) {
  std::uint64_t unpacked_bytes = 0;
  for (const TensorInfo& tensor : checkpoint.tensors()) {
    if (tensor.size_bytes / kMostUnpacked > stored_bytes - unpacked_bytes / kMostUnpacked) {
      return Unsupported(fmt::format("its tensors take more than {} times its size", kMostUnpacked),
                         path);
    }
    unpacked_bytes += tensor.size_bytes;
  }
  return {};
}

}  // namespace

Status HashArtifact(const HeldFolder& folder, Artifact* artifact) {
  ASSIGN_OR_RETURN(FileDigest digest, folder.HashFile(artifact->path));
  artifact->sha256 = std::move(digest.sha256);
  artifact->size_bytes = digest.size_bytes;
  return {};
}

Status ReadWeights(const HeldFolder& folder, Artifact* artifact) {
  // A second handle, which the checkpoint keeps.
  ASSIGN_OR_RETURN(HeldFolder below, folder.OpenFolder(""));
  const auto held = std::make_shared<const HeldFolder>(std::move(below));
  const fs::path path = held->path() / artifact->path;
  ASSIGN_OR_RETURN(const auto checkpoint, OpenCheckpoint(path, held));
  ASSIGN_OR_RETURN(const std::uint64_t stored_bytes, HashCheckpointParts(held, artifact));
  RETURN_IF_ERROR(CheckUnpackedSize(*checkpoint, stored_bytes, path.string()));
  ASSIGN_OR_RETURN(CheckpointDigest digest, DigestCheckpoint(*checkpoint));
  artifact->tensor_digest = std::move(digest.sha256);
  artifact->beside_digest = std::move(digest.beside);
  artifact->tensors.clear();
  for (TensorDigest& tensor : digest.tensors) {
    artifact->tensors.push_back(
        TensorRecord{std::move(tensor.name), std::string(DTypeName(tensor.dtype)),
                     std::move(tensor.shape), std::move(tensor.sha256), tensor.non_finite});
  }
  return {};
}

}  // namespace rharness
