// Files beside a checkpoint file that are loaded with it, such as its config.json.
//
// Role: for records, whose checkpoints are files: of a folder, checkpoint_folder.h opens all.
#ifndef RHARNESS_COMPARE_WEIGHTS_LOADED_FILES_H_
#define RHARNESS_COMPARE_WEIGHTS_LOADED_FILES_H_

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "harness/base/held_folder.h"
#include "harness/base/result.h"

namespace rharness {

inline constexpr std::size_t kMaxLoadedFiles = 64;  // of one checkpoint

// The names of the files in the folder of `path` that are loaded with it by their names
// (SideFile::kModel), sorted; with a modules.json those of the folders beside it as well, as
// sentence-transformers reads them. Of those that count the first kMaxLoadedFiles; none where it
// cannot be listed. `counts`: a program's sources beside its checkpoint are many, and no output.
std::vector<std::string> LoadedFilesBeside(const std::filesystem::path& path,
                                           const std::function<bool(const std::string&)>& counts);

// The checkpoint at `path` with these files among its unread(), as parts that decide; names that
// are not there are left out. Errors: those of InputFile::Open and ReadAt.
Result<std::unique_ptr<Checkpoint>> WithLoadedFiles(
    std::unique_ptr<Checkpoint> checkpoint, const std::filesystem::path& path,
    const std::vector<std::string>& names,
    const std::shared_ptr<const HeldFolder>& below = nullptr);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_LOADED_FILES_H_
