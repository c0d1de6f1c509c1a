// TensorFlow's checkpoints, the variables of a SavedModel among them: NAME.index and
// NAME.data-00000-of-00001.
//
// Role: one reader of Checkpoint. A tensor is named as in the checkpoint, without the ending of
// object-based ones: "model/layer_with_weights-0/kernel" for
// ".../kernel/.ATTRIBUTES/VARIABLE_VALUE". A variable in partitions along one axis is one tensor,
// whose partitions' checksums are not verified. Texts are unread parts that decide, but for
// _CHECKPOINTABLE_OBJECT_GRAPH, which says which object has which of these names. Source:
// tensorflow/core/protobuf/tensor_bundle.proto and types.proto.
#ifndef RHARNESS_COMPARE_WEIGHTS_TF_CHECKPOINT_H_
#define RHARNESS_COMPARE_WEIGHTS_TF_CHECKPOINT_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

inline constexpr std::uint64_t kMaxTfShards = 10'000;

// Whether a file's name and last bytes are those of an index. Errors: io, integrity.
Result<bool> IsTfIndex(const InputFile& file);

// The names of the files that hold the tensors of the index `file`, in order. Errors: those of
// ParseTable; invalid_input, unsupported (big-endian, a version).
Result<std::vector<std::string>> TfDataFiles(const InputFile& file);

// The checkpoint of an index. CheckStored verifies a tensor's CRC-32C. `files`: receives the names
// of the data files. Errors: also not_found (a missing data file), unsupported (partitions along
// several axes, a dtype of quantised or sub-byte elements).
Result<std::unique_ptr<Checkpoint>> OpenTfCheckpoint(InputFile file,
                                                     std::vector<std::string>* files = nullptr);

// What a folder's file "checkpoint" names as the latest: the name of an index in the same folder;
// none if it names no such file. Pure.
std::optional<std::string> LatestTfIndex(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TF_CHECKPOINT_H_
