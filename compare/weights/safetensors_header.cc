// The safetensors header: JSON members to tensors, and the rules that tie them to the data.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "compare/weights/json_members.h"
#include "compare/weights/safetensors.h"
#include "harness/base/files.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

// A number written as an integer: 1.0 is none here, though its value is one.
std::optional<std::uint64_t> WrittenInteger(const Json& json) {
  if (json.kind() == Json::Kind::kDouble) return std::nullopt;
  return json.ToUint64();
}

constexpr std::uint64_t kHeaderBegin = 8;  // where the header starts in the file

// One tensor as the header states it.
struct HeaderEntry {
  TensorInfo info;
  std::uint64_t begin = 0;  // from the start of the data
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;  // of its value in the header, for messages
};

std::string QuotedName(std::string_view name) {
  const bool cut = name.size() > 200;
  return fmt::format("'{}{}'", TerminalSafe(name.substr(0, 200)), cut ? "..." : "");
}

class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::uint64_t data_bytes, std::string_view file)
      : text_(text), data_bytes_(data_bytes), file_(file) {}

  Result<SafetensorsHeader> Parse() {
    RETURN_IF_ERROR(ParseMembers());
    RETURN_IF_ERROR(CheckLayout());
    RETURN_IF_ERROR(SortByName());
    for (HeaderEntry& entry : entries_) {
      header_.offsets.push_back(entry.begin);
      header_.tensors.push_back(std::move(entry.info));
    }
    return std::move(header_);
  }

 private:
  std::string At(std::uint64_t file_offset) const {
    return fmt::format("{}: byte {}", file_, file_offset);
  }
  std::uint64_t OffsetOf(std::string_view slice) const {
    return kHeaderBegin + static_cast<std::uint64_t>(slice.data() - text_.data());
  }
  Error Refuse(const HeaderEntry& entry, std::string_view message) const {
    return InvalidInput(fmt::format("tensor {}: {}", QuotedName(entry.info.name), message),
                        At(entry.file_offset));
  }
  Error BadStructure(const JsonMembersError& error, std::uint64_t object_offset) const {
    return InvalidInput(fmt::format("the header is not valid JSON: {}", error.expected),
                        At(object_offset + error.offset));
  }

  // A slice as JSON; its errors are placed at the slice.
  Result<Json> ParseSlice(std::string_view slice, std::size_t limit_bytes) const {
    if (slice.size() > limit_bytes) {
      return Unsupported(
          fmt::format("a header item of {} bytes; expected at most {}", slice.size(), limit_bytes),
          At(OffsetOf(slice)));
    }
    Result<Json> json = ParseJson(slice, file_);
    if (!json.ok()) return InvalidInput(json.error().message, At(OffsetOf(slice)));
    return json;
  }
  Result<std::string> ParseString(std::string_view slice, std::size_t limit_bytes,
                                  std::string_view what) const {
    ASSIGN_OR_RETURN(const Json json, ParseSlice(slice, limit_bytes));
    if (json.kind() == Json::Kind::kString) return json.AsString();
    return InvalidInput(fmt::format("{} is {}; expected a string", what, json.KindName()),
                        At(OffsetOf(slice)));
  }

  Status ParseMembers();
  Status ParseMetadata(std::string_view object);
  Status ParseEntry(std::string name, std::string_view value);
  Status ReadFields(const Json& json, HeaderEntry* entry) const;
  Status ReadShape(const Json& json, HeaderEntry* entry) const;
  Status ReadOffsets(const Json& json, HeaderEntry* entry) const;
  Status CheckLayout();
  Status SortByName();

  std::string_view text_;
  std::uint64_t data_bytes_;
  std::string_view file_;
  std::vector<HeaderEntry> entries_;
  bool has_metadata_ = false;
  SafetensorsHeader header_;
};

Status HeaderParser::ParseMembers() {
  JsonMembers members(text_);
  while (const auto member = members.Next()) {
    ASSIGN_OR_RETURN(std::string name,
                     ParseString(member->key, kMaxSafetensorsEntryBytes, "a tensor name"));
    if (name == "__metadata__") {
      if (has_metadata_) {
        return InvalidInput("duplicate key '__metadata__'", At(OffsetOf(member->key)));
      }
      has_metadata_ = true;
      RETURN_IF_ERROR(ParseMetadata(member->value));
    } else {
      RETURN_IF_ERROR(ParseEntry(std::move(name), member->value));
    }
  }
  if (members.error()) return BadStructure(*members.error(), kHeaderBegin);
  const std::size_t stray = text_.find_first_not_of(' ', members.end());
  if (stray == std::string_view::npos) return {};
  return InvalidInput("text after the header's JSON; expected only spaces",
                      At(kHeaderBegin + stray));
}

Status HeaderParser::ParseMetadata(std::string_view object) {
  if (!object.starts_with('{')) {
    return InvalidInput("__metadata__ is no object; expected an object of strings",
                        At(OffsetOf(object)));
  }
  JsonMembers members(object);
  std::vector<std::uint64_t> key_offsets;
  while (const auto member = members.Next()) {
    if (header_.metadata.size() == kMaxSafetensorsMetadata) {
      return Unsupported(
          fmt::format("__metadata__ has more than {} members", kMaxSafetensorsMetadata),
          At(OffsetOf(member->key)));
    }
    ASSIGN_OR_RETURN(std::string key,
                     ParseString(member->key, kMaxSafetensorsEntryBytes, "a metadata key"));
    ASSIGN_OR_RETURN(std::string value,
                     ParseString(member->value, kMaxSafetensorsMetadataBytes,
                                 fmt::format("metadata value {}", QuotedName(key))));
    header_.metadata.emplace_back(std::move(key), std::move(value));
    key_offsets.push_back(OffsetOf(member->key));
  }
  if (members.error()) return BadStructure(*members.error(), OffsetOf(object));

  std::vector<std::size_t> order(key_offsets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key_of = [&](std::size_t i) -> const std::string& {
    return header_.metadata[i].first;
  };
  std::ranges::stable_sort(order, {}, key_of);
  const auto twin = std::ranges::adjacent_find(order, {}, key_of);
  if (twin == order.end()) return {};
  return InvalidInput(fmt::format("__metadata__ has duplicate key {}", QuotedName(key_of(*twin))),
                      At(key_offsets[*(twin + 1)]));
}

Status HeaderParser::ParseEntry(std::string name, std::string_view value) {
  HeaderEntry entry;
  entry.info.name = std::move(name);
  entry.file_offset = OffsetOf(value);
  if (entries_.size() == kMaxSafetensorsTensors) {
    return Unsupported(fmt::format("more than {} tensors in one file", kMaxSafetensorsTensors),
                       At(entry.file_offset));
  }
  const Result<Json> json = ParseSlice(value, kMaxSafetensorsEntryBytes);
  if (!json.ok()) {
    Error error = json.error();
    error.message = fmt::format("tensor {}: {}", QuotedName(entry.info.name), error.message);
    return error;
  }
  RETURN_IF_ERROR(ReadFields(*json, &entry));
  entries_.push_back(std::move(entry));
  return {};
}

Status HeaderParser::ReadFields(const Json& json, HeaderEntry* entry) const {
  if (!json.IsObject()) {
    return Refuse(*entry, fmt::format("is {}; expected an object", json.KindName()));
  }
  const Json* dtype = json.Find("dtype");
  const Json* shape = json.Find("shape");
  const Json* offsets = json.Find("data_offsets");
  if (dtype == nullptr || shape == nullptr || offsets == nullptr || json.AsObject().size() != 3) {
    return Refuse(*entry, "expected exactly the members dtype, shape and data_offsets");
  }
  if (dtype->kind() != Json::Kind::kString) {
    return Refuse(*entry, fmt::format("dtype is {}; expected a string", dtype->KindName()));
  }
  const Result<DType> parsed = ParseDType(dtype->AsString());
  if (!parsed.ok()) return Refuse(*entry, parsed.error().message);
  if (*parsed == DType::kC128) {
    return Refuse(*entry, "dtype C128; expected a safetensors dtype such as F32 or C64");
  }
  entry->info.dtype = *parsed;
  RETURN_IF_ERROR(ReadShape(*shape, entry));
  return ReadOffsets(*offsets, entry);
}

Status HeaderParser::ReadShape(const Json& json, HeaderEntry* entry) const {
  TensorInfo& info = entry->info;
  if (!json.IsArray()) {
    return Refuse(*entry, fmt::format("shape is {}; expected an array", json.KindName()));
  }
  if (json.AsArray().size() > kMaxSafetensorsRank) {
    return Unsupported(
        fmt::format("tensor {}: {} dimensions; expected at most {}", QuotedName(info.name),
                    json.AsArray().size(), kMaxSafetensorsRank),
        At(entry->file_offset));
  }
  info.shape.reserve(json.AsArray().size());
  for (const Json& dimension : json.AsArray()) {
    const auto size = WrittenInteger(dimension);
    if (!size) return Refuse(*entry, "shape: expected integers from 0 to 2^64 - 1");
    info.shape.push_back(*size);
    if (__builtin_mul_overflow(info.elements, *size, &info.elements)) {
      return Refuse(*entry, "the product of shape is above 2^64 - 1");
    }
  }
  std::uint64_t bits = 0;
  if (__builtin_mul_overflow(info.elements, static_cast<std::uint64_t>(BitsOf(info.dtype)),
                             &bits)) {
    return Refuse(*entry, "its size in bits is above 2^64 - 1");
  }
  if (bits % 8 != 0) {
    return Refuse(*entry, fmt::format("{} elements of {} take {} bits; expected whole bytes",
                                      info.elements, DTypeName(info.dtype), bits));
  }
  info.size_bytes = bits / 8;
  return {};
}

Status HeaderParser::ReadOffsets(const Json& json, HeaderEntry* entry) const {
  const bool is_pair = json.IsArray() && json.AsArray().size() == 2;
  const auto begin = is_pair ? WrittenInteger(json.AsArray()[0]) : std::nullopt;
  const auto end = is_pair ? WrittenInteger(json.AsArray()[1]) : std::nullopt;
  if (!begin || !end) {
    return Refuse(*entry, "data_offsets: expected two integers from 0 to 2^64 - 1");
  }
  if (*end < *begin) {
    return Refuse(*entry, fmt::format("data_offsets [{}, {}]: expected the end not before the "
                                      "begin",
                                      *begin, *end));
  }
  if (*end - *begin != entry->info.size_bytes) {
    return Refuse(*entry, fmt::format("data_offsets [{}, {}] span {} bytes; expected {} by its "
                                      "dtype and shape",
                                      *begin, *end, *end - *begin, entry->info.size_bytes));
  }
  entry->begin = *begin;
  entry->end = *end;
  return {};
}

// Sorted by offsets, the tensors must follow one another from 0 to the end of the file.
Status HeaderParser::CheckLayout() {
  std::ranges::sort(entries_, {},
                    [](const HeaderEntry& entry) { return std::pair(entry.begin, entry.end); });
  std::uint64_t expected = 0;
  for (const HeaderEntry& entry : entries_) {
    if (entry.begin != expected) {
      return Refuse(
          entry,
          fmt::format("data_offsets [{}, {}] {}; expected to begin at {}", entry.begin, entry.end,
                      entry.begin > expected ? "leave a hole" : "overlap", expected));
    }
    if (entry.end > data_bytes_) {
      return Refuse(entry, fmt::format("data_offsets [{}, {}] end after the file's {} bytes of "
                                       "data",
                                       entry.begin, entry.end, data_bytes_));
    }
    expected = entry.end;
  }
  if (expected == data_bytes_) return {};
  return InvalidInput(fmt::format("{} bytes after the last tensor; expected the end of the file",
                                  data_bytes_ - expected),
                      At(kHeaderBegin + text_.size() + expected));
}

Status HeaderParser::SortByName() {
  const auto name_of = [](const HeaderEntry& entry) -> const std::string& {
    return entry.info.name;
  };
  std::ranges::sort(entries_, {}, name_of);
  const auto twin = std::ranges::adjacent_find(entries_, {}, name_of);
  if (twin == entries_.end()) return {};
  const HeaderEntry& second = twin->file_offset > (twin + 1)->file_offset ? *twin : *(twin + 1);
  return Refuse(second, "the name occurs twice; expected unique names");
}

}  // namespace

Result<SafetensorsHeader> ParseSafetensorsHeader(std::string_view header, std::uint64_t data_bytes,
                                                 std::string_view file) {
  return HeaderParser(header, data_bytes, file).Parse();
}

}  // namespace rharness
