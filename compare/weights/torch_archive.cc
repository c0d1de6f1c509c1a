// Indices of sources are moved when parts are put together.
#include "compare/weights/torch_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rharness {

void AppendTorchParts(ViewCheckpointParts from, std::string_view prefix,
                      ViewCheckpointParts* into) {
  for (View& view : from.views) {
    view.name.insert(0, prefix);
    view.source += into->sources.size();
    into->views.push_back(std::move(view));
  }
  std::ranges::move(from.sources, std::back_inserter(into->sources));
  for (auto& [name, value] : from.metadata) {
    into->metadata.emplace_back(fmt::format("{}{}", prefix, name), std::move(value));
  }
  for (UnreadPart& part : from.unread) {
    part.name.insert(0, prefix);
    into->unread.push_back(std::move(part));
  }
}

Result<UnreadPart> TorchMemberPart(const InputFile& file, const ZipMember& member, std::string name,
                                   std::string why, PartKind kind) {
  UnreadPart part{.name = std::move(name), .why = std::move(why), .file = {}, .kind = kind};
  if (member.size_bytes > kMaxTorchMemberBytes) {
    part.content = fmt::format("{} bytes, CRC-32 {:08x}", member.size_bytes, member.crc32);
    return part;
  }
  ASSIGN_OR_RETURN(part.content, ReadZipMember(file, member, kMaxTorchMemberBytes));
  if (part.content.empty()) part.content = "(empty)";
  return part;
}

}  // namespace rharness
