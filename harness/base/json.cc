// The fence around nlohmann's parser and serialiser; they appear in no other file.
#include "harness/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "harness/base/json_quick.h"

namespace rharness {
namespace {

constexpr std::size_t kMaxQuoted = 80;

// The start of untrusted text for an error message, cut between characters.
std::string Excerpt(std::string_view text) {
  if (text.size() <= kMaxQuoted) return std::string(text);
  std::size_t end = kMaxQuoted;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

// Builds a Json from nlohmann's events, to detect duplicate keys and depth early.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(std::string_view file) : file_(file) {}

  bool null() override { return Add(Json()); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t& text) override {
    if (!std::isfinite(value)) return Refuse("number out of range: " + Excerpt(text));
    const bool integer = text.find_first_of(".eE") == text.npos;
    return Add(integer ? Json::MakeBigInt(text) : Json(value));
  }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t&) override { return Refuse("binary values are not JSON"); }
  bool start_object(std::size_t) override { return Open(Json::Kind::kObject); }
  bool end_object() override {
    return Close([](Level& level) { return Json::MakeObject(Fitted(std::move(level.members))); });
  }
  bool start_array(std::size_t) override { return Open(Json::Kind::kArray); }
  bool end_array() override {
    return Close([](Level& level) { return Json::MakeArray(Fitted(std::move(level.elements))); });
  }
  bool key(string_t& value) override {
    if (!stack_.back().keys.insert(value).second) {
      return Refuse(fmt::format("duplicate key '{}'", Excerpt(value)));
    }
    stack_.back().key = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& exception) override {
    error_ = InvalidInput("not valid JSON: " + Reason(exception.what()),
                          fmt::format("{}: byte {}", file_, position));
    return false;
  }

  Result<Json> Finish() && {
    if (error_) return std::move(*error_);
    return std::move(root_);
  }

 private:
  struct Level {
    Json::Kind kind = Json::Kind::kArray;
    Json::Array elements;
    Json::Members members;
    std::string key;
    std::unordered_set<std::string> keys;
  };

  // Room that many small containers grew and do not use adds up; one large one never touched it.
  template <class T>
  static std::vector<T> Fitted(std::vector<T> values) {
    constexpr std::size_t kSmall = 1024;
    if (values.size() <= kSmall) values.shrink_to_fit();
    return values;
  }

  // The parser's reason without its prefixes and without the text that it read, which may be long.
  static std::string Reason(std::string_view text) {
    if (const auto id = text.find("] "); id != text.npos) text.remove_prefix(id + 2);
    if (const auto place = text.find("syntax error"); place != text.npos) text.remove_prefix(place);
    const auto quoted = text.find("; last read: '");
    if (quoted == text.npos) return Excerpt(text);
    const auto expected = text.rfind("'; expected ");
    const bool has_expected = expected != text.npos && expected > quoted;
    return std::string(text.substr(0, quoted)) +
           (has_expected ? std::string(text.substr(expected + 1)) : std::string());
  }
  bool Refuse(std::string message) {
    error_ = InvalidInput(std::move(message), file_ + ": " + Path());
    return false;
  }
  bool Open(Json::Kind kind) {
    if (stack_.size() >= kMaxJsonDepth) {
      return Refuse(fmt::format("nested more than {} levels deep", kMaxJsonDepth));
    }
    stack_.push_back(Level{.kind = kind});
    return true;
  }
  bool Close(Json (*value_of)(Level&)) {
    Json value = value_of(stack_.back());
    stack_.pop_back();
    return Add(std::move(value));
  }
  bool Add(Json value) {
    if (++values_ > kMaxJsonValues)
      return Refuse(fmt::format("more than {} values", kMaxJsonValues));
    if (stack_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Level& top = stack_.back();
    if (top.kind == Json::Kind::kArray) {
      top.elements.push_back(std::move(value));
    } else {
      top.members.emplace_back(std::move(top.key), std::move(value));
    }
    return true;
  }
  std::string Path() const {
    std::string path = "$";
    for (const Level& level : stack_) {
      if (level.kind == Json::Kind::kArray) {
        path += fmt::format("[{}]", level.elements.size());
      } else if (!level.key.empty()) {
        path += "." + Excerpt(level.key);
      }
    }
    return path;
  }

  std::string file_;
  std::vector<Level> stack_;
  Json root_;
  std::size_t values_ = 0;
  std::optional<Error> error_;
};

bool IsPlain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

void Quote(const std::string& text, std::string* out) {
  if (!std::ranges::all_of(text, IsPlain)) {
    out->append(
        nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  out->push_back('"');
  out->append(text);
  out->push_back('"');
}

std::string FormatDouble(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  std::string text = fmt::format("{}", value);
  // Without a point or an exponent it would be read back as an integer.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

void NewLine(std::string* out, int indent, int depth) {
  if (indent < 0) return;
  out->push_back('\n');
  out->append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(depth), ' ');
}

void DumpTo(const Json& json, int indent, int depth, std::string* out);

template <class Element>
void DumpSequence(std::size_t size, char open, char close, int indent, int depth, Element element,
                  std::string* out) {
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
    case Json::Kind::kBigInt:
      out->append(json.AsBigInt());
      return;
    case Json::Kind::kString:
      Quote(json.AsString(), out);
      return;
    case Json::Kind::kArray: {
      const auto& array = json.AsArray();
      const int inner = IsFlat(array) ? -1 : indent;  // arrays of scalars stay on one line
      DumpSequence(
          array.size(), '[', ']', inner, depth,
          [&](std::size_t i) { DumpTo(array[i], inner, depth + 1, out); }, out);
      return;
    }
    case Json::Kind::kObject: {
      const auto& members = json.AsObject();
      DumpSequence(
          members.size(), '{', '}', indent, depth,
          [&](std::size_t i) {
            Quote(members[i].first, out);
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

Json Json::MakeBigInt(std::string digits) {
  Json json;
  json.value_ = BigInt{std::move(digits)};
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
    case Kind::kBigInt:
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
const std::string& Json::AsBigInt() const { return std::get<BigInt>(value_).digits; }
const Json::Array& Json::AsArray() const { return std::get<Array>(value_); }
const Json::Members& Json::AsObject() const { return std::get<Members>(value_); }

// A double as an integer: up to 2^53; a larger one may be the rounding of a text.
static std::optional<std::int64_t> IntegerOf(double value) {
  constexpr double kLimit = 9007199254740992.0;
  if (!(std::fabs(value) <= kLimit) || value != std::trunc(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> Json::ToInt64() const {
  if (const auto* value = std::get_if<double>(&value_)) return IntegerOf(*value);
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) {
    if (*value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return static_cast<std::int64_t>(*value);
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Json::ToUint64() const {
  if (kind() == Kind::kDouble) {
    const auto value = ToInt64();
    return value && *value >= 0 ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
  }
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
    case Kind::kBigInt:
      return std::strtod(AsBigInt().c_str(), nullptr);
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

Result<Json> ParseJsonCarefully(std::string_view text, std::string_view file) {
  Builder builder(file);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder).Finish();
}

Result<Json> ParseJson(std::string_view text, std::string_view file) {
  // The parsers take a NUL for the end of their input.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    return InvalidInput("not valid JSON: unexpected NUL",
                        fmt::format("{}: byte {}", file, nul + 1));
  }
  if (std::optional<Json> value = ParseJsonQuickly(text)) return *std::move(value);
  return ParseJsonCarefully(text, file);
}

}  // namespace rharness
