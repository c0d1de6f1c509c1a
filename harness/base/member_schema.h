// Describes a noun as a JSON Schema by the list of its members (json_members.h): their names,
// types, which are always there, enumerations, bounds and sentences.
//
// Role: the third Io of a list, for json_schema.h. Types: of the C++ type; unsigned: at least 0; a
// double: a number or, unless the document is finite, "nan", "inf" or "-inf"; std::optional: or
// null. What it records depends on types alone: it runs a list over a noun without values.
#ifndef RHARNESS_HARNESS_BASE_MEMBER_SCHEMA_H_
#define RHARNESS_HARNESS_BASE_MEMBER_SCHEMA_H_

#include <optional>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_members.h"
#include "harness/base/json_schema.h"
#include "harness/base/member_facts.h"
#include "harness/base/strict_schema.h"

namespace rharness {

class MemberSchema : public StrictSchema {
 public:
  static constexpr bool kWrites = true;
  using StrictSchema::May;
  using StrictSchema::Must;
  using StrictSchema::StrictSchema;

  bool Present(std::string_view, bool) { return true; }

  template <class T>
  void MayIf(bool, std::string_view key, const T&, const About& about = {}) {
    Value(key, ShapeOf<T>(), false, about);
  }
  template <class T>
  void OrNull(bool, std::string_view key, const T&, const About& about = {}) {
    Value(key, {ShapeOf<T>().type, true}, true, about);
  }
  template <class T>
  void Plain(std::string_view key, const std::vector<T>&, const About& about = {}) {
    Values(key, ShapeOf<T>(), false, about);
  }
  template <class T>
  void MustPlain(std::string_view key, const std::vector<T>&, const About& about = {}) {
    Values(key, ShapeOf<T>(), true, about);
  }
  template <class T>
  void PlainUnlessEmpty(std::string_view key, const std::vector<T>&, const About& about = {}) {
    Values(key, ShapeOf<T>(), false, about);
  }
  void Name(std::string_view key, auto, const auto& names, const About& about = {}) {
    Names(key, TextsOf(names), false, true, about);
  }
  void MayName(std::string_view key, auto, const auto& names, const About& about = {}) {
    Names(key, TextsOf(names), false, false, about);
  }
  void NameUnless(std::string_view key, auto, const auto& names, auto, const About& about = {}) {
    Names(key, TextsOf(names), false, false, about);
  }
  void NameOrNull(std::string_view key, const auto&, const auto& names, const About& about = {}) {
    Names(key, TextsOf(names), true, true, about);
  }
  template <class T>
  void Text(std::string_view key, const T&, auto, auto, const About& about = {}) {
    AsText<T>(key, true, about);
  }
  template <class T>
  void MayText(std::string_view key, const T&, auto, auto, const About& about = {}) {
    AsText<T>(key, false, about);
  }
  void Time(std::string_view key, const auto&, const About& about = {}) {
    Times(key, false, true, about);
  }
  void MayTime(std::string_view key, const auto&, const About& about = {}) {
    Times(key, false, false, about);
  }
  void TimeOrNull(std::string_view key, const auto&, const About& about = {}) {
    Times(key, true, true, about);
  }
  template <class T>
  void Object(std::string_view key, const T&, const About& about = {}) {
    OneNoun(key, NounOf<T>(), true, about);
  }
  template <class T>
  void MayObject(std::string_view key, const T&, const About& about = {}) {
    OneNoun(key, {NounOf<T>().type, NounOf<T>().describe}, false, about);
  }
  template <class T>
  void MayObject(std::string_view key, const T*, const About& about = {}) {
    OneNoun(key, NounOf<T>(), false, about);
  }
  template <class T>
  void List(std::string_view key, const T&, const About& about = {}) {
    Nouns(key, NounOf<typename T::value_type>(), false, false, about);
  }
  template <class T>
  void MustList(std::string_view key, const T&, const About& about = {}) {
    Nouns(key, NounOf<typename T::value_type>(), false, true, about);
  }
  template <class T>
  void ListOrNull(bool, std::string_view key, const T&, const About& about = {}) {
    Nouns(key, NounOf<typename T::value_type>(), true, true, about);
  }
  template <class View, class T>
  void ObjectAs(std::string_view key, const T*, const About& about = {}) {
    OneNoun(key, {ViewOf<View, T>().type, ViewOf<View, T>().describe, true}, true, about);
  }
  template <class View, class T>
  void ListAs(std::string_view key, const T&, const About& about = {}) {
    Nouns(key, ViewOf<View, typename T::value_type>(), false, true, about);
  }

 private:
  static std::vector<std::string_view> TextsOf(const auto& names) {
    std::vector<std::string_view> texts;
    for (const auto& [value, name] : names) texts.push_back(name);
    return texts;
  }
  template <class T>
  void AsText(std::string_view key, bool required, const About& about) {
    if constexpr (requires(T value) { value.has_value(); }) {
      AsText<typename T::value_type>(key, required, about);
    } else if constexpr (requires(T value) { NamesOf(value); }) {
      Names(key, TextsOf(NamesOf(T())), false, required, about);
    } else {
      Value(key, {JsonType::kString}, required, about);
    }
  }
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_MEMBER_SCHEMA_H_
