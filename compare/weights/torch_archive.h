// Archives of PyTorch that hold more than one pickle: parts put together, members as unread parts.
//
// Role: private to this folder; shared by torch_script and torch_export.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_ARCHIVE_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_ARCHIVE_H_

#include <string>
#include <string_view>

#include "compare/weights/input_file.h"
#include "compare/weights/view_checkpoint.h"
#include "compare/weights/zip_archive.h"

namespace rharness {

// A longer member is an unread part by its size and CRC-32.
inline constexpr std::uint64_t kMaxTorchMemberBytes = std::uint64_t{64} << 20;

// Adds tensors, metadata and unread parts of `from`, with `prefix` before their names.
void AppendTorchParts(ViewCheckpointParts from, std::string_view prefix, ViewCheckpointParts* into);

// A member as an unread part called `name`, by its content. Errors: those of ReadZipMember.
Result<UnreadPart> TorchMemberPart(const InputFile& file, const ZipMember& member, std::string name,
                                   std::string why, PartKind kind);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_ARCHIVE_H_
