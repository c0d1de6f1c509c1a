// JSON as a value, a strict parser, and a stable writer.
//
// Role: every record that rharness reads or writes passes through here. Only json.cc includes
// nlohmann's full header. Not here: typed reading of members (json_reader.h), any knowledge of a
// schema.
#ifndef RHARNESS_HARNESS_BASE_JSON_H_
#define RHARNESS_HARNESS_BASE_JSON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

// A JSON value. Objects keep the order in which their members were set. Integers are exact:
// over [-2^63, 2^64) as numbers, beyond that as their digits. NaN and the infinities are written as
// the strings "nan", "inf", "-inf", never null.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Members = std::vector<Member>;
  enum class Kind { kNull, kBool, kInt, kUnsigned, kDouble, kString, kArray, kObject, kBigInt };

  Json() = default;  // null
  template <class T>
  requires(std::is_arithmetic_v<T>) Json(T value) : value_(Widen(value)) {}  // NOLINT: implicit
  Json(std::string value) : value_(std::move(value)) {}                      // NOLINT: implicit
  Json(std::string_view value) : value_(std::string(value)) {}               // NOLINT: implicit
  Json(const char* value) : value_(std::string(value)) {}                    // NOLINT: implicit
  template <class T>
  Json(const std::optional<T>& value) {  // NOLINT: implicit
    if (value) *this = Json(*value);
  }
  static Json MakeArray(Array elements = {});
  static Json MakeObject(Members members = {});
  // An integer beyond 64 bits by its decimal digits, as JSON writes them.
  static Json MakeBigInt(std::string digits);

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  std::string_view KindName() const;  // "null", "boolean", "number", "string", "array", "object"
  bool IsNull() const { return kind() == Kind::kNull; }
  bool IsObject() const { return kind() == Kind::kObject; }
  bool IsArray() const { return kind() == Kind::kArray; }

  // nullptr when absent or when this is no object.
  const Json* Find(std::string_view key) const;
  // Sets or replaces a member; turns null into an object; aborts on any other kind. Returns *this.
  Json& Set(std::string_view key, Json value);
  // Appends a member whose key is known to be new.
  Json& AppendMember(std::string key, Json value);
  // Appends; turns null into an array; aborts on any other kind.
  Json& Append(Json value);

  // Abort for another kind; JsonReader reads input.
  bool AsBool() const;
  const std::string& AsString() const;
  const std::string& AsBigInt() const;
  const Array& AsArray() const;
  const Members& AsObject() const;
  // Empty unless a number. Integers must be exact: 3.0 is 3, but doubles beyond 2^53 are no
  // integers. Doubles round to nearest, and accept the strings "nan", "inf" and "-inf".
  std::optional<std::int64_t> ToInt64() const;
  std::optional<std::uint64_t> ToUint64() const;
  std::optional<double> ToDouble() const;

  // indent < 0: one line. Doubles print shortest-round-trip; invalid UTF-8 becomes U+FFFD.
  std::string Dump(int indent = -1) const;

 private:
  struct BigInt {
    std::string digits;
  };
  using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string,
                             Array, Members, BigInt>;

  static Value Widen(auto value) {
    using T = decltype(value);
    if constexpr (std::is_same_v<T, bool>)
      return value;
    else if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(value);
    else if constexpr (std::is_signed_v<T>)
      return static_cast<std::int64_t>(value);
    else
      return static_cast<std::uint64_t>(value);
  }
  Value value_;
};

// Parses one JSON document. `file` names the source in errors, which give the byte offset or the
// JSON path. Refused (invalid_input): duplicate keys, more than 128 levels of nesting, more than
// 2^24 values, numbers beyond a double, trailing text, NaN literals, invalid UTF-8, an empty
// document. No error quotes more than 80 bytes of the document at a time.
Result<Json> ParseJson(std::string_view text, std::string_view file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_JSON_H_
