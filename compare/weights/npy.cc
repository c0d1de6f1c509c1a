// Arrays by their headers, as views over a file or over the members of an archive.
#include "compare/weights/npy.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/weights/npy_header.h"
#include "compare/weights/view_checkpoint.h"
#include "compare/weights/zip_stream.h"

namespace rharness {
namespace {

constexpr std::string_view kExtension = ".npy";

View ViewOf(NpyHeader header, std::string name, std::size_t source, std::uint64_t stated_at) {
  View view{.name = std::move(name), .dtype = header.dtype};
  view.strides = DenseStrides(header.shape, header.fortran);
  view.shape = std::move(header.shape);
  view.offset_bytes = header.data_offset;
  view.source = source;
  view.swapped = header.swapped;
  view.stated_at = stated_at;
  return view;
}

Result<NpyHeader> HeaderOf(const InputFile& file, const ZipMember& member) {
  const std::string where = fmt::format("{}: {}", file.name(), ZipMemberText(member));
  ZipStream stream(file, member);
  const auto read = [&](std::uint64_t offset, std::span<std::byte> out) -> Status {
    if (offset != stream.position()) RETURN_IF_ERROR(stream.Skip(offset - stream.position()));
    return stream.Read(out);
  };
  return ReadNpyHeader(read, member.size_bytes, where);
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> OpenNpy(InputFile file) {
  const auto read = [&](std::uint64_t offset, std::span<std::byte> out) {
    return file.ReadAt(offset, out);
  };
  ASSIGN_OR_RETURN(NpyHeader header, ReadNpyHeader(read, file.size_bytes(), file.name()));
  ViewCheckpointParts parts;
  parts.where = file.name();
  parts.sources.push_back({.begin = 0, .size_bytes = file.size_bytes()});
  parts.views.push_back(ViewOf(std::move(header), "array", 0, 0));
  return MakeViewCheckpoint(std::move(file), std::move(parts));
}

bool IsNpz(const ZipDirectory& directory) {
  return std::ranges::any_of(
      directory.members, [](const ZipMember& member) { return member.name.ends_with(kExtension); });
}

Result<std::unique_ptr<Checkpoint>> OpenNpz(InputFile file, const ZipDirectory& directory) {
  ViewCheckpointParts parts;
  parts.where = file.name();
  for (const ZipMember& member : directory.members) {
    if (!member.name.ends_with(kExtension)) {
      return Unsupported(fmt::format("{}: expected nothing but .npy files in an .npz archive",
                                     ZipMemberText(member)),
                         fmt::format("{}: byte {}", file.name(), member.header_offset));
    }
    ASSIGN_OR_RETURN(NpyHeader header, HeaderOf(file, member));
    const std::string name = member.name.substr(0, member.name.size() - kExtension.size());
    parts.views.push_back(
        ViewOf(std::move(header), name, parts.sources.size(), member.header_offset));
    parts.sources.push_back(SourceOf(member));
  }
  return MakeViewCheckpoint(std::move(file), std::move(parts));
}

}  // namespace rharness
