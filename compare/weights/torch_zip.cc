// The records that a PyTorch archive must have, and the order in which they are read.
#include "compare/weights/torch_zip.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compare/weights/pickle.h"
#include "compare/weights/torch_globals.h"
#include "compare/weights/torch_script.h"
#include "compare/weights/torch_tensor.h"
#include "compare/weights/torch_tree.h"

namespace rharness {
namespace {

constexpr std::string_view kPickleName = "data.pkl";
constexpr std::size_t kMaxByteOrderBytes = 16;

// "archive/" for "archive/data.pkl", "" for "data.pkl"; empty for other names.
std::optional<std::string_view> RootOf(std::string_view name) {
  if (!name.ends_with(kPickleName)) return std::nullopt;
  name.remove_suffix(kPickleName.size());
  if (name.empty() || name.find('/') == name.size() - 1) return name;
  return std::nullopt;
}

Result<std::string> FindRoot(const InputFile& file, const ZipDirectory& directory) {
  std::optional<std::string> root;
  for (const ZipMember& member : directory.members) {
    const auto found = RootOf(member.name);
    if (!found) continue;
    if (root) {
      return InvalidInput(
          fmt::format("{}: a second {}; expected one", ZipMemberText(member), kPickleName),
          fmt::format("{}: byte {}", file.name(), member.header_offset));
    }
    root = *found;
  }
  if (root) return *root;
  return InvalidInput(
      fmt::format("no member {}; expected one, at the root of the zip archive or in "
                  "a folder there",
                  kPickleName),
      file.name());
}

Status CheckByteOrder(const InputFile& file, const ZipDirectory& directory, std::string_view root) {
  const ZipMember* order = directory.Find(fmt::format("{}byteorder", root));
  if (order == nullptr) return {};
  ASSIGN_OR_RETURN(const std::string text, ReadZipMember(file, *order, kMaxByteOrderBytes));
  if (text == "little") return {};
  const std::string where = fmt::format("{}: byte {}", file.name(), order->data_offset);
  if (text == "big") {
    return Unsupported(
        fmt::format("{}: says big-endian; expected a little-endian file", ZipMemberText(*order)),
        where);
  }
  return InvalidInput(fmt::format("{}: expected 'little' or 'big'", ZipMemberText(*order)), where);
}

}  // namespace

bool IsTorchZip(const ZipDirectory& directory) {
  return std::ranges::any_of(
      directory.members, [](const ZipMember& member) { return RootOf(member.name).has_value(); });
}

Result<ViewCheckpointParts> ReadTorchTree(const InputFile& file, const ZipDirectory& directory,
                                          std::string_view root, std::string_view name) {
  const ZipMember& member = *directory.Find(fmt::format("{}{}.pkl", root, name));
  ASSIGN_OR_RETURN(std::string bytes, ReadZipMember(file, member, kMaxPickleBytes));
  std::string where = fmt::format("{}: {}", file.name(), ZipMemberText(member));
  ASSIGN_OR_RETURN(const Pickle pickle, ParsePickle(std::move(bytes), TorchGlobalNames(), where));
  const auto storage = [&](std::string_view key) -> std::optional<ViewSource> {
    const ZipMember* record = directory.Find(fmt::format("{}{}/{}", root, name, key));
    if (record == nullptr) return std::nullopt;
    return SourceOf(*record);
  };
  ASSIGN_OR_RETURN(ViewCheckpointParts parts, FlattenTorchTree(pickle, storage, std::move(where)));
  parts.begin = directory.begin;
  parts.size_bytes = directory.size_bytes;
  return parts;
}

Result<ViewCheckpointParts> ReadTorchZip(const InputFile& file, const ZipDirectory& directory) {
  ASSIGN_OR_RETURN(const std::string root, FindRoot(file, directory));
  RETURN_IF_ERROR(CheckByteOrder(file, directory, root));
  ASSIGN_OR_RETURN(ViewCheckpointParts parts, ReadTorchTree(file, directory, root, "data"));
  if (IsTorchScript(directory, root)) {
    RETURN_IF_ERROR(AddTorchScript(file, directory, root, &parts));
  }
  return parts;
}

Result<std::unique_ptr<Checkpoint>> OpenTorchZip(InputFile file, const ZipDirectory& directory) {
  ASSIGN_OR_RETURN(ViewCheckpointParts parts, ReadTorchZip(file, directory));
  return MakeViewCheckpoint(std::move(file), std::move(parts));
}

}  // namespace rharness
