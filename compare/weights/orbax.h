// Orbax's checkpoints, as flax and jax programs save them: arrays of zarr, in an OCDBT database or
// as files.
//
// Role: one reader of Checkpoint, of folders. A tensor is named by its path in the saved tree
// ("params/dense/kernel"), as _METADATA states it; without one by the name of its array. What a
// folder holds:
//
//   an item   manifest.ocdbt, or arrays in subfolders: what PyTreeCheckpointer saves
//   a step    items in subfolders, as CheckpointManager saves them. The tensors of one item keep
//             their names; of several they begin with "ITEM/".
//   steps     of CheckpointManager, in subfolders 0, 100, step_200: the one of the highest number
//             is the checkpoint, the others are named and decide nothing. Its number is metadata.
//
// Where and when it was saved (_METADATA, _sharding, _CHECKPOINT_METADATA, commit_success.txt,
// array_metadatas) decides nothing. Texts (_strings.json) and other items decide. Source:
// https://orbax.readthedocs.io, "Checkpoint format guide".
#ifndef RHARNESS_COMPARE_WEIGHTS_ORBAX_H_
#define RHARNESS_COMPARE_WEIGHTS_ORBAX_H_

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"

namespace rharness {

// Whether a folder is an item or a step. False if it cannot be listed.
bool IsOrbax(const std::filesystem::path& folder,
             const std::shared_ptr<const HeldFolder>& below = nullptr);

// The subfolder of the highest number of a folder of steps, as LATEST of CheckpointManager; none:
// it is no such folder.
std::optional<std::string> LatestOrbaxStep(
    const std::filesystem::path& folder, const std::shared_ptr<const HeldFolder>& below = nullptr);

// The file of a folder that stands for its checkpoint: manifest.ocdbt, _METADATA or
// _CHECKPOINT_METADATA; none: it is no folder of Orbax, or has none of them.
std::optional<std::string> OrbaxIndexOf(const std::filesystem::path& folder);

// Whether a file's name is one of these.
bool IsOrbaxIndex(std::string_view name);

// All files of the folder but `index`, named by their paths below it, sorted. Errors: io;
// unsupported (more than kMaxFolderEntries).
Result<std::vector<std::string>> OrbaxFiles(
    const std::filesystem::path& folder, std::string_view index,
    const std::shared_ptr<const HeldFolder>& below = nullptr);

// Of an item, a step or a folder of steps. Errors: those of ReadOcdbt, ParseZarr and
// MakeChunkedCheckpoint; unsupported (an array whose missing elements are not 0, a limit).
Result<std::unique_ptr<Checkpoint>> OpenOrbax(
    const std::filesystem::path& folder, const std::shared_ptr<const HeldFolder>& below = nullptr);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_ORBAX_H_
