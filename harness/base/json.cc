// The fence around nlohmann's parser and serialiser; they appear in no other file.
#include "harness/base/json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace rharness {
namespace {

constexpr std::size_t kMaxDepth = 128;

// Builds a Json from nlohmann's events, so that duplicate keys and depth are seen as they come.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(std::string_view file) : file_(file) {}

  bool null() override { return Add(Json()); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t& text) override {
    if (!std::isfinite(value)) return Refuse("number out of range: " + text);
    return Add(value);
  }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t&) override { return Refuse("binary values are not JSON"); }
  bool start_object(std::size_t) override { return Open(Json::MakeObject()); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(Json::MakeArray()); }
  bool end_array() override { return Close(); }
  bool key(string_t& value) override {
    if (!stack_.back().keys.insert(value).second) return Refuse("duplicate key '" + value + "'");
    stack_.back().key = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& exception) override {
    std::string text = exception.what();
    if (const auto colon = text.find("syntax error"); colon != std::string::npos) {
      text = text.substr(colon);
    }
    error_ = InvalidInput("not valid JSON: " + text, fmt::format("{}: byte {}", file_, position));
    return false;
  }

  Result<Json> Finish() && {
    if (error_) return std::move(*error_);
    return std::move(root_);
  }

 private:
  struct Level {
    Json value;
    std::string key;
    std::unordered_set<std::string> keys;
  };

  bool Refuse(std::string message) {
    error_ = InvalidInput(std::move(message), file_ + ": " + Path());
    return false;
  }
  bool Open(Json empty) {
    if (stack_.size() >= kMaxDepth) {
      return Refuse(fmt::format("nested more than {} levels deep", kMaxDepth));
    }
    stack_.push_back(Level{std::move(empty), {}, {}});
    return true;
  }
  bool Close() {
    Json value = std::move(stack_.back().value);
    stack_.pop_back();
    return Add(std::move(value));
  }
  bool Add(Json value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Level& top = stack_.back();
    if (top.value.IsArray()) {
      top.value.Append(std::move(value));
    } else {
      top.value.AppendMember(std::move(top.key), std::move(value));
    }
    return true;
  }
  std::string Path() const {
    std::string path = "$";
    for (const Level& level : stack_) {
      if (level.value.IsArray()) {
        path += fmt::format("[{}]", level.value.AsArray().size());
      } else if (!level.key.empty()) {
        path += "." + level.key;
      }
    }
    return path;
  }

  std::string file_;
  std::vector<Level> stack_;
  Json root_;
  std::optional<Error> error_;
};

std::string Quote(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string FormatDouble(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  return nlohmann::json(value).dump();
}

void NewLine(std::string* out, int indent, int depth) {
  if (indent < 0) return;
  out->push_back('\n');
  out->append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(depth), ' ');
}

void DumpTo(const Json& json, int indent, int depth, std::string* out);

void DumpSequence(std::size_t size, char open, char close, int indent, int depth,
                  const std::function<void(std::size_t)>& element, std::string* out) {
  out->push_back(open);
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) out->push_back(',');
    NewLine(out, indent, depth + 1);
    element(i);
  }
  if (size > 0) NewLine(out, indent, depth);
  out->push_back(close);
}

bool IsFlat(const Json::Array& array) {
  for (const Json& element : array) {
    if (element.IsArray() || element.IsObject()) return false;
  }
  return true;
}

void DumpTo(const Json& json, int indent, int depth, std::string* out) {
  switch (json.kind()) {
    case Json::Kind::kNull:
      out->append("null");
      return;
    case Json::Kind::kBool:
      out->append(json.AsBool() ? "true" : "false");
      return;
    case Json::Kind::kInt:
      out->append(std::to_string(*json.ToInt64()));
      return;
    case Json::Kind::kUnsigned:
      out->append(std::to_string(*json.ToUint64()));
      return;
    case Json::Kind::kDouble:
      out->append(FormatDouble(*json.ToDouble()));
      return;
    case Json::Kind::kString:
      out->append(Quote(json.AsString()));
      return;
    case Json::Kind::kArray: {
      const auto& array = json.AsArray();
      const int inner = IsFlat(array) ? -1 : indent;  // arrays of scalars stay on one line
      DumpSequence(array.size(), '[', ']', inner, depth,
                   [&](std::size_t i) { DumpTo(array[i], inner, depth + 1, out); }, out);
      return;
    }
    case Json::Kind::kObject: {
      const auto& members = json.AsObject();
      DumpSequence(members.size(), '{', '}', indent, depth,
                   [&](std::size_t i) {
                     out->append(Quote(members[i].first));
                     out->append(indent < 0 ? ":" : ": ");
                     DumpTo(members[i].second, indent, depth + 1, out);
                   },
                   out);
      return;
    }
  }
}

}  // namespace

Json Json::MakeArray(Array elements) {
  Json json;
  json.value_ = std::move(elements);
  return json;
}

Json Json::MakeObject(Members members) {
  Json json;
  json.value_ = std::move(members);
  return json;
}

std::string_view Json::KindName() const {
  switch (kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "boolean";
    case Kind::kInt:
    case Kind::kUnsigned:
    case Kind::kDouble:
      return "number";
    case Kind::kString:
      return "string";
    case Kind::kArray:
      return "array";
    case Kind::kObject:
      return "object";
  }
  Abort("unknown Json::Kind");
}

const Json* Json::Find(std::string_view key) const {
  if (!IsObject()) return nullptr;
  for (const Member& member : std::get<Members>(value_)) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

Json& Json::Set(std::string_view key, Json value) {
  if (IsNull()) value_ = Members{};
  if (!IsObject()) Abort("Json::Set on a value that is no object");
  for (Member& member : std::get<Members>(value_)) {
    if (member.first == key) {
      member.second = std::move(value);
      return *this;
    }
  }
  return AppendMember(std::string(key), std::move(value));
}

Json& Json::AppendMember(std::string key, Json value) {
  if (!IsObject()) Abort("Json::AppendMember on a value that is no object");
  std::get<Members>(value_).emplace_back(std::move(key), std::move(value));
  return *this;
}

Json& Json::Append(Json value) {
  if (IsNull()) value_ = Array{};
  if (!IsArray()) Abort("Json::Append on a value that is no array");
  std::get<Array>(value_).push_back(std::move(value));
  return *this;
}

bool Json::AsBool() const { return std::get<bool>(value_); }
const std::string& Json::AsString() const { return std::get<std::string>(value_); }
const Json::Array& Json::AsArray() const { return std::get<Array>(value_); }
const Json::Members& Json::AsObject() const { return std::get<Members>(value_); }

std::optional<std::int64_t> Json::ToInt64() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) {
    if (*value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return static_cast<std::int64_t>(*value);
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Json::ToUint64() const {
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) {
    if (*value >= 0) return static_cast<std::uint64_t>(*value);
  }
  return std::nullopt;
}

std::optional<double> Json::ToDouble() const {
  switch (kind()) {
    case Kind::kInt:
      return static_cast<double>(std::get<std::int64_t>(value_));
    case Kind::kUnsigned:
      return static_cast<double>(std::get<std::uint64_t>(value_));
    case Kind::kDouble:
      return std::get<double>(value_);
    case Kind::kString: {
      const std::string& text = AsString();
      if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
      if (text == "inf") return std::numeric_limits<double>::infinity();
      if (text == "-inf") return -std::numeric_limits<double>::infinity();
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::string Json::Dump(int indent) const {
  std::string out;
  DumpTo(*this, indent, 0, &out);
  return out;
}

Result<Json> ParseJson(std::string_view text, std::string_view file) {
  Builder builder(file);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder).Finish();
}

}  // namespace rharness
