// A folder as a checkpoint: selects the files that belong to it.
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

// The entries of a folder, without subfolders, classified by their names. Each list is sorted.
struct FolderContents {
  bool distributed = false;          // .metadata, of PyTorch's distributed checkpoints
  std::vector<std::string> indexes;  // *.index.json, and *.index of TensorFlow
  std::vector<std::string> safetensors;
  std::vector<std::string> others;  // other names of checkpoint files: *.pt, *.gguf, ...
  // Names that other data have as well (*.h5), and of formats that are not read. Where a folder has
  // nothing of the lists above, the first of these kinds are among `others`.
  std::vector<std::string> foreign;
  std::vector<std::string> rest;  // names that say nothing
  bool empty() const;             // but for foreign files and the rest
  bool declared() const;          // an index or .metadata defines the checkpoint
};
FolderContents SortContents(const std::vector<std::string>& names);

// Whether a name is that of a checkpoint file ("x.safetensors", "x.pt", "x.npz").
bool IsCheckpointName(std::string_view name);
// The same or the name of a model ("x.onnx", "x.keras"), which may be one beside its weights.
bool IsModelName(std::string_view name);

// Whether it is one that other data have as well ("x.h5", "x.msgpack").
bool MayBeCheckpointName(std::string_view name);
// Whether it is worth a look into the file: any of these, or a name that most files with other
// content have as well ("x.pkl").
bool MayHoldTensors(std::string_view name);

// The contents of a folder. Errors: not_found, io, unsupported (more entries than the limit).
Result<FolderContents> ListFolder(const std::filesystem::path& folder);

// The file that stands for the checkpoint of a folder, as OpenCheckpoint takes it: the index of a
// checkpoint in several files, or its one file. For a file the file itself, existing or not.
// Errors: those of ListFolder; invalid_input when there is none or more than one.
Result<std::filesystem::path> MainFileOf(const std::filesystem::path& path);

// Opens a folder of Orbax (orbax.h), a SavedModel (saved_model.h), or of other folders: the file
// that a loader takes first (weight_sets.h); the folder's one index; its .metadata; its one
// checkpoint file; or all of its safetensors files together. Also opens checkpoint files beside
// these, with "FILE/" before their names, and further indexes. If they repeat names of the first,
// tensors are compared: equal copies are asides, others are a second set, and neither is among the
// tensors. Unreadable files, files that are loaded with the tensors (side_files.h) and files in
// subfolders are among unread(). Errors: not_found when there is nothing of these, invalid_input
// when the choice is ambiguous (both list what the folder holds), and those of the readers.
Result<std::unique_ptr<Checkpoint>> OpenCheckpointFolder(
    const std::filesystem::path& folder, const std::shared_ptr<const HeldFolder>& below = nullptr);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_CHECKPOINT_FOLDER_H_
