// The members of a TorchScript archive beside data.pkl.
#include "compare/weights/torch_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compare/weights/torch_archive.h"
#include "compare/weights/torch_zip.h"

namespace rharness {
namespace {

constexpr std::string_view kConstantsPrefix = "(constants).";

// Members that are read, or say how the archive was written.
bool IsKnown(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"data.pkl", "constants.pkl", "version", "byteorder", ".data/serialization_id",
       ".data/version", ".format_version", ".storage_alignment"});
  return std::ranges::find(kNames, name) != kNames.end() || name.ends_with('/') ||
         name.starts_with("data/") || name.starts_with("constants/");
}

bool IsAside(std::string_view name) {
  return name.ends_with(".debug_pkl") || name.starts_with("traced_inputs") ||
         name == "mobile_debug_handles.pkl";
}

// What the code reads of the objects: all values but those of PyTorch itself.
std::string AttributesOf(const ViewCheckpointParts& parts) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : parts.metadata) {
    const std::string_view last = std::string_view(name).substr(name.rfind('.') + 1);
    if (last == "training" || last == "_is_full_backward_hook") continue;
    lines.push_back(fmt::format("{}: {}", name, value));
  }
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

bool IsTorchScript(const ZipDirectory& directory, std::string_view root) {
  const std::string code = fmt::format("{}code/", root);
  return directory.Find(fmt::format("{}constants.pkl", root)) != nullptr ||
         std::ranges::any_of(directory.members, [&](const ZipMember& member) {
           return member.name.starts_with(code);
         });
}

Status AddTorchScript(const InputFile& file, const ZipDirectory& directory, std::string_view root,
                      ViewCheckpointParts* parts) {
  if (directory.Find(fmt::format("{}constants.pkl", root)) != nullptr) {
    ASSIGN_OR_RETURN(ViewCheckpointParts constants,
                     ReadTorchTree(file, directory, root, "constants"));
    AppendTorchParts(std::move(constants), kConstantsPrefix, parts);
  }
  const std::string attributes = AttributesOf(*parts);
  if (!attributes.empty()) {
    parts->unread.push_back({.name = "(attributes)",
                             .why = "what a module is beside its tensors is loaded with them",
                             .file = {},
                             .content = attributes,
                             .kind = PartKind::kModel});
  }
  for (const ZipMember& member : directory.members) {
    if (!member.name.starts_with(root)) continue;
    const std::string name = member.name.substr(root.size());
    if (IsKnown(name)) continue;
    const bool aside = IsAside(name);
    ASSIGN_OR_RETURN(UnreadPart part, TorchMemberPart(file, member, name,
                                                      aside ? "is for people that look for faults"
                                                            : "belongs to a TorchScript module",
                                                      aside ? PartKind::kAside : PartKind::kModel));
    parts->unread.push_back(std::move(part));
  }
  return {};
}

}  // namespace rharness
