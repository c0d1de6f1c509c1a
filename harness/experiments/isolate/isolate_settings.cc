// Settings of a search to JSON and back.
#include "harness/experiments/isolate/isolate_settings.h"

#include <algorithm>

#include "harness/base/json_reader.h"

namespace rharness {
namespace {

Json Texts(const auto& list) {
  Json array = Json::MakeArray();
  for (const std::string& text : list) array.Append(text);
  return array;
}

Json NumbersJson(const auto& numbers) {
  Json object = Json::MakeObject();
  for (const auto& [name, value] : numbers) object.Set(name, value);
  return object;
}

Json SignatureJson(const Signature& signature) {
  return Json::MakeObject({{"failure", signature.failure},
                           {"failure_text", signature.failure_text},
                           {"changed", Texts(signature.changed)},
                           {"moved", NumbersJson(signature.moved)},
                           {"curves", NumbersJson(signature.curves)},
                           {"differences", NumbersJson(signature.differences)},
                           {"not_judged", signature.not_judged}});
}

void ReadSignature(JsonReader& reader, Signature* out) {
  reader.Read("failure", &out->failure);
  reader.Read("failure_text", &out->failure_text);
  std::vector<std::string> changed;
  reader.ReadArray("changed", &changed);
  out->changed = {changed.begin(), changed.end()};
  const auto numbers = [&](const char* key, auto* into) {
    reader.ForEachMember(
        key, [&](const std::string& name, JsonReader& value) { value.Get(&(*into)[name]); });
  };
  numbers("moved", &out->moved);
  numbers("curves", &out->curves);
  numbers("differences", &out->differences);
  reader.Read("not_judged", &out->not_judged);
}

Json RulesJson(const IsolateSettings& settings) {
  const SearchRules& rules = settings.rules;
  return Json::MakeObject({{"confidence", rules.confidence},
                           {"width", rules.width},
                           {"budget", rules.budget},
                           {"alternatives", rules.alternatives},
                           {"end_reruns", settings.end_reruns},
                           {"bits", settings.bits}});
}

void ReadRules(JsonReader& reader, IsolateSettings* out) {
  reader.Read("confidence", &out->rules.confidence);
  reader.Read("width", &out->rules.width);
  reader.Read("budget", &out->rules.budget);
  reader.Read("alternatives", &out->rules.alternatives);
  reader.Read("end_reruns", &out->end_reruns);
  reader.Read("bits", &out->bits);
}

// A manifest within the settings; its errors name it.
void ReadManifest(JsonReader& reader, std::string_view file, Manifest* out) {
  auto manifest = ParseManifest(reader.json(), file);
  if (!manifest.ok()) return reader.Fail(manifest.error().message);
  *out = std::move(*manifest);
}

}  // namespace

Json ToJson(const IsolateSettings& settings) {
  Json held = Json::MakeArray();
  for (const HeldAxis& one : settings.held) {
    held.Append(Json::MakeObject({{"name", one.name}, {"why", one.why}, {"drifted", one.drifted}}));
  }
  Json family = Json::MakeArray();
  for (const Manifest& member : settings.family) family.Append(ToJson(member));
  Json json = Json::MakeObject({{"schema", "rharness.isolate/v1"},
                                {"drill", ToJson(settings.drill)},
                                {"recorded", ToJson(settings.recorded)},
                                {"family", std::move(family)},
                                {"axes", Texts(settings.axes)},
                                {"chain", Texts(settings.chain)},
                                {"held", std::move(held)},
                                {"sizes", NumbersJson(settings.sizes)},
                                {"notes", Texts(settings.notes)},
                                {"rules", RulesJson(settings)}});
  if (settings.drifted) json.Set("drifted", ToJson(*settings.drifted));
  if (settings.expected) json.Set("expected", SignatureJson(*settings.expected));
  return json;
}

Result<IsolateSettings> ParseIsolateSettings(const Json& json, std::string_view file) {
  IsolateSettings settings;
  JsonReader reader(json, std::string(file));
  reader.ReadSchema("rharness.isolate", 1);
  RETURN_IF_ERROR(reader.status());
  reader.ReadObject("recorded", true,
                    [&](JsonReader& one) { ReadManifest(one, file, &settings.recorded); });
  reader.ForEach(
      "family", [&](JsonReader& one) { ReadManifest(one, file, &settings.family.emplace_back()); });
  reader.ReadObject("drifted", false,
                    [&](JsonReader& one) { ReadManifest(one, file, &settings.drifted.emplace()); });
  reader.ReadObject("expected", false,
                    [&](JsonReader& one) { ReadSignature(one, &settings.expected.emplace()); });
  reader.ReadArray("axes", &settings.axes);
  reader.ReadArray("chain", &settings.chain);
  reader.ForEach("held", [&](JsonReader& one) {
    HeldAxis& axis = settings.held.emplace_back();
    one.Read("name", &axis.name);
    one.Read("why", &axis.why);
    one.Read("drifted", &axis.drifted);
  });
  reader.ForEachMember("sizes", [&](const std::string& sha256, JsonReader& one) {
    one.Get(&settings.sizes[sha256]);
  });
  reader.ReadArray("notes", &settings.notes);
  reader.ReadObject("rules", true, [&](JsonReader& one) { ReadRules(one, &settings); });
  RETURN_IF_ERROR(reader.status());
  const Json* drill = json.Find("drill");
  if (drill == nullptr) return InvalidInput("has no member drill", std::string(file));
  ASSIGN_OR_RETURN(settings.drill, ParseDrillSettings(*drill, file));
  return settings;
}

Result<std::vector<Axis>> AxesOf(const IsolateSettings& settings,
                                 const ParseImageText& parse_image) {
  std::vector<Axis> axes;
  if (settings.drifted) axes = AxesBetween(settings.recorded, *settings.drifted);
  for (const std::string& text : settings.axes) {
    ASSIGN_OR_RETURN(const GivenAxis given, ParseGivenAxis(text, parse_image));
    RETURN_IF_ERROR(AddGivenAxis(settings.recorded, given, &axes));
  }
  const auto commit = std::ranges::find(axes, true, &Axis::chain_may_be_found);
  if (commit != axes.end() && !settings.chain.empty()) SetChain(settings.chain, &*commit);
  for (Axis& axis : axes) {
    for (AxisValue& value : axis.values) {
      if (!value.data || value.data->size_bytes > 0) continue;
      const auto size = settings.sizes.find(value.data->sha256);
      if (size != settings.sizes.end()) value.data->size_bytes = size->second;
    }
    const auto held = std::ranges::find(settings.held, axis.name, &HeldAxis::name);
    if (held == settings.held.end()) continue;
    axis.cannot_be_set = held->why;
    axis.held_drifted = held->drifted;
  }
  return axes;
}

}  // namespace rharness
