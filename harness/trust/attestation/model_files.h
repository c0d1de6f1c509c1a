// The files of a model: read for signing, and checked against what was signed.
//
// Role: the effects around model_statement.h. A model is a file, or a folder with every file below
// it except ignored ones. Not here: the signer (verification.h).
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_MODEL_FILES_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_MODEL_FILES_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/trust/attestation/model_statement.h"

namespace rharness {

// Every file of a model, hashed by `serialization`; several concurrently, shards one after the
// other. In ModelOrder. Errors: not_found, io, invalid_input (a forbidden link, neither file nor
// folder, a name that cannot be signed, no file, more than a million files); integrity if a file
// changes meanwhile.
Result<std::vector<ModelResource>> HashModel(const std::filesystem::path& model,
                                             const ModelSerialization& serialization);
// The files with sizes and times of the last write: if equal before and after, the model did not
// change meanwhile, as far as file systems show. Errors: those of HashModel.
struct FileStamp {
  std::string name;
  std::uint64_t size_bytes = 0;
  std::filesystem::file_time_type written;
  bool operator==(const FileStamp&) const = default;
};
using ModelStamp = std::vector<FileStamp>;
Result<ModelStamp> StampModel(const std::filesystem::path& model,
                              const ModelSerialization& serialization);

// For a checkpoint. Errors: those of OpenCheckpoint and DigestCheckpoint; invalid_input for one
// without tensors.
Result<SignedTensors> DigestTensors(const std::filesystem::path& checkpoint);

// Checks that every signed file is unchanged, and that there is no other. Returns the number of
// files. A single file must match a model of one file, or one of the files of a larger model by its
// content. Errors: integrity, with the first file, also for a link or another kind that no model
// has; invalid_input for a single file of a model that was signed by shards; else those of
// HashModel.
Result<std::size_t> HoldModel(const SignedModel& model, const std::filesystem::path& path);
// Whether the checkpoint has the signed tensors, in any files. Errors: integrity, also if the
// signature does not cover tensors, or these cannot be read; else those of DigestTensors.
Status HoldTensors(const SignedModel& model, const std::filesystem::path& checkpoint);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_MODEL_FILES_H_
