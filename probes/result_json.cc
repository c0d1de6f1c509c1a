// A probe's result as the JSON object that a child hands to the runner.
#include <algorithm>

#include "harness/base/digest.h"
#include "harness/base/json_reader.h"
#include "probes/runner.h"

namespace rharness {
namespace {

// In full, for SumTree::Build: a canonical text would have to be parsed.
Json JsonOf(const SumTree& tree) {
  Json inner = Json::MakeArray();
  for (int node = tree.leaves(); node < tree.nodes(); ++node) {
    Json children = Json::MakeArray();
    for (const int child : tree.children(node)) children.Append(child);
    inner.Append(std::move(children));
  }
  return Json().Set("leaves", tree.leaves()).Set("inner", std::move(inner));
}

void ReadTree(JsonReader& reader, std::optional<SumTree>* out) {
  int leaves = 0;
  std::vector<std::vector<int>> inner;
  reader.Read("leaves", &leaves);
  reader.ForEach("inner", [&](JsonReader& node) {
    std::vector<int>& children = inner.emplace_back();
    if (!node.json().IsArray()) return node.Fail("expected an array of nodes");
    for (const Json& child : node.json().AsArray()) {
      const std::optional<std::int64_t> id = child.ToInt64();
      if (!id || *id < 0 || *id > INT32_MAX) return node.Fail("expected numbers of nodes");
      children.push_back(static_cast<int>(*id));
    }
  });
  if (!reader.ok()) return;
  Result<SumTree> tree = SumTree::Build(leaves, std::move(inner));
  if (!tree.ok()) return reader.Fail(tree.error().message);
  *out = std::move(*tree);
}

void ReadStatus(JsonReader& reader, ProbeStatus* out) {
  std::string name;
  reader.Read("status", &name);
  // A probe that looks at the clock itself says that its time was up.
  for (const ProbeStatus status :
       {ProbeStatus::kOk, ProbeStatus::kAbsent, ProbeStatus::kFailed, ProbeStatus::kTimedOut}) {
    if (ProbeStatusName(status) != name) continue;
    *out = status;
    return;
  }
  reader.Fail("expected \"ok\", \"absent\", \"failed\" or \"timed_out\"", "status");
}

template <class T>
Json ObjectOf(const std::map<std::string, T>& values) {
  Json json = Json::MakeObject();
  for (const auto& [name, value] : values) json.AppendMember(name, Json(value));
  return json;
}

Json ArrayOf(const std::vector<std::string>& values) {
  Json json = Json::MakeArray();
  for (const std::string& value : values) json.Append(value);
  return json;
}

}  // namespace

Json ToJson(const ProbeResult& result) {
  Json trees = Json::MakeObject();
  for (const auto& [name, tree] : result.trees) trees.AppendMember(name, JsonOf(tree));
  return Json()
      .Set("status", ProbeStatusName(result.status))
      .Set("message", result.message)
      .Set("parameters", result.parameters.IsNull() ? Json::MakeObject() : result.parameters)
      .Set("choices", ObjectOf(result.choices))
      .Set("trees", std::move(trees))
      .Set("tree_details", ObjectOf(result.tree_details))
      .Set("bits", ObjectOf(result.bits))
      .Set("unstable", ArrayOf(result.unstable))
      .Set("counts", ObjectOf(result.counts))
      .Set("libraries", ObjectOf(result.libraries))
      .Set("notes", ArrayOf(result.notes))
      .Set("folders", ArrayOf(result.folders));
}

Result<ProbeResult> ParseProbeResult(const Json& json) {
  ProbeResult result;
  JsonReader reader(json, "result");
  ReadStatus(reader, &result.status);
  reader.Read("message", &result.message);
  if (const Json* parameters = json.Find("parameters")) result.parameters = *parameters;
  reader.ForEachMember("choices", [&](const std::string& name, JsonReader& value) {
    result.choices.emplace(name, value.json());
  });
  reader.ForEachMember("trees", [&](const std::string& name, JsonReader& value) {
    std::optional<SumTree> tree;
    ReadTree(value, &tree);
    if (tree) result.trees.emplace(name, std::move(*tree));
  });
  reader.ForEachMember("tree_details", [&](const std::string& name, JsonReader& value) {
    if (!value.json().IsObject()) return value.Fail("expected an object");
    result.tree_details.emplace(name, value.json());
  });
  reader.ForEachMember("bits", [&](const std::string& name, JsonReader& value) {
    value.Get(&result.bits[name]);
    if (value.ok() && !IsSha256Hex(result.bits[name])) value.Fail("expected a SHA-256");
  });
  reader.ReadArray("unstable", &result.unstable);
  reader.ForEachMember("counts", [&](const std::string& name, JsonReader& value) {
    value.Get(&result.counts[name]);
  });
  reader.ForEachMember("libraries", [&](const std::string& name, JsonReader& value) {
    result.libraries.emplace(name, value.json());
  });
  reader.ReadArray("notes", &result.notes);
  reader.ReadArray("folders", &result.folders);
  RETURN_IF_ERROR(reader.status());
  return result;
}

}  // namespace rharness
