// Observations to JSON and back.
#include <string>
#include <utility>

#include "harness/base/strict_member_reader.h"
#include "harness/records/manifest/observation.h"
#include "harness/records/manifest/observation_members.h"

namespace rharness {

void NamesByNameKind::Read(JsonReader& reader, std::string_view key, bool,
                           std::map<std::string, std::vector<std::string>>* out) {
  reader.ForEachMember(key, [&](const std::string& name, JsonReader& values) {
    if (!IsName(name)) return values.Fail("expected a name");
    if (!values.json().IsArray()) return values.Fail("expected an array of texts");
    for (const Json& value : values.json().AsArray()) {
      if (value.kind() != Json::Kind::kString || !IsName(value.AsString())) {
        return values.Fail("expected texts of 1 to 256 bytes without control characters");
      }
      (*out)[name].push_back(value.AsString());
    }
  });
}

void NamesByNameKind::Read(JsonReader& reader, std::string_view key, bool,
                           std::map<std::string, std::string>* out) {
  reader.ForEachMember(key, [&](const std::string& name, JsonReader& value) {
    if (!IsName(name)) return value.Fail("expected a name");
    std::string& text = (*out)[name];
    value.Get(&text);
    if (!IsName(text)) value.Fail("expected 1 to 256 bytes without control characters");
  });
}

Json NamesByNameKind::Write(const std::map<std::string, std::vector<std::string>>& lists) {
  Json json = Json::MakeObject();
  for (const auto& [name, values] : lists) json.AppendMember(name, PlainArray(values));
  return json;
}

Json ToJson(const Observation& observation) { return StrictWriter::Written(observation); }

void ReadObservation(JsonReader& reader, std::optional<Observation>* out) {
  StrictReader(&reader).MayObject("observation", *out);
}

}  // namespace rharness
