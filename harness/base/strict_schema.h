// Describes what strict_members.h lists; member_schema.h has the rest.
#ifndef RHARNESS_HARNESS_BASE_STRICT_SCHEMA_H_
#define RHARNESS_HARNESS_BASE_STRICT_SCHEMA_H_

#include <string_view>

#include "harness/base/json.h"
#include "harness/base/json_schema.h"
#include "harness/base/member_facts.h"
#include "harness/base/strict_members.h"

namespace rharness {

class StrictSchema : public SchemaNoun {
 public:
  using SchemaNoun::SchemaNoun;

  template <class T>
  void Must(std::string_view key, const T&, const About& about = {}) {
    Plainly<T>(key, true, about);
  }
  template <class T>
  void May(std::string_view key, const T&, const About& about = {}) {
    Plainly<T>(key, false, about);
  }
  template <class T>
  void UnlessEmpty(std::string_view key, const T&, const About& about = {}) {
    if constexpr (IsOptional<T>) {
      Plainly<typename T::value_type>(key, false, about);
    } else {
      Plainly<T>(key, false, about);
    }
  }
  template <class T>
  void Unless(std::string_view key, const T&, const T&, const About& about = {}) {
    Plainly<T>(key, false, about);
  }
  template <MemberKind K, class T>
  void Must(K, std::string_view key, const T&, const About& about = {}) {
    OfKind(key, Described<K, T>(), true, about);
  }
  template <MemberKind K, class T>
  void May(K, std::string_view key, const T&, const About& about = {}) {
    OfKind(key, Described<K, T>(), false, about);
  }
  template <MemberKind K, class T>
  void UnlessEmpty(K, std::string_view key, const T&, const About& about = {}) {
    OfKind(key, Described<K, T>(), false, about);
  }
  template <class T>
  void ObjectUnlessEmpty(std::string_view key, const T&, const About& about = {}) {
    OneNoun(key, {NounOf<T>().type, NounOf<T>().describe}, false, about);
  }
  template <class T>
  void ListUnlessEmpty(std::string_view key, const T&, const About& about = {}) {
    if constexpr (IsOptional<T>) {
      Nouns(key, NounOf<typename T::value_type::value_type>(), false, false, about);
    } else {
      Nouns(key, NounOf<typename T::value_type>(), false, false, about);
    }
  }

  // The schema of a value of the type, without anything of its own: of an element, of a member.
  template <class T>
  Json OfType() {
    constexpr JsonShape shape = ShapeOf<T>();
    return shape.type == JsonType::kAny ? Json::MakeObject() : ValueSchema(shape);
  }

 private:
  template <class K, class T>
  Json Described() {
    if constexpr (IsOptional<T> && !requires(T value) { K::Write(value); }) {
      return Described<K, typename T::value_type>();
    } else if constexpr (requires(StrictSchema & schema) { K::template Describe<T>(schema); }) {
      return K::template Describe<T>(*this);
    } else {
      return K::Describe(*this);
    }
  }
  template <class T>
  void Plainly(std::string_view key, bool required, const About& about) {
    if constexpr (IsMap<T>) {
      Add(key,
          Json::MakeObject(
              {{"type", "object"}, {"additionalProperties", OfType<typename T::mapped_type>()}}),
          required, about);
    } else if constexpr (IsList<T>) {
      Values(key, ShapeOf<typename T::value_type>(), required, about);
    } else {
      Value(key, ShapeOf<T>(), required, about);
    }
  }
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_STRICT_SCHEMA_H_
