// The layouts of .pt2 archives, member by member.
#include "compare/weights/torch_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "compare/weights/names.h"
#include "compare/weights/torch_archive.h"
#include "compare/weights/torch_zip.h"
#include "compare/weights/view_checkpoint.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

constexpr std::string_view kOlderGraph = "serialized_exported_program.json";
constexpr std::string_view kFormat = "archive_format";
constexpr std::string_view kConstants = "(constants).";
constexpr std::int64_t kStrided = 7;  // of the schema's Layout

// By the schema's ScalarType.
struct ScalarRow {
  std::int64_t number;
  DType dtype;
};
constexpr auto kScalars = std::to_array<ScalarRow>({
    {1, DType::kU8},          {2, DType::kI8},      {3, DType::kI16},     {4, DType::kI32},
    {5, DType::kI64},         {6, DType::kF16},     {7, DType::kF32},     {8, DType::kF64},
    {10, DType::kC64},        {11, DType::kC128},   {12, DType::kBool},   {13, DType::kBF16},
    {28, DType::kU16},        {29, DType::kF8E4M3}, {30, DType::kF8E5M2}, {31, DType::kF8E4M3Fnuz},
    {32, DType::kF8E5M2Fnuz}, {33, DType::kF8E8M0}, {34, DType::kU32},    {35, DType::kU64},
});

// "x/" of "x/archive_format", "" of the older layout; empty: neither.
std::optional<std::string> ExportRoot(const ZipDirectory& directory) {
  for (const ZipMember& member : directory.members) {
    if (member.name == kOlderGraph) return std::string();
    if (member.name == kFormat || member.name.ends_with(fmt::format("/{}", kFormat))) {
      return member.name.substr(0, member.name.size() - kFormat.size());
    }
  }
  return std::nullopt;
}

// Without what computes nothing.
Json Computing(const Json& json) {
  if (json.IsArray()) {
    Json::Array elements;
    for (const Json& element : json.AsArray()) elements.push_back(Computing(element));
    return Json::MakeArray(std::move(elements));
  }
  if (!json.IsObject()) return json;
  const bool node = json.Find("target") != nullptr && json.Find("inputs") != nullptr;
  Json::Members members;
  for (const auto& [name, value] : json.AsObject()) {
    if (name == "torch_version" || (node && name == "metadata")) continue;
    members.emplace_back(name, Computing(value));
  }
  return Json::MakeObject(std::move(members));
}

class ExportReader {
 public:
  ExportReader(const InputFile& file, const ZipDirectory& directory)
      : file_(file), directory_(directory), root_(*ExportRoot(directory)) {}

  Result<ViewCheckpointParts> Read() {
    parts_.where = file_.name();
    for (const ZipMember& member : directory_.members) {
      if (member.name.ends_with('/') || !member.name.starts_with(root_)) continue;
      RETURN_IF_ERROR(Add(member, member.name.substr(root_.size())));
    }
    for (const auto& [name, member] : rest_) {
      if (used_.contains(member->name)) continue;
      RETURN_IF_ERROR(AddPart(*member, name, PartKind::kModel));
    }
    return std::move(parts_);
  }

 private:
  Error Refuse(const ZipMember& member, std::string_view text) const {
    return InvalidInput(fmt::format("{}: {}", ZipMemberText(member), text),
                        fmt::format("{}: byte {}", file_.name(), member.header_offset));
  }
  Error NotRead(const ZipMember& member, std::string_view text) const {
    return Unsupported(fmt::format("{}: {}", ZipMemberText(member), text),
                       fmt::format("{}: byte {}", file_.name(), member.header_offset));
  }

  Status Add(const ZipMember& member, const std::string& name) {
    constexpr auto kOfTheArchive = std::to_array<std::string_view>(
        {"archive_format", "archive_version", "version", ".data/version", ".data/serialization_id",
         ".format_version", ".storage_alignment"});
    if (std::ranges::find(kOfTheArchive, name) != kOfTheArchive.end()) return {};
    if (name == "byteorder") {
      ASSIGN_OR_RETURN(const std::string order, ReadZipMember(file_, member, 16));
      if (order == "little") return {};
      return NotRead(member, "expected a little-endian file");
    }
    const bool weights = name.starts_with("data/weights/");
    const bool constants = name.starts_with("data/constants/");
    if ((weights && name.ends_with("_weights_config.json")) ||
        (constants && name.ends_with("_constants_config.json"))) {
      return AddList(member, weights ? "" : kConstants);
    }
    if (((weights || constants) && name.ends_with(".pt")) ||
        name.starts_with("serialized_state_dict") || name.starts_with("serialized_constants")) {
      const bool state = weights || name.starts_with("serialized_state_dict");
      return AddTorchFile(member, name, state ? "" : kConstants);
    }
    if (name.starts_with("data/sample_inputs/") || name.starts_with("serialized_example_inputs")) {
      return AddPart(member, name, PartKind::kAside);
    }
    if (name == kOlderGraph || (name.starts_with("models/") && name.ends_with(".json"))) {
      return AddGraph(member, name);
    }
    rest_.emplace_back(name, &member);
    return {};
  }

  Status AddPart(const ZipMember& member, const std::string& name, PartKind kind) {
    ASSIGN_OR_RETURN(UnreadPart part,
                     TorchMemberPart(file_, member, name, "belongs to an exported program", kind));
    parts_.unread.push_back(std::move(part));
    return {};
  }

  Status AddGraph(const ZipMember& member, const std::string& name) {
    ASSIGN_OR_RETURN(UnreadPart part,
                     TorchMemberPart(file_, member, name, "is the graph of an exported program",
                                     PartKind::kModel));
    const auto json = ParseJson(part.content, name);
    if (json.ok() && json->IsObject()) part.content = Computing(*json).Dump();
    parts_.unread.push_back(std::move(part));
    return {};
  }

  // A file of torch.save in the archive; "NAME" in it has `prefix` before it.
  Status AddTorchFile(const ZipMember& member, const std::string& name, std::string_view prefix) {
    if (member.size_bytes == 0) return {};
    if (member.deflated) return NotRead(member, "a deflated file of torch.save");
    ASSIGN_OR_RETURN(const ZipDirectory inner,
                     ReadZipDirectory(file_, member.data_offset, member.size_bytes));
    if (!IsTorchZip(inner)) return Refuse(member, "expected a file of torch.save");
    ASSIGN_OR_RETURN(ViewCheckpointParts parts, ReadTorchZip(file_, inner));
    for (UnreadPart& part : parts.unread) {
      if (part.content.empty()) part.content = fmt::format("CRC-32 {:08x}", member.crc32);
    }
    for (View& view : parts.views) {
      if (view.name == "tensor" && prefix.empty()) view.name = name;
    }
    AppendTorchParts(std::move(parts), prefix, &parts_);
    return {};
  }

  // {"config": {NAME: {"path_name": ..., "use_pickle": false, "tensor_meta": {...}}}}
  Status AddList(const ZipMember& member, std::string_view prefix) {
    ASSIGN_OR_RETURN(const std::string text, ReadZipMember(file_, member, kMaxTorchMemberBytes));
    const std::string where = fmt::format("{}: {}", file_.name(), ZipMemberText(member));
    ASSIGN_OR_RETURN(const Json json, ParseJson(text, where));
    const Json* list = json.Find("config");
    if (list == nullptr || !list->IsObject()) return Refuse(member, "expected an object 'config'");
    const std::string folder = member.name.substr(0, member.name.rfind('/') + 1);
    for (const auto& [name, row] : list->AsObject()) {
      const Json* path = row.Find("path_name");
      if (path == nullptr || path->kind() != Json::Kind::kString) {
        return Refuse(member, fmt::format("tensor {}: expected a text 'path_name'", Quoted(name)));
      }
      const ZipMember* data = directory_.Find(folder + path->AsString());
      if (data == nullptr) {
        return Refuse(member, fmt::format("tensor {}: its file {} is not in the archive",
                                          Quoted(name), Quoted(path->AsString())));
      }
      RETURN_IF_ERROR(AddTensor(member, fmt::format("{}{}", prefix, name), row, *data));
    }
    return {};
  }

  Status AddTensor(const ZipMember& list, const std::string& name, const Json& row,
                   const ZipMember& data) {
    used_.insert(data.name);
    const Json* meta = row.Find("tensor_meta");
    const Json* pickled = row.Find("use_pickle");
    const bool plain = pickled == nullptr || pickled->IsNull() ||
                       (pickled->kind() == Json::Kind::kBool && !pickled->AsBool());
    const Json* layout = meta == nullptr ? nullptr : meta->Find("layout");
    const Json* type = meta == nullptr ? nullptr : meta->Find("dtype");
    const auto scalar = std::ranges::find_if(kScalars, [&](const ScalarRow& one) {
      return type != nullptr && type->ToInt64() == one.number;
    });
    if (!plain || scalar == kScalars.end() || layout == nullptr || layout->ToInt64() != kStrided) {
      ASSIGN_OR_RETURN(
          UnreadPart part,
          TorchMemberPart(file_, data, name, "is no strided tensor of a dtype that is read",
                          PartKind::kPart));
      parts_.unread.push_back(std::move(part));
      return {};
    }
    View view{.name = name, .dtype = scalar->dtype, .source = parts_.sources.size()};
    view.stated_at = list.header_offset;
    std::vector<std::uint64_t> offset;
    if (!ReadSizes(meta->Find("sizes"), &view.shape) ||
        !ReadSizes(meta->Find("strides"), &view.strides) ||
        view.shape.size() != view.strides.size() ||
        !ReadSize(meta->Find("storage_offset"), &offset) ||
        __builtin_mul_overflow(offset[0], static_cast<std::uint64_t>(BitsOf(view.dtype)) / 8,
                               &view.offset_bytes)) {
      return Refuse(list, fmt::format("tensor {}: expected sizes, as many strides and an offset, "
                                      "all from 0 on",
                                      Quoted(name)));
    }
    parts_.sources.push_back(SourceOf(data));
    parts_.views.push_back(std::move(view));
    return {};
  }

  // {"as_int": 3}
  static bool ReadSize(const Json* json, std::vector<std::uint64_t>* sizes) {
    const Json* value = json == nullptr ? nullptr : json->Find("as_int");
    const auto number = value == nullptr ? std::nullopt : value->ToInt64();
    if (!number || *number < 0 || sizes->size() == kMaxViewRank) return false;
    sizes->push_back(static_cast<std::uint64_t>(*number));
    return true;
  }
  static bool ReadSizes(const Json* json, std::vector<std::uint64_t>* sizes) {
    return json != nullptr && json->IsArray() &&
           std::ranges::all_of(json->AsArray(),
                               [&](const Json& one) { return ReadSize(&one, sizes); });
  }

  const InputFile& file_;
  const ZipDirectory& directory_;
  const std::string root_;
  ViewCheckpointParts parts_;
  std::set<std::string> used_;  // members of tensors
  std::vector<std::pair<std::string, const ZipMember*>> rest_;
};

}  // namespace

bool IsTorchExport(const ZipDirectory& directory) { return ExportRoot(directory).has_value(); }

Result<std::unique_ptr<Checkpoint>> OpenTorchExport(InputFile file, const ZipDirectory& directory) {
  ASSIGN_OR_RETURN(ViewCheckpointParts parts, ExportReader(file, directory).Read());
  return MakeViewCheckpoint(std::move(file), std::move(parts));
}

}  // namespace rharness
