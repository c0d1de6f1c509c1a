// JSON Schemas (draft 2020-12) of documents, made from the lists of their members (json_members.h).
//
// Role: the schemas that are installed. A noun within a noun is a $defs entry, named as its type.
#ifndef RHARNESS_HARNESS_BASE_JSON_SCHEMA_H_
#define RHARNESS_HARNESS_BASE_JSON_SCHEMA_H_

#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/member_facts.h"

namespace rharness {

class MemberSchema;
class SchemaDocument;

// What a document is, beside its members.
struct SchemaHead {
  const char* id = "";
  const char* title = "";
  const char* description = "";  // may be empty
  const char* example = "";      // a whole document
  const char* number = "A JSON number, or a value that is not finite as a string.";
  bool closed = false;      // no noun in it has a member that is not listed
  bool extensible = false;  // but for "x-..."
  bool finite = false;      // no number in it is written as "nan", "inf" or "-inf"
};

// One of several forms of a document.
struct SchemaForm {
  const char* name = "";
  const char* description = "";
  void (*describe)(MemberSchema&) = nullptr;
};

// A schema, by the name of its file: "gate" for gate.schema.json.
struct NamedSchema {
  const char* name = "";
  Json (*build)() = nullptr;
};

enum class JsonType : unsigned char { kBoolean, kInteger, kCount, kNumber, kString, kAny };
struct JsonShape {
  JsonType type = JsonType::kAny;
  bool or_null = false;
};

template <class T>
constexpr JsonShape ShapeOf() {
  if constexpr (requires(T value) { value.has_value(); }) {
    return {ShapeOf<typename T::value_type>().type, true};
  } else if constexpr (std::is_same_v<T, bool>) {
    return {JsonType::kBoolean};
  } else if constexpr (std::is_integral_v<T>) {
    return {std::is_unsigned_v<T> ? JsonType::kCount : JsonType::kInteger};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {JsonType::kNumber};
  } else {
    return {std::is_same_v<T, Json> ? JsonType::kAny : JsonType::kString};
  }
}

// A type with a list of members, and what runs it over a value without content.
struct NounRef {
  const std::type_info& type;
  void (*describe)(MemberSchema&);
  bool or_null = false;
};

template <class T>
NounRef NounOf() {
  if constexpr (requires(T value) { value.has_value(); }) {
    const NounRef noun = NounOf<typename T::value_type>();
    return {noun.type, noun.describe, true};
  } else {
    return {typeid(T), [](MemberSchema& io) {
              const T noun{};
              Members(io, noun);
            }};
  }
}

// Of a T, the members that View lists, which is made of a reference to it.
template <class View, class T>
NounRef ViewOf() {
  return {typeid(View), [](MemberSchema& io) {
            const T noun{};
            const View view{noun};
            Members(io, view);
          }};
}

// One noun of a document; member_schema.h calls it for each member of its list.
class SchemaNoun {
 public:
  SchemaNoun(SchemaDocument* document, Json* noun) : document_(*document), noun_(*noun) {}

  void Noun(const char* description);
  void Schema(std::string_view name, int version);
  void Constant(std::string_view key, std::string_view value);
  void NotEmpty();  // one member at least
  // A further rule of the noun, such as "allOf".
  void Rule(std::string_view key, Json value) { noun_.Set(key, std::move(value)); }
  // What refers to a definition of the document / to a noun of it.
  Json Defined(std::string_view name, Json schema);
  Json Defined(const NounRef& noun);
  // What a value of this type is.
  Json ValueSchema(JsonShape shape);
  // A member of any schema.
  void Add(std::string_view key, Json schema, bool required, const About& about);

 protected:
  void Value(std::string_view key, JsonShape shape, bool required, const About& about);
  void Values(std::string_view key, JsonShape shape, bool required, const About& about);
  void Names(std::string_view key, const std::vector<std::string_view>& names, bool or_null,
             bool required, const About& about);
  void Times(std::string_view key, bool or_null, bool required, const About& about);
  void OfKind(std::string_view key, Json kind, bool required, const About& about);
  void OneNoun(std::string_view key, const NounRef& noun, bool required, const About& about);
  void Nouns(std::string_view key, const NounRef& noun, bool or_null, bool required,
             const About& about);

 private:
  SchemaDocument& document_;
  Json& noun_;
};

Json BuildSchema(const SchemaHead& head, void (*describe)(MemberSchema&));
Json BuildSchema(const SchemaHead& head, std::initializer_list<SchemaForm> forms);

template <class T>
Json SchemaOf(const SchemaHead& head) {
  return BuildSchema(head, NounOf<T>().describe);
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_JSON_SCHEMA_H_
