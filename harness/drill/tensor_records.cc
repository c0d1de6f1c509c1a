// From the vocabulary of compare/weights to that of the manifest.
#include "harness/drill/tensor_records.h"

#include "compare/weights/checkpoint.h"
#include "compare/weights/tensor_digest.h"

namespace rharness {

Status ReadTensorRecords(const std::filesystem::path& path, Artifact* artifact) {
  ASSIGN_OR_RETURN(const auto checkpoint, OpenCheckpoint(path));
  ASSIGN_OR_RETURN(CheckpointDigest digest, DigestCheckpoint(*checkpoint));
  artifact->tensor_digest = std::move(digest.sha256);
  artifact->tensors.clear();
  for (TensorDigest& tensor : digest.tensors) {
    artifact->tensors.push_back(TensorRecord{std::move(tensor.name),
                                             std::string(DTypeName(tensor.dtype)),
                                             std::move(tensor.shape), std::move(tensor.sha256)});
  }
  return {};
}

}  // namespace rharness
