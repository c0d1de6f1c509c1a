// A noun's members by their JSON names, listed once: the same list writes it and reads it.
//
//   template <class Io, Is<Cause> T> void Members(Io& io, T& cause) {
//     io.Must("code", cause.code);         // absent: an error when it is read
//     io.May("confirm", cause.confirm);    // absent: stays as it is
//     io.List("causes", cause.causes);     // of nouns with Members of their own
//   }
//
// Role: private to reports/. Written in the order of the list. Errors: those of the JsonReader.
#ifndef RHARNESS_REPORTS_JSON_MEMBERS_H_
#define RHARNESS_REPORTS_JSON_MEMBERS_H_

#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_reader.h"
#include "reports/json_parts.h"
#include "reports/names.h"

namespace rharness {

template <class T, class Noun>
concept Is = std::same_as<std::remove_const_t<T>, Noun>;

// Further rules of a noun after its members are read; most have none.
template <class T>
void CheckRead(JsonReader&, const T&) {}

class MemberWriter {
 public:
  static constexpr bool kWrites = true;
  explicit MemberWriter(Json* json) : json_(*json) {}

  void Must(std::string_view key, const auto& value) { json_.Set(key, value); }
  void May(std::string_view key, const auto& value) { json_.Set(key, value); }
  void Plain(std::string_view key, const auto& values) { json_.Set(key, PlainArray(values)); }
  // An enumeration by the table of its names.
  void Name(std::string_view key, auto value, const auto& names) {
    json_.Set(key, NameIn(names, value));
  }
  void MayName(std::string_view key, auto value, const auto& names) { Name(key, value, names); }
  // Written only if informative: another value than `silent`, a list with members.
  void NameUnless(std::string_view key, auto value, const auto& names, auto silent) {
    if (value != silent) Name(key, value, names);
  }
  void PlainUnlessEmpty(std::string_view key, const auto& values) {
    if (!values.empty()) Plain(key, values);
  }
  // What two functions turn into text and back.
  void Text(std::string_view key, const auto& value, auto to_text, auto) {
    json_.Set(key, to_text(value));
  }
  void MayText(std::string_view key, const auto& value, auto to_text, auto) {
    json_.Set(key, to_text(value));
  }
  template <class T>
  void MayText(std::string_view key, const std::optional<T>& value, auto to_text, auto) {
    if (value) json_.Set(key, to_text(*value));
  }
  template <class T>
  void TextOrNull(std::string_view key, const std::optional<T>& value, auto to_text, auto) {
    json_.Set(key, value ? Json(to_text(*value)) : Json());
  }
  void Object(std::string_view key, const auto& noun) { json_.Set(key, Written(noun)); }
  void MayObject(std::string_view key, const auto& noun) { json_.Set(key, Written(noun)); }
  template <class T>
  void MayObject(std::string_view key, const std::optional<T>& noun) {
    if (noun) json_.Set(key, Written(*noun));
  }
  void List(std::string_view key, const auto& nouns) {
    json_.Set(key, ArrayOf(nouns, [](const auto& noun) { return Written(noun); }));
  }

  template <class T>
  static Json Written(const T& noun) {
    Json json = Json::MakeObject();
    MemberWriter writer(&json);
    Members(writer, noun);
    return json;
  }

 private:
  Json& json_;
};

class MemberReader {
 public:
  static constexpr bool kWrites = false;
  explicit MemberReader(JsonReader* reader) : reader_(*reader) {}

  void Must(std::string_view key, auto& value) { reader_.Read(key, &value); }
  void May(std::string_view key, auto& value) { reader_.ReadOptional(key, &value); }
  void Plain(std::string_view key, auto& values) { reader_.ReadArray(key, &values); }
  void Name(std::string_view key, auto& value, const auto& names) {
    ReadAs(reader_, key, &value, ParserOf(names));
  }
  void MayName(std::string_view key, auto& value, const auto& names) {
    if (reader_.Has(key)) Name(key, value, names);
  }
  void NameUnless(std::string_view key, auto& value, const auto& names, auto) {
    MayName(key, value, names);
  }
  void PlainUnlessEmpty(std::string_view key, auto& values) { Plain(key, values); }
  void Text(std::string_view key, auto& value, auto, auto from_text) {
    ReadAs(reader_, key, &value, from_text);
  }
  void MayText(std::string_view key, auto& value, auto, auto from_text) {
    if (reader_.Has(key)) ReadAs(reader_, key, &value, from_text);
  }
  template <class T>
  void MayText(std::string_view key, std::optional<T>& value, auto, auto from_text) {
    if (reader_.Has(key)) ReadAs(reader_, key, &value.emplace(), from_text);
  }
  void TextOrNull(std::string_view key, auto& value, auto to_text, auto from_text) {
    MayText(key, value, to_text, from_text);
  }
  void Object(std::string_view key, auto& noun) {
    reader_.ReadObject(key, true, [&](JsonReader& json) { ReadInto(json, noun); });
  }
  void MayObject(std::string_view key, auto& noun) {
    reader_.ReadObject(key, false, [&](JsonReader& json) { ReadInto(json, noun); });
  }
  template <class T>
  void MayObject(std::string_view key, std::optional<T>& noun) {
    reader_.ReadObject(key, false, [&](JsonReader& json) { ReadInto(json, noun.emplace()); });
  }
  template <class T>
  void List(std::string_view key, std::vector<T>& nouns) {
    reader_.ForEach(key, [&](JsonReader& json) { ReadInto(json, nouns.emplace_back()); });
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

#endif  // RHARNESS_REPORTS_JSON_MEMBERS_H_
