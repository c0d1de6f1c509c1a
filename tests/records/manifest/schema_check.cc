// Walking a record beside its schema.
#include "tests/records/manifest/schema_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

using Path = std::vector<std::string>;

const Json& Resolve(const Json& root, const Json& node) {
  const Json* reference = node.Find("$ref");
  if (reference == nullptr) return node;
  constexpr std::string_view kPrefix = "#/$defs/";
  const Json* target =
      root.Find("$defs")->Find(std::string_view(reference->AsString()).substr(kPrefix.size()));
  if (target == nullptr) Abort("dangling " + reference->AsString());
  return *target;
}

// Calls f(path, schema, value) for every object of `value`, with the schema that describes it.
using ObjectVisitor = std::function<void(const Path&, const Json& schema, const Json& value)>;

void VisitObjects(const Json& root, const Json& node, const Json& value, const Path& path,
                  const ObjectVisitor& f) {
  const Json& schema = Resolve(root, node);
  const auto below = [&](const std::string& step, const Json& part, const Json& part_schema) {
    Path next = path;
    next.push_back(step);
    VisitObjects(root, part_schema, part, next, f);
  };
  if (value.IsArray() && schema.Find("items") != nullptr) {
    std::size_t index = 0;
    for (const Json& element : value.AsArray()) {
      below(std::to_string(index++), element, *schema.Find("items"));
    }
  }
  const bool anything_goes = schema.AsObject().empty();
  if (!value.IsObject() || anything_goes) return;
  f(path, schema, value);
  for (const auto& [name, member] : value.AsObject()) {
    const Json* properties = schema.Find("properties");
    const Json* other = schema.Find("additionalProperties");
    if (properties != nullptr && properties->Find(name) != nullptr) {
      below(name, member, *properties->Find(name));
    } else if (other != nullptr && other->IsObject()) {
      below(name, member, *other);
    }
  }
}

std::string Spell(const Path& path) {
  std::string text = "$";
  for (const std::string& step : path) text += "." + step;
  return text;
}

// `value` without the member or element at path[depth...].
Json Without(const Json& value, const Path& path, std::size_t depth = 0) {
  const bool last = depth + 1 == path.size();
  if (value.IsArray()) {
    Json array = Json::MakeArray();
    for (std::size_t i = 0; i < value.AsArray().size(); ++i) {
      const bool here = std::to_string(i) == path[depth];
      array.Append(here ? Without(value.AsArray()[i], path, depth + 1) : value.AsArray()[i]);
    }
    return array;
  }
  Json object = Json::MakeObject();
  for (const auto& [name, member] : value.AsObject()) {
    if (name != path[depth]) {
      object.AppendMember(name, member);
    } else if (!last) {
      object.AppendMember(name, Without(member, path, depth + 1));
    }
  }
  return object;
}

bool Requires(const Json& schema, std::string_view name) {
  const Json* required = schema.Find("required");
  if (required == nullptr) return false;
  const auto& names = required->AsArray();
  return std::any_of(names.begin(), names.end(),
                     [&](const Json& entry) { return entry.AsString() == name; });
}

constexpr char kValidator[] = R"(
import json, sys
try:
    import jsonschema
except ImportError:
    sys.exit(77)
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
errors = list(jsonschema.Draft202012Validator(schema).iter_errors(json.load(open(sys.argv[2]))))
for error in errors:
    print(error.json_path, error.message)
sys.exit(1 if errors else 0)
)";

}  // namespace

Json LoadSchemaFile(const std::string& path) {
  auto schema = ReadJsonFile(path);
  if (!schema.ok()) Abort(schema.error().ToString());
  return std::move(*schema);
}

void ExpectDescribed(const Json& schema, const Json& record) {
  VisitObjects(
      schema, schema, record, {}, [](const Path& path, const Json& node, const Json& value) {
        const Json* properties = node.Find("properties");
        if (properties == nullptr) {
          EXPECT_NE(node.Find("additionalProperties"), nullptr)
              << Spell(path) << " is not described";
          return;
        }
        for (const auto& [name, member] : value.AsObject()) {
          EXPECT_NE(properties->Find(name), nullptr) << Spell(path) << "." << name << " is written";
        }
      });
}

void ExpectSameRequirements(const Json& schema, const Json& record,
                            const std::function<bool(const Json&)>& accepts, int least) {
  ASSERT_TRUE(accepts(record));
  int tried = 0;
  VisitObjects(schema, schema, record, {},
               [&](const Path& path, const Json& node, const Json& value) {
                 if (node.Find("properties") == nullptr) return;
                 for (const auto& [name, member] : value.AsObject()) {
                   Path at = path;
                   at.push_back(name);
                   EXPECT_EQ(accepts(Without(record, at)), !Requires(node, name)) << Spell(at);
                   ++tried;
                 }
               });
  EXPECT_GT(tried, least);
}

void CollectDescribed(const Json& node, std::set<std::string>* missing) {
  if (node.IsArray()) {
    for (const Json& element : node.AsArray()) CollectDescribed(element, missing);
  }
  if (!node.IsObject()) return;
  if (const Json* properties = node.Find("properties"); properties && properties->IsObject()) {
    for (const auto& [name, property] : properties->AsObject()) {
      if (!property.Find("description") && !property.Find("$ref")) missing->insert(name);
      CollectDescribed(property, missing);  // by itself: a member may be called "properties"
    }
  }
  for (const auto& [name, member] : node.AsObject()) {
    if (name != "properties") CollectDescribed(member, missing);
  }
}

// Exit code of the validator: 0 valid, 1 invalid, 77 no validator here.
int Validate(const std::string& schema, const Json& json) {
  const auto folder = ScopedTempDir::Make();
  const auto path = folder->path() / "record.json";
  if (!WriteJsonFile(path, json).ok()) return -1;
  ProcessSpec spec;
  spec.argv = {"python3", "-c", kValidator, schema, path.string()};
  spec.environment = PickEnvironment({"PATH", "HOME"});
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(60);
  const ProcessResult result = RunProcess(spec, limits);
  if (result.outcome.kind != OutcomeKind::kExited) return 77;
  if (result.outcome.exit_code == 1) std::fputs(result.stdout_text.c_str(), stderr);
  return result.outcome.exit_code;
}

int ValidateBy(const Json& schema, const Json& json) {
  const auto folder = ScopedTempDir::Make();
  const auto path = folder->path() / "of.schema.json";
  return WriteJsonFile(path, schema).ok() ? Validate(path.string(), json) : -1;
}

}  // namespace rharness
