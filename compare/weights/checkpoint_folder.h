// A folder as a checkpoint: which of its files are meant.
#ifndef RHARNESS_COMPARE_WEIGHTS_CHECKPOINT_FOLDER_H_
#define RHARNESS_COMPARE_WEIGHTS_CHECKPOINT_FOLDER_H_

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"

namespace rharness {

inline constexpr std::size_t kMaxFolderEntries = 200'000;

// What a folder's entries, subfolders aside, say by their names. Each list is sorted.
struct FolderContents {
  bool distributed = false;          // .metadata, of PyTorch's distributed checkpoints
  std::vector<std::string> indexes;  // *.index.json
  std::vector<std::string> safetensors;
  std::vector<std::string> others;   // other names that checkpoint files have: *.pt, *.gguf, ...
  std::vector<std::string> foreign;  // of formats that are not read: *.h5, *.onnx, ...
  std::vector<std::string> rest;     // names that say nothing
  bool empty() const;                // but for foreign files and the rest
  bool declared() const;             // an index or .metadata says what the checkpoint is
};
FolderContents SortContents(const std::vector<std::string>& names);

// Whether a name is one that checkpoint files have ("x.safetensors", "x.pt", "x.npz").
bool IsCheckpointName(std::string_view name);

// The contents of a folder. Errors: not_found, io, unsupported (more entries than the limit).
Result<FolderContents> ListFolder(const std::filesystem::path& folder);

// Opens what a loader takes first (weight_sets.h); the folder's one index; its .metadata; its one
// checkpoint file; or all of its safetensors files together. Checkpoint files beside these are
// opened too, with "FILE/" before their names, and so is another index. Where they have names of
// the first, tensors are compared: the same once more is aside, others are a second set, and
// neither is among the tensors. What cannot be read, what is loaded with the tensors (side_files.h)
// and what lies in subfolders is among unread(). Errors: not_found when there is nothing of these,
// invalid_input when it is not clear what is meant (both list what the folder holds), and those of
// the readers.
Result<std::unique_ptr<Checkpoint>> OpenCheckpointFolder(
    const std::filesystem::path& folder, const std::shared_ptr<const HeldFolder>& below = nullptr);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_CHECKPOINT_FOLDER_H_
