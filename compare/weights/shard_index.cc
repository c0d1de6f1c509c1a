// The index of a sharded checkpoint: JSON members to tensors and their files.
#include <fmt/format.h>

#include <algorithm>

#include "compare/weights/json_members.h"
#include "compare/weights/names.h"
#include "compare/weights/sharded.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

class IndexParser {
 public:
  IndexParser(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<ShardIndex> Parse() {
    RETURN_IF_ERROR(ParseMembers());
    if (rows_.empty()) {
      return InvalidInput(
          "is JSON that lists no tensor; expected the index of a sharded checkpoint, with an "
          "object "
          "\"weight_map\" from tensor names to file names",
          At(text_));
    }
    RETURN_IF_ERROR(SortByName());
    NumberShards();
    return std::move(index_);
  }

 private:
  // One member of weight_map.
  struct Row {
    std::string name;
    std::string shard;
    std::string_view slice;  // of its key, for messages
  };

  std::string At(std::string_view slice) const {
    return fmt::format("{}: byte {}", file_, slice.data() - text_.data());
  }
  Error BadStructure(const JsonMembersError& error, std::string_view object) const {
    return InvalidInput(fmt::format("the index is not valid JSON: {}", error.expected),
                        At(object.substr(error.offset)));
  }
  Result<Json> ParseSlice(std::string_view slice) const {
    if (slice.size() > kMaxShardIndexItemBytes) {
      return Unsupported(fmt::format("an item of {} bytes; expected at most {}", slice.size(),
                                     kMaxShardIndexItemBytes),
                         At(slice));
    }
    Result<Json> json = ParseJson(slice, file_);
    if (!json.ok()) return InvalidInput(json.error().message, At(slice));
    return json;
  }
  // Nearly every name is plain: no escape, and nothing that UTF-8 could spell wrong.
  static bool IsPlain(std::string_view slice) {
    if (slice.size() < 2 || slice.front() != '"' || slice.back() != '"') return false;
    return std::ranges::all_of(slice.substr(1, slice.size() - 2), [](char c) {
      return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
    });
  }
  Result<std::string> ParseString(std::string_view slice, std::string_view what) const {
    if (slice.size() <= kMaxShardIndexItemBytes && IsPlain(slice)) {
      return std::string(slice.substr(1, slice.size() - 2));
    }
    ASSIGN_OR_RETURN(const Json json, ParseSlice(slice));
    if (json.kind() == Json::Kind::kString) return json.AsString();
    return InvalidInput(fmt::format("{} is {}; expected a string", what, json.KindName()),
                        At(slice));
  }

  Status ParseMembers();
  Status ParseMetadata(std::string_view object);
  Status ParseWeightMap(std::string_view object);
  Status ParseRow(const JsonMember& member);
  Status SortByName();
  void NumberShards();

  std::string_view text_;
  std::string_view file_;
  std::vector<Row> rows_;
  ShardIndex index_;
};

Status IndexParser::ParseMembers() {
  bool has_metadata = false, has_weight_map = false;
  JsonMembers members(text_);
  while (const auto member = members.Next()) {
    ASSIGN_OR_RETURN(const std::string key, ParseString(member->key, "a key"));
    if (key != "metadata" && key != "weight_map") continue;
    bool& seen = key == "metadata" ? has_metadata : has_weight_map;
    if (seen) return InvalidInput(fmt::format("duplicate key '{}'", key), At(member->key));
    seen = true;
    RETURN_IF_ERROR(key == "metadata" ? ParseMetadata(member->value)
                                      : ParseWeightMap(member->value));
  }
  if (members.error()) return BadStructure(*members.error(), text_);
  const std::size_t stray = text_.find_first_not_of(" \t\r\n", members.end());
  if (stray == std::string_view::npos) return {};
  return InvalidInput("text after the index; expected only white space", At(text_.substr(stray)));
}

Status IndexParser::ParseMetadata(std::string_view object) {
  ASSIGN_OR_RETURN(const Json json, ParseSlice(object));
  if (json.IsNull()) return {};
  if (!json.IsObject()) {
    return InvalidInput(fmt::format("metadata is {}; expected an object", json.KindName()),
                        At(object));
  }
  for (const auto& [key, value] : json.AsObject()) {
    if (key != "total_size") {
      const bool text = value.kind() == Json::Kind::kString;
      index_.metadata.emplace_back(key, text ? value.AsString() : value.Dump());
      continue;
    }
    index_.total_size_bytes = value.ToUint64();
    if (!index_.total_size_bytes && !value.IsNull()) {
      return InvalidInput(
          fmt::format("total_size is {}; expected a whole number of bytes", value.KindName()),
          At(object));
    }
  }
  return {};
}

Status IndexParser::ParseWeightMap(std::string_view object) {
  if (!object.starts_with('{')) {
    return InvalidInput("weight_map is no object; expected one from tensor names to file names",
                        At(object));
  }
  JsonMembers members(object);
  while (const auto member = members.Next()) RETURN_IF_ERROR(ParseRow(*member));
  if (members.error()) return BadStructure(*members.error(), object);
  return {};
}

Status IndexParser::ParseRow(const JsonMember& member) {
  if (rows_.size() == kMaxShardedTensors) {
    return Unsupported(fmt::format("more than {} tensors", kMaxShardedTensors), At(member.key));
  }
  Row row;
  row.slice = member.key;
  ASSIGN_OR_RETURN(row.name, ParseString(member.key, "a tensor name"));
  ASSIGN_OR_RETURN(
      row.shard, ParseString(member.value, fmt::format("the file of tensor {}", Quoted(row.name))));
  if (!IsPlainFileName(row.shard)) {
    return InvalidInput(fmt::format("tensor {} lies in {}; expected the name of a file in the "
                                    "index's folder",
                                    Quoted(row.name), Quoted(row.shard)),
                        At(member.value));
  }
  rows_.push_back(std::move(row));
  return {};
}

Status IndexParser::SortByName() {
  std::ranges::sort(rows_, {}, [](const Row& row) {
    return std::pair(std::string_view(row.name), row.slice.data());
  });
  const auto twin = std::ranges::adjacent_find(rows_, {}, &Row::name);
  if (twin == rows_.end()) return {};
  return InvalidInput(
      fmt::format("tensor {} is listed twice; expected unique names", Quoted(twin->name)),
      At((twin + 1)->slice));
}

void IndexParser::NumberShards() {
  std::vector<std::string>& shards = index_.shards;
  for (const Row& row : rows_) shards.push_back(row.shard);
  std::ranges::sort(shards);
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
  for (Row& row : rows_) {
    const auto shard = std::ranges::lower_bound(shards, row.shard);
    index_.tensors.push_back(
        {std::move(row.name), static_cast<std::size_t>(shard - shards.begin())});
  }
}

}  // namespace

Result<ShardIndex> ParseShardIndex(std::string_view text, std::string_view file) {
  ASSIGN_OR_RETURN(ShardIndex index, IndexParser(text, file).Parse());
  if (index.shards.size() <= kMaxShards) return index;
  return Unsupported(fmt::format("{} shards; expected at most {}", index.shards.size(), kMaxShards),
                     fmt::format("{}: byte 0", file));
}

}  // namespace rharness
