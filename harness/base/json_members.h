// A noun's members by their JSON names, listed once: the same list writes it, reads it and, with
// json_schema.h, describes it.
//
//   template <class Io, Is<Cause> T> void Members(Io& io, T& cause) {
//     io.Must("code", cause.code, "Stable.");  // absent: an error when it is read
//     io.May("confirm", cause.confirm);        // absent: stays as it is
//     io.List("causes", cause.causes);         // of nouns with Members of their own
//   }
//
// A noun that is only written has what is always there as Must. Written in the order of the list.
#ifndef RHARNESS_HARNESS_BASE_JSON_MEMBERS_H_
#define RHARNESS_HARNESS_BASE_JSON_MEMBERS_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/base/json_arrays.h"
#include "harness/base/member_facts.h"

namespace rharness {

class MemberWriter {
 public:
  static constexpr bool kWrites = true;
  explicit MemberWriter(Json* json) : json_(*json) {}

  void Noun(const char*) {}  // what it is, for its description
  void Schema(std::string_view name, int version) {
    json_.Set("schema", std::string(name) + "/v" + std::to_string(version));
  }
  void Constant(std::string_view key, const char* value) { json_.Set(key, value); }
  bool Present(std::string_view, bool flag) { return flag; }  // whether to go on

  void Must(std::string_view key, const auto& value, const About& = {}) { json_.Set(key, value); }
  void May(std::string_view key, const auto& value, const About& = {}) { json_.Set(key, value); }
  void MayIf(bool there, std::string_view key, const auto& value, const About& = {}) {
    if (there) json_.Set(key, value);
  }
  void OrNull(bool known, std::string_view key, const auto& value, const About& = {}) {
    json_.Set(key, known ? Json(value) : Json());
  }
  void Plain(std::string_view key, const auto& values, const About& = {}) {
    json_.Set(key, PlainArray(values));
  }
  void MustPlain(std::string_view key, const auto& values, const About& = {}) {
    Plain(key, values);
  }
  void PlainUnlessEmpty(std::string_view key, const auto& values, const About& = {}) {
    if (!values.empty()) Plain(key, values);
  }
  // An enumeration by the table of its names.
  void Name(std::string_view key, auto value, const auto& names, const About& = {}) {
    json_.Set(key, NameIn(names, value));
  }
  void MayName(std::string_view key, auto value, const auto& names, const About& = {}) {
    Name(key, value, names);
  }
  // Written only if informative: another value than `silent`, a list with members.
  void NameUnless(std::string_view key, auto value, const auto& names, auto silent,
                  const About& = {}) {
    if (value != silent) Name(key, value, names);
  }
  template <class T>
  void NameOrNull(std::string_view key, const std::optional<T>& value, const auto& names,
                  const About& = {}) {
    json_.Set(key, value ? Json(NameIn(names, *value)) : Json());
  }
  // What two functions turn into text and back.
  void Text(std::string_view key, const auto& value, auto to_text, auto, const About& = {}) {
    json_.Set(key, to_text(value));
  }
  template <class T>
  void MayText(std::string_view key, const T& value, auto to_text, auto, const About& = {}) {
    if constexpr (requires { value.has_value(); }) {
      if (value) json_.Set(key, to_text(*value));
    } else {
      json_.Set(key, to_text(value));
    }
  }
  void Time(std::string_view key, WallTime time, const About& = {}) {
    json_.Set(key, FormatTime(time));
  }
  void MayTime(std::string_view key, WallTime time, const About& = {}) { Time(key, time); }
  void MayTime(std::string_view key, const std::optional<WallTime>& time, const About& = {}) {
    if (time) Time(key, *time);
  }
  void TimeOrNull(std::string_view key, const std::optional<WallTime>& time, const About& = {}) {
    json_.Set(key, time ? Json(FormatTime(*time)) : Json());
  }
  void Object(std::string_view key, const auto& noun, const About& = {}) {
    json_.Set(key, Written(noun));
  }
  // Absent where it is an empty optional or a null pointer.
  template <class T>
  void MayObject(std::string_view key, const T& noun, const About& = {}) {
    if constexpr (requires { *noun; }) {
      if (noun) json_.Set(key, Written(*noun));
    } else {
      json_.Set(key, Written(noun));
    }
  }
  void List(std::string_view key, const auto& nouns, const About& = {}) {
    json_.Set(key, ArrayOf(nouns, [](const auto& noun) { return Written(noun); }));
  }
  void MustList(std::string_view key, const auto& nouns, const About& = {}) { List(key, nouns); }
  void ListOrNull(bool known, std::string_view key, const auto& nouns, const About& = {}) {
    known ? List(key, nouns) : void(json_.Set(key, Json()));
  }

  // Of a noun, the members that View lists; null of a null pointer.
  template <class View>
  void ObjectAs(std::string_view key, const auto* noun, const About& = {}) {
    json_.Set(key, noun == nullptr ? Json() : Written(View{*noun}));
  }
  template <class View>
  void ListAs(std::string_view key, const auto& nouns, const About& = {}) {
    json_.Set(key, ArrayOf(nouns, [](const auto& noun) { return Written(View{noun}); }));
  }

  template <class T>
  static Json Written(const T& noun) {
    Json json = Json::MakeObject();
    MemberWriter writer(&json);
    Members(writer, noun);
    return json;
  }
  template <class T>
  static Json Written(const std::optional<T>& noun) {
    return noun ? Written(*noun) : Json();
  }

 private:
  Json& json_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_JSON_MEMBERS_H_
