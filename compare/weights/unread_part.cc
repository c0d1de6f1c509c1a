// What most checkpoints have nothing of; parts that are not read, byte against byte.
#include <algorithm>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

Status Checkpoint::CheckStored(std::size_t) const { return {}; }

const std::vector<UnreadPart>& NothingUnread() {
  static const std::vector<UnreadPart> kNone;
  return kNone;
}

Result<bool> SameBytes(const UnreadPart& a, const UnreadPart& b) {
  if (a.file == nullptr && b.file == nullptr) return !a.content.empty() && a.content == b.content;
  if (a.file == nullptr || b.file == nullptr || a.size_bytes != b.size_bytes) return false;
  std::vector<std::byte> bytes_a(kReadBlockBytes), bytes_b(kReadBlockBytes);
  for (std::uint64_t done = 0; done < a.size_bytes;) {
    const auto size = std::min<std::uint64_t>(kReadBlockBytes, a.size_bytes - done);
    const auto block_a = std::span(bytes_a).first(size), block_b = std::span(bytes_b).first(size);
    RETURN_IF_ERROR(a.file->ReadAt(a.begin + done, block_a));
    RETURN_IF_ERROR(b.file->ReadAt(b.begin + done, block_b));
    if (!std::ranges::equal(block_a, block_b)) return false;
    done += size;
  }
  RETURN_IF_ERROR(a.file->CheckUnchanged());
  RETURN_IF_ERROR(b.file->CheckUnchanged());
  return true;
}

}  // namespace rharness
