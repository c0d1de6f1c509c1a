// Reads a noun strictly by the list of its members (strict_members.h).
//
// Errors: those of the JsonReader, with the JSON path; a member that the list does not have. Over
// the values of a program (JsonReader::OverValues) it makes the same checks.
#ifndef RHARNESS_HARNESS_BASE_STRICT_MEMBER_READER_H_
#define RHARNESS_HARNESS_BASE_STRICT_MEMBER_READER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json_reader.h"
#include "harness/base/known_members.h"
#include "harness/base/result.h"
#include "harness/base/strict_members.h"
#include "harness/base/strict_names.h"

namespace rharness {

// Further rules of a noun after its members are read; most have none.
template <class T>
void CheckMembers(JsonReader&, const T&) {}

class StrictReader {
 public:
  explicit StrictReader(JsonReader* reader) : reader_(*reader) {}

  void Noun(const char*) {}
  void NotEmpty() {}
  void Schema(std::string_view name, int version) {
    if (!reader_.over_values()) reader_.ReadSchema(name, version);
  }
  void Must(std::string_view key, auto& value, const About& = {}) { reader_.Read(key, &value); }
  template <class T>
  void May(std::string_view key, T& value, const About& = {}) {
    if constexpr (IsMap<T>) {
      reader_.ForEachMember(key, [&](const std::string& name, JsonReader& json) {
        if constexpr (std::same_as<typename T::mapped_type, Json>) {
          value[name] = json.json();
        } else {
          json.Get(&value[name]);
        }
      });
    } else if constexpr (IsList<T>) {
      reader_.ReadArray(key, &value);
    } else {
      reader_.ReadOptional(key, &value);
    }
  }
  void UnlessEmpty(std::string_view key, auto& value, const About& = {}) { May(key, value); }
  void Unless(std::string_view key, const auto&, auto& value, const About& = {}) {
    May(key, value);
  }
  template <MemberKind K>
  void Must(K, std::string_view key, auto& value, const About& = {}) {
    K::Read(reader_, key, true, &value);
  }
  template <MemberKind K, class T>
  void May(K, std::string_view key, T& value, const About& = {}) {
    if constexpr (requires { K::Read(reader_, key, false, &value); }) {
      K::Read(reader_, key, false, &value);
    } else {
      if (!reader_.over_values() && reader_.Has(key)) value.emplace();
      if (value) K::Read(reader_, key, false, &*value);
    }
  }
  template <MemberKind K>
  void UnlessEmpty(K kind, std::string_view key, auto& value, const About& = {}) {
    May(kind, key, value);
  }
  void Object(std::string_view key, auto& noun, const About& = {}) {
    reader_.ReadObject(key, true, [&](JsonReader& json) { ReadInto(json, noun); });
  }
  template <class T>
  void MayObject(std::string_view key, T& noun, const About& = {}) {
    if constexpr (IsOptional<T>) {
      reader_.ReadOptionalObject(key, &noun,
                                 [](JsonReader& json, auto* one) { ReadInto(json, *one); });
    } else {
      reader_.ReadObject(key, false, [&](JsonReader& json) { ReadInto(json, noun); });
    }
  }
  void ObjectUnlessEmpty(std::string_view key, auto& noun, const About& = {}) {
    MayObject(key, noun);
  }
  template <class T>
  void List(std::string_view key, std::vector<T>& nouns, const About& = {}) {
    reader_.ReadEach(key, &nouns, [](JsonReader& json, T* noun) { ReadInto(json, *noun); });
  }
  template <class T>
  void ListUnlessEmpty(std::string_view key, T& nouns, const About& = {}) {
    if constexpr (IsOptional<T>) {
      if (!reader_.over_values() && reader_.Has(key)) nouns.emplace();
      if (nouns) List(key, *nouns);
    } else {
      List(key, nouns);
    }
  }

  template <class T>
  static void ReadInto(JsonReader& json, T& noun) {
    RefuseUnknownMembers(json, StrictNames::Of<T>());
    ReadOpen(json, noun);
  }
  // Of a noun that may have members beside those of its list.
  template <class T>
  static void ReadOpen(JsonReader& json, T& noun) {
    StrictReader io(&json);
    Members(io, noun);
    if (json.ok()) CheckMembers(json, noun);
  }
  JsonReader& json() { return reader_; }

 private:
  JsonReader& reader_;
};

// A whole document. Errors: those above, with the file.
template <class T>
Result<T> ParseStrictly(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  T noun;
  StrictReader::ReadInto(reader, noun);
  RETURN_IF_ERROR(reader.status());
  return noun;
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_STRICT_MEMBER_READER_H_
