// Builds JSON Schemas; see json_schema.h and member_schema.h.
#include "harness/base/json_schema.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "harness/base/member_schema.h"
#include "harness/base/result.h"

namespace rharness {
namespace {

constexpr std::string_view kNumberName = "number";

Json Typed(std::string_view type) { return Json::MakeObject({{"type", type}}); }

Json Reference(std::string_view name) {
  return Json::MakeObject({{"$ref", "#/$defs/" + std::string(name)}});
}

Json NumberOrText(const char* description) {
  Json text = Json::MakeObject({{"enum", Json::MakeArray({"nan", "inf", "-inf"})}});
  return Json::MakeObject({{"description", description},
                           {"anyOf", Json::MakeArray({Typed("number"), std::move(text)})}});
}

// "rharness::FactDifference" becomes "fact_difference".
std::string NameOfType(const std::type_info& type) {
  int status = 0;
  char* const text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  if (text == nullptr) Abort("a type without a name");
  std::string_view last = text;
  last.remove_prefix(last.rfind(':') + 1);  // npos + 1 is 0
  std::string name;
  for (const char c : last) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isupper(letter) != 0 && !name.empty()) name += '_';
    name += static_cast<char>(std::tolower(letter));
  }
  std::free(text);
  return name;
}

Json OrNull(Json schema) {
  const Json* type = schema.Find("type");
  if (type == nullptr) {
    return Json::MakeObject({{"anyOf", Json::MakeArray({std::move(schema), Typed("null")})}});
  }
  Json both = Json::MakeArray({*type, "null"});
  return schema.Set("type", std::move(both));
}

// The values of About::OneOf, as integers where they stand for those.
Json ValuesOf(std::string_view text, bool integers, bool or_null) {
  Json values = Json::MakeArray();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string one(text.substr(0, end));
    values.Append(integers ? Json(std::stoi(one)) : Json(one));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (or_null) values.Append(Json());
  return values;
}

Json ExamplesOf(std::string_view lines) {
  Json values = Json::MakeArray();
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    Result<Json> value = ParseJson(line, "an example");
    values.Append(value.ok() ? *std::move(value) : Json(line));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return values;
}

}  // namespace

// What the nouns of one document have in common.
class SchemaDocument {
 public:
  explicit SchemaDocument(const SchemaHead& head) : head_(head) {}

  // Members of a noun.
  Json Describe(void (*describe)(MemberSchema&)) {
    Json noun = Json::MakeObject(
        {{"type", "object"}, {"required", Json::MakeArray()}, {"properties", Json::MakeObject()}});
    MemberSchema io(this, &noun);
    describe(io);
    if (head_.extensible) {
      noun.Set("patternProperties", Json::MakeObject({{"^x-", Json::MakeObject()}}));
    }
    if (head_.closed) noun.Set("additionalProperties", false);
    return noun;
  }
  Json Define(const NounRef& noun) {
    const std::string name = NameOfType(noun.type);
    if (definitions_.emplace(name, Json()).second) definitions_[name] = Describe(noun.describe);
    return noun.or_null ? OrNull(Reference(name)) : Reference(name);
  }
  Json Define(std::string_view name, Json schema) {
    definitions_.emplace(name, std::move(schema));
    return Reference(name);
  }
  Json Number(const About& about) {
    const bool bounded = about.least() != About::kNoBound || about.positive();
    const bool finite = about.finite() || bounded || (head_.finite && !about.any_number());
    if (finite) return Typed("number");
    definitions_.emplace(kNumberName, NumberOrText(head_.number));
    return Reference(kNumberName);
  }
  Json Finish(Json body) const {
    Json schema = Json::MakeObject({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                                    {"$id", head_.id},
                                    {"title", head_.title}});
    const bool described = *head_.description != '\0';
    if (described) schema.Set("description", head_.description);
    for (const auto& [key, value] : body.AsObject()) {
      if (!described || key != "description") schema.Set(key, value);
    }
    if (*head_.example != '\0') schema.Set("examples", ExamplesOf(head_.example));
    if (definitions_.empty()) return schema;
    Json definitions = Json::MakeObject();
    for (const auto& [name, definition] : definitions_) definitions.Set(name, definition);
    return schema.Set("$defs", std::move(definitions));
  }
  void AddForm(const SchemaForm& form) {
    Json noun = Describe(form.describe);
    if (*form.description != '\0') noun.Set("description", form.description);
    definitions_[form.name] = std::move(noun);
  }

 private:
  SchemaHead head_;
  std::map<std::string, Json, std::less<>> definitions_;
};

void SchemaNoun::Noun(const char* description) { noun_.Set("description", description); }

void SchemaNoun::Schema(std::string_view name, int version) {
  const std::string id = std::string(name) + "/v" + std::to_string(version);
  Add("schema", Json::MakeObject({{"const", id}}), true, "Which document this is");
}

void SchemaNoun::Constant(std::string_view key, std::string_view value) {
  Add(key, Json::MakeObject({{"const", value}}), true, {});
}

void SchemaNoun::NotEmpty() { noun_.Set("minProperties", 1); }

Json SchemaNoun::Defined(std::string_view name, Json schema) {
  return document_.Define(name, std::move(schema));
}

Json SchemaNoun::Defined(const NounRef& noun) { return document_.Define(noun); }

void SchemaNoun::Add(std::string_view key, Json schema, bool required, const About& about) {
  if (*about.text() != '\0') schema.Set("description", about.text());
  if (!about.examples().empty()) schema.Set("examples", ExamplesOf(about.examples()));
  Json properties = *noun_.Find("properties");
  properties.Set(key, std::move(schema));
  noun_.Set("properties", std::move(properties));
  if (!(required || about.always()) || about.optional()) return;
  Json names = *noun_.Find("required");
  names.Append(key);
  noun_.Set("required", std::move(names));
}

namespace {

// The bounds of a number, and what a text may be.
void AddBounds(const About& about, JsonType type, Json* schema) {
  const bool count = type == JsonType::kCount;
  if (about.positive()) {
    schema->Set("exclusiveMinimum", 0);
  } else if (about.least() != About::kNoBound || count) {
    schema->Set("minimum", about.least() != About::kNoBound ? about.least() : 0);
  }
  if (about.most() != About::kNoBound) schema->Set("maximum", about.most());
  if (about.not_empty()) schema->Set("minLength", 1);
  if (!about.pattern().empty()) schema->Set("pattern", about.pattern());
}

std::string_view TypeName(JsonType type) {
  switch (type) {
    case JsonType::kBoolean:
      return "boolean";
    case JsonType::kInteger:
    case JsonType::kCount:
      return "integer";
    case JsonType::kNumber:
      return "number";
    case JsonType::kString:
      return "string";
    case JsonType::kAny:
      return "object";
  }
  Abort("no such type of JSON");
}

Json OneValue(SchemaDocument* document, JsonShape shape, const About& about) {
  if (!about.one_of().empty()) {
    const bool integers = shape.type != JsonType::kString;
    return Json::MakeObject({{"enum", ValuesOf(about.one_of(), integers, shape.or_null)}});
  }
  Json schema =
      shape.type == JsonType::kNumber ? document->Number(about) : Typed(TypeName(shape.type));
  AddBounds(about, shape.type, &schema);
  return shape.or_null ? OrNull(std::move(schema)) : schema;
}

Json ArraySchema(Json items, const About& about) {
  Json schema = Json::MakeObject({{"type", "array"}, {"items", std::move(items)}});
  if (about.least_items() != About::kNoBound) schema.Set("minItems", about.least_items());
  if (about.most_items() != About::kNoBound) schema.Set("maxItems", about.most_items());
  return schema;
}

}  // namespace

Json SchemaNoun::ValueSchema(JsonShape shape) { return OneValue(&document_, shape, {}); }

void SchemaNoun::Value(std::string_view key, JsonShape shape, bool required, const About& about) {
  Add(key, OneValue(&document_, shape, about), required, about);
}

void SchemaNoun::Values(std::string_view key, JsonShape shape, bool required, const About& about) {
  Add(key, ArraySchema(OneValue(&document_, shape, about), about), required, about);
}

void SchemaNoun::Names(std::string_view key, const std::vector<std::string_view>& names,
                       bool or_null, bool required, const About& about) {
  Json values = Json::MakeArray();
  for (const std::string_view name : names) values.Append(name);
  if (or_null) values.Append(Json());
  Add(key, Json::MakeObject({{"enum", std::move(values)}}), required, about);
}

void SchemaNoun::Times(std::string_view key, bool or_null, bool required, const About& about) {
  Json schema = Typed("string");
  schema.Set("format", "date-time");
  Add(key, or_null ? OrNull(std::move(schema)) : std::move(schema), required, about);
}

void SchemaNoun::OfKind(std::string_view key, Json kind, bool required, const About& about) {
  if (!about.pattern().empty()) kind.Set("pattern", about.pattern());
  if (about.most() != About::kNoBound) kind.Set("maximum", about.most());
  if (about.least_items() != About::kNoBound) kind.Set("minItems", about.least_items());
  if (about.most_items() != About::kNoBound) kind.Set("maxItems", about.most_items());
  Add(key, std::move(kind), required, about);
}

void SchemaNoun::OneNoun(std::string_view key, const NounRef& noun, bool required,
                         const About& about) {
  Add(key, document_.Define(noun), required, about);
}

void SchemaNoun::Nouns(std::string_view key, const NounRef& noun, bool or_null, bool required,
                       const About& about) {
  Json schema = ArraySchema(document_.Define(noun), about);
  Add(key, or_null ? OrNull(std::move(schema)) : std::move(schema), required, about);
}

Json BuildSchema(const SchemaHead& head, void (*describe)(MemberSchema&)) {
  SchemaDocument document(head);
  return document.Finish(document.Describe(describe));
}

Json BuildSchema(const SchemaHead& head, std::initializer_list<SchemaForm> forms) {
  SchemaDocument document(head);
  Json options = Json::MakeArray();
  for (const SchemaForm& form : forms) {
    document.AddForm(form);
    options.Append(Reference(form.name));
  }
  return document.Finish(Json::MakeObject({{"oneOf", std::move(options)}}));
}

}  // namespace rharness
