// A validator of the tests' own for the schemas of this folder.
#ifndef RHARNESS_TESTS_REPORTS_SCHEMA_VALIDATOR_H_
#define RHARNESS_TESTS_REPORTS_SCHEMA_VALIDATOR_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "harness/base/json.h"

namespace rharness {

// The part of JSON Schema 2020-12 that the schemas of reports use, with one strictness more: a
// member that the schema does not name is an error.
class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  void Check(const Json& value, const Json& schema, const std::string& path) {
    if (schema.Find("$ref") != nullptr) return Check(value, Resolved(schema), path);
    if (const Json* any = schema.Find("anyOf")) {
      const auto& options = any->AsArray();
      const auto fits = std::find_if(options.begin(), options.end(),
                                     [&](const Json& option) { return Fits(value, option); });
      if (fits == options.end()) {
        ADD_FAILURE() << path << " fits no alternative";
      } else {
        Check(value, *fits, path);
      }
      return;
    }
    EXPECT_TRUE(Fits(value, schema)) << path << " has a type or value that the schema refuses";
    if (const Json* pattern = schema.Find("pattern")) {
      const testing::Matcher<const std::string&> fits = testing::MatchesRegex(pattern->AsString());
      EXPECT_TRUE(fits.Matches(value.AsString())) << path;
    }
    if (value.IsObject()) CheckObject(value, schema, path);
    if (value.IsArray()) {
      int index = 0;
      for (const Json& element : value.AsArray()) {
        Check(element, *schema.Find("items"), path + "[" + std::to_string(index++) + "]");
      }
    }
  }

 private:
  static bool IsType(const Json& value, const std::string& type) {
    if (type == "integer") return value.ToInt64() || value.ToUint64();
    return value.KindName() == type;
  }

  const Json& Resolved(const Json& schema) const {
    const Json* ref = schema.Find("$ref");
    if (ref == nullptr) return schema;
    const std::string name = ref->AsString().substr(std::string("#/$defs/").size());
    return *root_.Find("$defs")->Find(name);
  }

  bool Fits(const Json& value, const Json& reference) const {
    const Json& schema = Resolved(reference);
    if (const Json* any = schema.Find("anyOf")) {
      const auto& options = any->AsArray();
      return std::any_of(options.begin(), options.end(),
                         [&](const Json& option) { return Fits(value, option); });
    }
    if (const Json* constant = schema.Find("const")) return value.Dump() == constant->Dump();
    if (const Json* allowed = schema.Find("enum")) {
      const auto& values = allowed->AsArray();
      return std::any_of(values.begin(), values.end(),
                         [&](const Json& one) { return one.Dump() == value.Dump(); });
    }
    const Json* type = schema.Find("type");
    if (type == nullptr) return false;
    if (!type->IsArray()) return IsType(value, type->AsString());
    const auto& types = type->AsArray();
    return std::any_of(types.begin(), types.end(),
                       [&](const Json& one) { return IsType(value, one.AsString()); });
  }

  // Members of any name, all of one schema, or of any.
  void CheckMap(const Json& value, const Json& schema, const std::string& path) {
    const Json* each = schema.Find("additionalProperties");
    if (each == nullptr || !each->IsObject() || each->AsObject().empty()) return;
    for (const auto& [name, member] : value.AsObject()) Check(member, *each, path + "." + name);
  }

  void CheckObject(const Json& value, const Json& schema, const std::string& path) {
    if (schema.Find("properties") == nullptr) return CheckMap(value, schema, path);
    for (const Json& name : schema.Find("required")->AsArray()) {
      EXPECT_NE(value.Find(name.AsString()), nullptr) << path << " lacks " << name.AsString();
    }
    for (const auto& [name, member] : value.AsObject()) {
      const Json* property = schema.Find("properties")->Find(name);
      if (property == nullptr) {
        ADD_FAILURE() << path << "." << name << " is not in the schema";
      } else {
        Check(member, *property, path + "." + name);
      }
    }
  }

  const Json& root_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_REPORTS_SCHEMA_VALIDATOR_H_
