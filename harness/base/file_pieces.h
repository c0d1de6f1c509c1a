// WriteFileAtomic for content that is never in memory as a whole.
#ifndef RHARNESS_HARNESS_BASE_FILE_PIECES_H_
#define RHARNESS_HARNESS_BASE_FILE_PIECES_H_

#include <filesystem>
#include <functional>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

// Takes the next piece of a file. Errors: io.
using TakePiece = std::function<Status(std::string_view)>;

// `write` hands over every piece in order; an error of it, or of a piece, leaves the file as it
// was. Else as the function of this name in files.h.
Status WriteFileAtomic(const std::filesystem::path& path,
                       const std::function<Status(const TakePiece&)>& write);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_FILE_PIECES_H_
