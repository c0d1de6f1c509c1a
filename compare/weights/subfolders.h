// The files in the subfolders of a checkpoint's folder, which no reader enters.
#ifndef RHARNESS_COMPARE_WEIGHTS_SUBFOLDERS_H_
#define RHARNESS_COMPARE_WEIGHTS_SUBFOLDERS_H_

#include <filesystem>
#include <memory>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

// A file that is not read as tensors, named by its path below the checkpoint's folder; its kind
// follows the lists in side_files.h, and a text that they do not name is an aside. `why` goes to a
// file that is neither loaded with the tensors nor an aside. Errors: those of InputFile::ReadAt.
Result<UnreadPart> PassedOver(const std::filesystem::path& relative, const InputFile& file,
                              std::string why);

// Every file below the subfolders of `folder`, named by its path below it, as a part that is not
// read. Links to folders are not followed: a link that leaves `folder` is a part without bytes, as
// are dangling links, and the files beyond kMaxFolderEntries. Errors: io; with `below`, which
// contains `folder`, integrity if a file is a symbolic link.
Result<std::vector<UnreadPart>> PartsInSubfolders(
    const std::filesystem::path& folder, const std::shared_ptr<const HeldFolder>& below = nullptr);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_SUBFOLDERS_H_
