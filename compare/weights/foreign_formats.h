// Formats of checkpoints that are recognised and not read.
//
// Role: private to this folder; names the format of a file that no reader takes.
#ifndef RHARNESS_COMPARE_WEIGHTS_FOREIGN_FORMATS_H_
#define RHARNESS_COMPARE_WEIGHTS_FOREIGN_FORMATS_H_

#include <string_view>

#include "compare/weights/input_file.h"
#include "harness/base/result.h"

namespace rharness {

inline constexpr std::string_view kDistributedEnding = ".distcp";

// "a TensorFlow Lite model": by the file's first bytes (`head`, at least 16 if it has as many) or
// its last; empty: not known. Errors: io, integrity.
Result<std::string_view> ForeignFormatOf(const InputFile& file, std::string_view head);

// The same by the ending of a name, for a file without a telling content.
std::string_view ForeignFormatByName(std::string_view name);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_FOREIGN_FORMATS_H_
