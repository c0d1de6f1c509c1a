// Observations to JSON and back. What was not looked at is left out.
#include <string>
#include <utility>

#include "harness/records/manifest/fields.h"
#include "harness/records/manifest/observation.h"

namespace rharness {
namespace {

Json TextsToJson(const auto& texts) {
  Json array = Json::MakeArray();
  for (const std::string& text : texts) array.Append(text);
  return array;
}

Json LibraryToJson(const SeenLibrary& library) {
  Json json = ObjectOf({{"path", library.path}, {"size_bytes", library.size_bytes}});
  for (const auto& [name, value] : {std::pair("soname", &library.soname),
                                    {"build_id", &library.build_id},
                                    {"manager", &library.manager},
                                    {"package", &library.package},
                                    {"version", &library.version}}) {
    if (!value->empty()) json.AppendMember(name, *value);
  }
  return json;
}

Json InputToJson(const SeenInput& input) {
  Json json = ObjectOf({{"path", input.path}, {"size_bytes", input.size_bytes}});
  if (!input.sha256.empty()) json.AppendMember("sha256", input.sha256);
  return json;
}

void ReadTextElement(JsonReader& element, std::string* out) {
  element.Get(out);
  if (element.ok() && !IsName(*out)) {
    element.Fail("expected 1 to 256 bytes without control characters");
  }
}

void ReadLibrary(JsonReader& reader, SeenLibrary* out) {
  RefuseUnknownMembers(
      reader, {"path", "soname", "build_id", "size_bytes", "manager", "package", "version"});
  ReadAnyPath(reader, "path", Presence::kRequired, &out->path);
  ReadText(reader, "soname", &out->soname);
  ReadHex(reader, "build_id", &out->build_id);
  reader.ReadOptional("size_bytes", &out->size_bytes);
  ReadText(reader, "manager", &out->manager);
  ReadText(reader, "package", &out->package);
  ReadText(reader, "version", &out->version);
}

void ReadInput(JsonReader& reader, SeenInput* out) {
  RefuseUnknownMembers(reader, {"path", "sha256", "size_bytes"});
  ReadAnyPath(reader, "path", Presence::kRequired, &out->path);
  ReadHex(reader, "sha256", &out->sha256);
  reader.ReadOptional("size_bytes", &out->size_bytes);
}

void ReadSeen(JsonReader& reader, Observation* out) {
  reader.ForEachMember("seeds", [&](const std::string& name, JsonReader& values) {
    if (!IsName(name)) return values.Fail("expected a name");
    if (!values.json().IsArray()) return values.Fail("expected an array of texts");
    for (const Json& value : values.json().AsArray()) {
      if (value.kind() != Json::Kind::kString || !IsName(value.AsString())) {
        return values.Fail("expected texts of 1 to 256 bytes without control characters");
      }
      out->seeds[name].push_back(value.AsString());
    }
  });
  reader.ForEachMember("flags", [&](const std::string& name, JsonReader& value) {
    if (!IsName(name)) return value.Fail("expected a name");
    ReadTextElement(value, &out->flags[name]);
  });
  reader.ForEachMember("nondeterministic", [&](const std::string& name, JsonReader& value) {
    if (!IsName(name)) return value.Fail("expected a name");
    value.Get(&out->nondeterministic[name]);
  });
}

void ReadMembers(JsonReader& reader, Observation* out) {
  RefuseUnknownMembers(reader, {"means", "seeds", "flags", "nondeterministic", "variables_read",
                                "libraries", "inputs", "unseen"});
  const auto read_texts = [&](std::string_view key, const auto& add) {
    reader.ForEach(key, [&](JsonReader& element) {
      std::string text;
      ReadTextElement(element, &text);
      add(std::move(text));
    });
  };
  read_texts("means", [&](std::string text) { out->means.insert(std::move(text)); });
  ReadSeen(reader, out);
  if (reader.Has("variables_read")) {
    out->variables_read.emplace();
    read_texts("variables_read",
               [&](std::string text) { out->variables_read->insert(std::move(text)); });
  }
  reader.ForEach("libraries",
                 [&](JsonReader& r) { ReadLibrary(r, &out->libraries.emplace_back()); });
  if (reader.Has("inputs")) {
    out->inputs.emplace();
    reader.ForEach("inputs", [&](JsonReader& r) { ReadInput(r, &out->inputs->emplace_back()); });
  }
  reader.ReadArray("unseen", &out->unseen);
}

}  // namespace

Json ToJson(const Observation& observation) {
  Json json = ObjectOf({{"means", TextsToJson(observation.means)}});
  const auto add_members = [&](const char* key, const auto& members, const auto& value_of) {
    if (members.empty()) return;
    Json object = Json::MakeObject();
    for (const auto& [name, value] : members) object.AppendMember(name, value_of(value));
    json.AppendMember(key, std::move(object));
  };
  add_members("seeds", observation.seeds, [](const auto& values) { return TextsToJson(values); });
  add_members("flags", observation.flags, [](const std::string& value) { return Json(value); });
  add_members("nondeterministic", observation.nondeterministic,
              [](int count) { return Json(count); });
  if (observation.variables_read) {
    json.AppendMember("variables_read", TextsToJson(*observation.variables_read));
  }
  const auto add_array = [&](const char* key, const auto& values, const auto& to_json) {
    Json array = Json::MakeArray();
    for (const auto& value : values) array.Append(to_json(value));
    json.AppendMember(key, std::move(array));
  };
  if (!observation.libraries.empty()) add_array("libraries", observation.libraries, LibraryToJson);
  if (observation.inputs) add_array("inputs", *observation.inputs, InputToJson);
  if (!observation.unseen.empty()) json.AppendMember("unseen", TextsToJson(observation.unseen));
  return json;
}

void ReadObservation(JsonReader& reader, std::optional<Observation>* out) {
  reader.ReadObject("observation", false,
                    [&](JsonReader& members) { ReadMembers(members, &out->emplace()); });
}

}  // namespace rharness
