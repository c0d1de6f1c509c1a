// Properties to JSON.
#include "harness/records/manifest/fields.h"
#include "harness/records/manifest/property.h"

namespace rharness {
namespace {

Json WithinToJson(const Within& within) {
  Json json = Json::MakeObject();
  if (!within.metrics.empty()) {
    Json metrics = Json::MakeObject();
    for (const auto& [name, margin] : within.metrics) metrics.AppendMember(name, margin);
    json.AppendMember("metrics", std::move(metrics));
  }
  if (within.tensors) json.AppendMember("tensors", *within.tensors);
  return json;
}

}  // namespace

Json ToJson(const Property& property) {
  Json json = Json::MakeObject({{"name", std::string(PropertyKindName(property.kind))}});
  const auto text = [&](const char* name, const std::string& value) {
    if (!value.empty()) json.AppendMember(name, value);
  };
  const auto words = [&](const char* name, const std::vector<std::string>& value) {
    if (!value.empty()) json.AppendMember(name, ToJson(value));
  };
  text("label", property.label);
  if (!property.at.empty()) {
    Json at = Json::MakeArray();
    for (const std::int64_t step : property.at) at.Append(step);
    json.AppendMember("at", std::move(at));
  }
  words("stop", property.stop);
  words("resume", property.resume);
  text("checkpoint", property.checkpoint);
  text("laid_at", property.laid_at);
  words("arguments", property.arguments);
  words("command", property.command);
  if (!property.environment.empty()) {
    Json environment = Json::MakeObject();
    for (const auto& [name, value] : property.environment) {
      environment.AppendMember(name, value ? Json(*value) : Json());
    }
    json.AppendMember("environment", std::move(environment));
  }
  words("again", property.again);
  if (!property.steps.empty()) {
    Json steps = Json::MakeArray();
    for (const ReshardStep& step : property.steps) {
      steps.Append(Json::MakeObject({{"command", ToJson(step.command)}, {"saved", step.saved}}));
    }
    json.AppendMember("steps", std::move(steps));
  }
  if (!property.within.empty()) json.AppendMember("within", WithinToJson(property.within));
  return json;
}

}  // namespace rharness
