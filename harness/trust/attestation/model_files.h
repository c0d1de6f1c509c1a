// The files of a model: looked at to be signed, and held to what was signed.
//
// Role: the effects around model_statement.h. What a model is: a file, or a folder with every file
// below it but those that are ignored. Not here: whose signature it is (verification.h).
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

// Every file of a model, hashed as `serialization` has it; several at a time, but one after the
// other where they are shards. In ModelOrder. Errors: not_found, io, invalid_input (a link where
// there may be none, neither file nor folder, a name that cannot be signed, no file, more files
// than a million); integrity where a file changes meanwhile.
Result<std::vector<ModelResource>> HashModel(const std::filesystem::path& model,
                                             const ModelSerialization& serialization);
// Which files there are, of which size, and when each was last written: equal before and after,
// the model was left alone meanwhile, as far as file systems tell. Errors: those of HashModel.
struct FileStamp {
  std::string name;
  std::uint64_t size_bytes = 0;
  std::filesystem::file_time_type written;
  bool operator==(const FileStamp&) const = default;
};
using ModelStamp = std::vector<FileStamp>;
Result<ModelStamp> StampModel(const std::filesystem::path& model,
                              const ModelSerialization& serialization);

// Of a checkpoint. Errors: those of OpenCheckpoint and DigestCheckpoint; invalid_input for one
// without tensors.
Result<SignedTensors> DigestTensors(const std::filesystem::path& checkpoint);

// Every signed file is there as it was signed, and no other is. How many files were looked at. A
// single file is held to a model of one file, or must be one of the files of a larger one by its
// content. Errors: integrity, which names the first file, also for a link or another thing that
// no model has; invalid_input for a single file of a model that was signed by shards; else those of
// HashModel.
Result<std::size_t> HoldModel(const SignedModel& model, const std::filesystem::path& path);
// Whether the checkpoint has the signed tensors, whatever files they lie in. Errors: integrity,
// also where the signature says nothing of tensors, or these cannot be read; else those of
// DigestTensors.
Status HoldTensors(const SignedModel& model, const std::filesystem::path& checkpoint);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_MODEL_FILES_H_
