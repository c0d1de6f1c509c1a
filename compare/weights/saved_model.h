// TensorFlow's SavedModel: the variables of a folder, and the graph that uses them.
//
// Role: private to this folder; one reader of Checkpoint, of folders. The tensors are those of
// variables/variables.index (tf_checkpoint.h). saved_model.pb, assets and what else lies there is
// loaded with them and decides; fingerprint.pb does not: its checksum covers changes without a
// meaning. Source: https://www.tensorflow.org/guide/saved_model.
#ifndef RHARNESS_COMPARE_WEIGHTS_SAVED_MODEL_H_
#define RHARNESS_COMPARE_WEIGHTS_SAVED_MODEL_H_

#include <filesystem>
#include <memory>
#include <string_view>

#include "compare/weights/checkpoint.h"
#include "compare/weights/checkpoint_folder.h"

namespace rharness {

// Of its tensors, below its folder.
inline constexpr std::string_view kSavedModelIndex = "variables/variables.index";

// `listed`: the path through which the folder is listed.
bool IsSavedModel(const FolderContents& contents, const std::filesystem::path& listed);

// Errors: those of OpenTfCheckpoint and PartsInSubfolders.
Result<std::unique_ptr<Checkpoint>> OpenSavedModel(const std::filesystem::path& folder,
                                                   const std::shared_ptr<const HeldFolder>& below);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_SAVED_MODEL_H_
