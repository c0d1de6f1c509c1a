// Reads a noun by the list of its members (json_members.h).
//
// Errors: those of the JsonReader, with the JSON path.
#ifndef RHARNESS_HARNESS_BASE_JSON_MEMBER_READER_H_
#define RHARNESS_HARNESS_BASE_JSON_MEMBER_READER_H_

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json_members.h"
#include "harness/base/json_reader.h"
#include "harness/base/result.h"

namespace rharness {

// Reads a member as text and turns it into *out with `parse`, which returns a Result<T>.
template <class T, class F>
void ReadAs(JsonReader& reader, std::string_view key, T* out, F parse) {
  std::string text;
  reader.Read(key, &text);
  if (!reader.ok()) return;
  const Result<T> value = parse(text);
  if (!value.ok()) return reader.Fail(value.error().message, key);
  *out = *value;
}

template <class T, std::size_t n>
auto ParserOf(const NameTable<T, n>& table) {
  return [&table](std::string_view text) -> Result<T> {
    for (const auto& [value, name] : table) {
      if (name == text) return value;
    }
    std::string choices;
    for (const auto& [value, name] : table) {
      choices += fmt::format("{}{}", choices.empty() ? "" : ", ", name);
    }
    return InvalidInput(fmt::format("unknown name '{}'; expected one of {}", text, choices));
  };
}

// Further rules of a noun after its members are read; most have none.
template <class T>
void CheckRead(JsonReader&, const T&) {}

class MemberReader {
 public:
  static constexpr bool kWrites = false;
  explicit MemberReader(JsonReader* reader) : reader_(*reader) {}

  void Noun(const char*) {}
  void Schema(std::string_view name, int version) { reader_.ReadSchema(name, version); }
  bool Present(std::string_view key, bool& flag) {
    flag = reader_.Has(key);
    return true;
  }

  void Must(std::string_view key, auto& value, const About& = {}) { reader_.Read(key, &value); }
  void May(std::string_view key, auto& value, const About& = {}) {
    reader_.ReadOptional(key, &value);
  }
  void MayIf(bool, std::string_view key, auto& value, const About& = {}) { May(key, value); }
  void OrNull(bool, std::string_view key, auto& value, const About& = {}) { May(key, value); }
  void Plain(std::string_view key, auto& values, const About& = {}) {
    reader_.ReadArray(key, &values);
  }
  // Absent as empty: a CheckRead says so where that is an error.
  void MustPlain(std::string_view key, auto& values, const About& = {}) { Plain(key, values); }
  void PlainUnlessEmpty(std::string_view key, auto& values, const About& = {}) {
    Plain(key, values);
  }
  void Name(std::string_view key, auto& value, const auto& names, const About& = {}) {
    ReadAs(reader_, key, &value, ParserOf(names));
  }
  void MayName(std::string_view key, auto& value, const auto& names, const About& = {}) {
    if (reader_.Has(key)) Name(key, value, names);
  }
  void NameUnless(std::string_view key, auto& value, const auto& names, auto, const About& = {}) {
    MayName(key, value, names);
  }
  void Text(std::string_view key, auto& value, auto, auto from_text, const About& = {}) {
    ReadAs(reader_, key, &value, from_text);
  }
  template <class T>
  void MayText(std::string_view key, T& value, auto, auto from_text, const About& = {}) {
    if (!reader_.Has(key)) return;
    if constexpr (requires { value.has_value(); }) {
      ReadAs(reader_, key, &value.emplace(), from_text);
    } else {
      ReadAs(reader_, key, &value, from_text);
    }
  }
  void Time(std::string_view key, WallTime& time, const About& = {}) {
    ReadAs(reader_, key, &time, ParseTime);
  }
  template <class T>
  void MayTime(std::string_view key, T& time, const About& = {}) {
    MayText(key, time, FormatTime, ParseTime);
  }
  void TimeOrNull(std::string_view key, std::optional<WallTime>& time, const About& = {}) {
    MayText(key, time, FormatTime, ParseTime);
  }
  void Object(std::string_view key, auto& noun, const About& = {}) {
    reader_.ReadObject(key, true, [&](JsonReader& json) { ReadInto(json, noun); });
  }
  template <class T>
  void MayObject(std::string_view key, T& noun, const About& = {}) {
    reader_.ReadObject(key, false, [&](JsonReader& json) {
      if constexpr (requires { noun.has_value(); }) {
        ReadInto(json, noun.emplace());
      } else {
        ReadInto(json, noun);
      }
    });
  }
  template <class T>
  void List(std::string_view key, std::vector<T>& nouns, const About& = {}) {
    reader_.ForEach(key, [&](JsonReader& json) { ReadInto(json, nouns.emplace_back()); });
  }
  template <class T>
  void MustList(std::string_view key, std::vector<T>& nouns, const About& = {}) {
    if (reader_.ok() && !reader_.Has(key)) reader_.Fail("missing; expected an array", key);
    List(key, nouns);
  }

  template <class T>
  static void ReadInto(JsonReader& json, T& noun) {
    MemberReader reader(&json);
    Members(reader, noun);
    CheckRead(json, noun);
  }
  JsonReader& json() { return reader_; }

 private:
  JsonReader& reader_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_JSON_MEMBER_READER_H_
