// Values by their marks; containers with one type and a count in front.
#include "compare/weights/ubjson.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace rharness {
namespace {

class UbjsonReader {
 public:
  UbjsonReader(std::string_view bytes, std::string_view file, ArrayTaker* taker)
      : bytes_(bytes), file_(file), taker_(taker) {}

  Result<Json> Read() {
    ASSIGN_OR_RETURN(const char mark, Mark());
    ASSIGN_OR_RETURN(Json json, Value(mark, 0));
    if (at_ == bytes_.size()) return json;
    return Refuse(fmt::format("{} bytes after the value; expected none", bytes_.size() - at_));
  }

 private:
  struct Head {
    std::optional<char> type;
    std::optional<std::uint64_t> count;
  };

  std::string Here() const { return fmt::format("{}: byte {}", file_, at_); }
  Error Refuse(std::string text) const { return InvalidInput(std::move(text), Here()); }

  // No-ops are passed over.
  Result<char> Mark() {
    while (at_ < bytes_.size() && bytes_[at_] == 'N') ++at_;
    if (at_ == bytes_.size()) return Refuse("the file ends; expected a value");
    return bytes_[at_++];
  }
  bool Next(char mark) {
    if (at_ == bytes_.size() || bytes_[at_] != mark) return false;
    ++at_;
    return true;
  }

  Result<std::uint64_t> Number(std::size_t size) {
    if (size > bytes_.size() - at_) return Refuse("the file ends inside a number");
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value << 8 | static_cast<unsigned char>(bytes_[at_++]);
    }
    return value;
  }

  Result<std::int64_t> Integer(char mark) {
    const auto as = [&](auto kind) -> Result<std::int64_t> {
      ASSIGN_OR_RETURN(const std::uint64_t value, Number(sizeof(kind)));
      return static_cast<std::int64_t>(static_cast<decltype(kind)>(value));
    };
    switch (mark) {
      case 'i':
        return as(std::int8_t{});
      case 'U':
        return as(std::uint8_t{});
      case 'I':
        return as(std::int16_t{});
      case 'l':
        return as(std::int32_t{});
      case 'L':
        return as(std::int64_t{});
      default:
        return Refuse(fmt::format("the type {:#04x}; expected a whole number",
                                  static_cast<unsigned char>(mark)));
    }
  }

  Result<std::uint64_t> Length() {
    ASSIGN_OR_RETURN(const char mark, Mark());
    ASSIGN_OR_RETURN(const std::int64_t length, Integer(mark));
    if (length < 0) return Refuse("a length below 0");
    return static_cast<std::uint64_t>(length);
  }
  Result<std::string> Text() {
    ASSIGN_OR_RETURN(const std::uint64_t length, Length());
    if (length > bytes_.size() - at_) {
      return Refuse(fmt::format("a text of {} bytes; expected at most the {} that are left", length,
                                bytes_.size() - at_));
    }
    std::string text(bytes_.substr(at_, length));
    at_ += length;
    return text;
  }

  Result<Head> ContainerHead() {
    Head head;
    if (Next('$')) {
      ASSIGN_OR_RETURN(head.type, Mark());
      if (at_ == bytes_.size() || bytes_[at_] != '#') return Refuse("a type without a count");
    }
    if (!Next('#')) return head;
    ASSIGN_OR_RETURN(head.count, Length());
    // A value takes a byte at least, but for the constants, which no writer puts into arrays.
    if (*head.count > bytes_.size() - at_) {
      return Refuse(fmt::format("{} values; expected at most the {} bytes that are left",
                                *head.count, bytes_.size() - at_));
    }
    return head;
  }

  Result<Json> Value(char mark, int depth) {
    if (depth > kMaxUbjsonDepth || ++values_ > kMaxUbjsonValues) {
      return Unsupported(
          fmt::format("more than {} levels or {} values", kMaxUbjsonDepth, kMaxUbjsonValues),
          Here());
    }
    switch (mark) {
      case 'Z':
        return Json();
      case 'T':
        return Json(true);
      case 'F':
        return Json(false);
      case 'd': {
        ASSIGN_OR_RETURN(const std::uint64_t bits, Number(4));
        return Json(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      }
      case 'D': {
        ASSIGN_OR_RETURN(const std::uint64_t bits, Number(8));
        return Json(std::bit_cast<double>(bits));
      }
      case 'C': {
        ASSIGN_OR_RETURN(const std::uint64_t c, Number(1));
        return Json(std::string(1, static_cast<char>(c)));
      }
      case 'S': {
        ASSIGN_OR_RETURN(std::string text, Text());
        return Json(std::move(text));
      }
      case '[':
        return Array(depth);
      case '{':
        return Object(depth);
      case 'i':
      case 'U':
      case 'I':
      case 'l':
      case 'L': {
        ASSIGN_OR_RETURN(const std::int64_t value, Integer(mark));
        return Json(value);
      }
      default:
        return Unsupported(fmt::format("the type {:#04x} of UBJSON; expected one that is read",
                                       static_cast<unsigned char>(mark)),
                           Here());
    }
  }

  Result<Json> Array(int depth) {
    ASSIGN_OR_RETURN(const Head head, ContainerHead());
    const bool taken = taker_ != nullptr && taker_->Begin(path_);
    const std::size_t above = path_.size();
    path_ += "/*";
    Json::Array elements;
    std::int64_t count = 0;
    for (std::uint64_t i = 0; head.count ? i < *head.count : !Next(']'); ++i) {
      char mark = head.type.value_or(0);
      if (!head.type) {
        ASSIGN_OR_RETURN(mark, Mark());
      }
      ASSIGN_OR_RETURN(Json element, Value(mark, depth + 1));
      if (!taken) {
        elements.push_back(std::move(element));
        continue;
      }
      if (!Takes(element)) return Refuse(taker_->Expected());
      ++count;
    }
    path_.resize(above);
    if (count > 0) elements.emplace_back(count);
    return Json::MakeArray(std::move(elements));
  }

  bool Takes(const Json& element) {
    if (element.kind() == Json::Kind::kBool) return taker_->Add(std::int64_t{element.AsBool()});
    if (element.kind() == Json::Kind::kDouble) return taker_->Add(*element.ToDouble());
    const auto number = element.ToInt64();
    return number && taker_->Add(*number);
  }

  Result<Json> Object(int depth) {
    ASSIGN_OR_RETURN(const Head head, ContainerHead());
    Json::Members members;
    std::set<std::string> names;
    const std::size_t above = path_.size();
    for (std::uint64_t i = 0; head.count ? i < *head.count : !Next('}'); ++i) {
      ASSIGN_OR_RETURN(std::string name, Text());
      if (!names.insert(name).second) return Refuse("a name that occurs twice in an object");
      char mark = head.type.value_or(0);
      if (!head.type) {
        ASSIGN_OR_RETURN(mark, Mark());
      }
      path_.append("/").append(name);
      ASSIGN_OR_RETURN(Json value, Value(mark, depth + 1));
      path_.resize(above);
      members.emplace_back(std::move(name), std::move(value));
    }
    return Json::MakeObject(std::move(members));
  }

  const std::string_view bytes_;
  const std::string_view file_;
  ArrayTaker* const taker_;
  std::string path_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

Result<Json> ParseUbjson(std::string_view bytes, std::string_view file, ArrayTaker* taker) {
  return UbjsonReader(bytes, file, taker).Read();
}

}  // namespace rharness
