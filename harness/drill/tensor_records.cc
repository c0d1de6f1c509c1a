// From the vocabulary of compare/weights to that of the manifest.
#include "harness/drill/tensor_records.h"

#include "compare/weights/checkpoint.h"
#include "compare/weights/tensor_digest.h"

namespace rharness {

namespace {

Status Fill(const Checkpoint& checkpoint, Artifact* artifact) {
  ASSIGN_OR_RETURN(CheckpointDigest digest, DigestCheckpoint(checkpoint));
  artifact->tensor_digest = std::move(digest.sha256);
  artifact->tensors.clear();
  for (TensorDigest& tensor : digest.tensors) {
    artifact->tensors.push_back(TensorRecord{std::move(tensor.name),
                                             std::string(DTypeName(tensor.dtype)),
                                             std::move(tensor.shape), std::move(tensor.sha256)});
  }
  return {};
}

}  // namespace

Status ReadTensorRecords(const std::filesystem::path& path, Artifact* artifact) {
  ASSIGN_OR_RETURN(const auto checkpoint, OpenCheckpoint(path));
  return Fill(*checkpoint, artifact);
}

Status ReadTensorRecords(const HeldFolder& folder, Artifact* artifact) {
  // A second handle, which the checkpoint keeps.
  ASSIGN_OR_RETURN(HeldFolder below, folder.OpenFolder(""));
  const auto held = std::make_shared<const HeldFolder>(std::move(below));
  ASSIGN_OR_RETURN(const auto checkpoint, OpenCheckpoint(held->path() / artifact->path, held));
  return Fill(*checkpoint, artifact);
}

}  // namespace rharness
